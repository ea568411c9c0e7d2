package providerconfig_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/types"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/fake"
	"github.com/example/vmoperator/src/provider/registry"
)

func TestAProviderThatAnswersBecomesReady(t *testing.T) {
	t.Parallel()
	r := started(t)
	r.secret("key", " "+marker+"\n")
	r.want(marker)
	r.config("aws", withSecret("key"))

	config := r.shown("aws", showsReady)
	want := computev1.ProviderConfigStatus{
		ObservedGeneration: 1, Endpoint: endpoint, Identity: "blue", Capabilities: []string{"idempotency", "list"},
	}
	if diff := cmp.Diff(want, config.Status, cmpopts.IgnoreFields(computev1.ProviderConfigStatus{}, "Conditions")); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
	for _, condition := range config.Status.Conditions {
		if condition.ObservedGeneration != config.Generation {
			t.Errorf("condition %s tells of generation %d, not %d", condition.Type, condition.ObservedGeneration, config.Generation)
		}
	}
	entry := r.entered(registry.Idle)
	if entry.Client == nil || entry.UID != config.UID || !slices.Equal(entry.Identities, []string{"blue"}) || !entry.Capabilities.Has("list") {
		t.Errorf("the registry's entry is %+v", entry)
	}
	r.told("Ready")
}

func TestAStableProviderCostsNoWrites(t *testing.T) {
	t.Parallel()
	r := started(t)
	r.secret("key", marker)
	r.config("aws", withSecret("key"))
	r.vms("aws", 3)
	r.eventually("the count", func() string { return unless(r.read("aws").Status.VirtualMachines == 3, "is another") })
	r.poll()

	before, changed := r.writes.Load(), 0
	r.reg.Listen(registry.Changed, func(_ types.NamespacedName) { changed++ })
	for range 20 {
		r.poll()
	}
	r.told("Ready")
	r.stop()
	if writes := r.writes.Load() - before; writes != 0 || changed != 0 {
		t.Errorf("%d writes and %d changes of the registry over 20 probes, want none", writes, changed)
	}
	if events := r.events(); len(events) != 1 {
		t.Errorf("%d events, want the one that it became Ready", len(events))
	}
}

func TestAStalledProviderCostsNoWrites(t *testing.T) {
	t.Parallel()
	r := started(t)
	r.vms("aws", 1)
	r.config("aws")
	r.shown("aws", showsReady)
	r.provider(endpoint).SetCapabilities(provider.Capabilities{Identity: "red"})
	r.poll()
	r.shown("aws", showsStalled(computev1.ReasonIdentityChanged))
	r.poll()

	before := r.writes.Load()
	for range 5 {
		r.poll()
	}
	r.stop()
	if writes := r.writes.Load() - before; writes != 0 {
		t.Errorf("%d writes over 5 probes that found the same, want none", writes)
	}
}

func TestTwoFailuresChangeNothingAndAThirdShows(t *testing.T) {
	t.Parallel()
	r := started(t)
	r.config("aws")
	r.shown("aws", showsReady)
	r.entered(registry.Idle)
	r.provider(endpoint).Inject(fake.Fault{
		Op: provider.OperationCapabilities, Class: provider.Transient, Cause: provider.CauseUnreachable, Count: fake.Forever,
	})
	before := r.writes.Load()
	r.poll()
	r.poll()
	if writes := r.writes.Load() - before; writes != 0 {
		t.Errorf("%d writes after two failures, want none", writes)
	}
	if state := r.reg.Get(r.key("aws")).State; state != registry.Idle {
		t.Errorf("the registry's state is %d after two failures", state)
	}
	r.poll()
	r.shown("aws", showsRetried(computev1.ReasonUnreachable))
	entry := r.entered(registry.NotReady)
	if entry.Reason != computev1.ReasonUnreachable || !strings.Contains(entry.Message, endpoint) || entry.Client != nil {
		t.Errorf("the registry's entry is %+v", entry)
	}
	r.told(computev1.ReasonUnreachable)

	r.provider(endpoint).ClearFaults()
	r.poll()
	r.shown("aws", showsReady)
	r.entered(registry.Idle)
}

func TestAThrottledProbeChangesNothing(t *testing.T) {
	t.Parallel()
	r := started(t)
	r.config("aws")
	r.shown("aws", showsReady)
	r.provider(endpoint).Inject(fake.Fault{Op: provider.OperationCapabilities, Class: provider.Throttled, Count: fake.Forever})
	before := r.writes.Load()
	for range failuresAndMore {
		r.poll()
	}
	r.shown("aws", showsReady)
	if writes := r.writes.Load() - before; writes != 0 {
		t.Errorf("%d writes, want none", writes)
	}
	r.entered(registry.Idle)
}

// failuresAndMore is more than the failures that show.
const failuresAndMore = 5

func TestARestartKeepsWhatStandsWhileTheProviderIsAway(t *testing.T) {
	t.Parallel()
	r := started(t)
	r.config("aws")
	r.shown("aws", showsReady)
	r.provider(endpoint).Inject(fake.Fault{Op: provider.OperationCapabilities, Class: provider.Transient, Count: 1})
	r.restart()
	r.eventually("a probe", func() string {
		return unless(r.provider(endpoint).Counts()[provider.OperationCapabilities] >= 2, "none was made")
	})
	if got := shows(r.read("aws")); got != showsReady {
		t.Errorf("it shows %s", got)
	}
	r.poll()
	r.entered(registry.Idle)
}

func TestADoubtIsAProbeAndAThousandAreOne(t *testing.T) {
	t.Parallel()
	r := started(t)
	r.config("aws")
	r.shown("aws", showsReady)
	r.entered(registry.Idle)
	before := r.provider(endpoint).Counts()[provider.OperationCapabilities]
	r.clock.step(time.Second)
	for range 1000 {
		r.reg.Doubt(r.key("aws"))
	}
	r.eventually("a probe", func() string {
		return unless(r.provider(endpoint).Counts()[provider.OperationCapabilities] > before, "none was made")
	})
	r.stop()
	if probes := r.provider(endpoint).Counts()[provider.OperationCapabilities] - before; probes != 1 {
		t.Errorf("%d probes for 1000 doubts at once, want 1", probes)
	}
}
