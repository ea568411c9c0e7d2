package providerconfig_test

import (
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/fake"
	"github.com/example/vmoperator/src/provider/guard"
	"github.com/example/vmoperator/src/provider/registry"
)

// withCircuit is a rig whose clients have a circuit, in the rig's time; it returns the
// last one.
func withCircuit(t *testing.T) (*rig, *atomic.Pointer[guard.Client]) {
	t.Helper()
	r, last := newRig(t), &atomic.Pointer[guard.Client]{}
	r.connect = func(options registry.ConnectOptions) (provider.Client, func(), error) {
		inner, closeInner, err := r.connectToFake(options)
		client := guard.New(inner, guard.Options{Now: r.clock.Now, Circuit: options.Circuit})
		last.Store(client)
		return client, closeInner, err
	}
	r.start()
	return r, last
}

// syncedAs waits for the condition Synced.
func (r *rig) syncedAs(status metav1.ConditionStatus, reason string) *computev1.ProviderConfig {
	r.t.Helper()
	var config *computev1.ProviderConfig
	r.eventually("Synced", func() string {
		config = r.read("aws")
		synced := meta.FindStatusCondition(config.Status.Conditions, computev1.ConditionSynced)
		return unless(synced != nil && synced.Status == status && synced.Reason == reason, "it shows "+shows(config))
	})
	return config
}

// probed waits for a probe that a doubt leads to, soon.
func (r *rig) probed() {
	r.t.Helper()
	probes := func() int { return r.provider(endpoint).Counts()[provider.OperationCapabilities] }
	before := probes()
	r.clock.step(time.Second)
	r.reg.Doubt(r.key("aws"))
	r.eventually("a probe", func() string { return unless(probes() > before, "none was made") })
}

func TestAProviderThatAnswersOnlyTheProbeIsReadyAndSaysThatItsCallsFail(t *testing.T) {
	t.Parallel()
	r, client := withCircuit(t)
	r.vms("aws", 1)
	r.config("aws")
	r.shown("aws", showsReady)
	before := r.entered(registry.Ready)

	r.provider(endpoint).Inject(fake.Fault{Op: provider.OperationGet, Class: provider.Transient, Count: fake.Forever})
	for cause := provider.Cause(""); cause != provider.CauseCircuit; {
		_, err := client.Load().Get(t.Context(), "vm-1")
		cause = provider.CauseOf(err)
	}
	config := r.syncedAs(metav1.ConditionFalse, computev1.ReasonCircuitOpen)
	if !meta.IsStatusConditionTrue(config.Status.Conditions, computev1.ConditionReady) {
		t.Errorf("it shows %s", shows(config))
	}
	r.told(computev1.ReasonCircuitOpen)
	for range failuresAndMore {
		r.probed()
	}
	r.syncedAs(metav1.ConditionFalse, computev1.ReasonCircuitOpen)
	if entry := r.reg.Get(r.key("aws")); entry.State != registry.Ready || entry.Revision != before.Revision {
		t.Errorf("the registry's entry is %+v: VMs are woken in vain", entry)
	}

	r.provider(endpoint).ClearFaults()
	if _, err := client.Load().Get(t.Context(), "vm-1"); provider.ClassOf(err) != provider.NotFound {
		t.Errorf("the trial: %v", err)
	}
	r.syncedAs(metav1.ConditionTrue, computev1.ReasonSynced)
}

func TestACircuitThatOpensIsAReasonToProbe(t *testing.T) {
	t.Parallel()
	r, client := withCircuit(t)
	r.config("aws")
	r.shown("aws", showsReady)
	r.entered(registry.Idle)
	r.clock.step(time.Second)
	r.provider(endpoint).Inject(fake.Fault{Class: provider.Transient, Cause: provider.CauseUnreachable, Count: fake.Forever})
	for cause := provider.Cause(""); cause != provider.CauseCircuit; {
		_, err := client.Load().Get(t.Context(), "vm-1")
		cause = provider.CauseOf(err)
	}
	r.eventually("a probe", func() string {
		return unless(r.provider(endpoint).Counts()[provider.OperationCapabilities] >= 2, "none was made")
	})
}
