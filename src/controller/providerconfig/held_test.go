package providerconfig_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/registry"
)

// release annotates the ProviderConfig aws, and waits until that was used.
func (r *rig) release(annotation, value string) {
	r.t.Helper()
	edit(r, r.read("aws"), annotate(annotation, value))
	r.eventually("the annotation", func() string {
		_, found := r.read("aws").Annotations[annotation]
		return unless(!found, "is still there")
	})
}

func TestAnotherIdentityIsHeldUntilReleasedOnce(t *testing.T) {
	t.Parallel()
	r := started(t)
	r.config("aws")
	r.vms("aws", 1)
	r.shown("aws", showsReady)

	r.provider(endpoint).SetCapabilities(provider.Capabilities{Identity: "red", Offered: []string{"idempotency", "list"}})
	r.poll()
	config := r.shown("aws", showsStalled(computev1.ReasonIdentityChanged))
	if config.Status.Identity != "blue" {
		t.Errorf("status.identity became %q without a release", config.Status.Identity)
	}
	entry := r.entered(registry.Held)
	if entry.Client == nil || entry.Reason != computev1.ReasonIdentityChanged || !slices.Equal(entry.Identities, []string{"blue"}) {
		t.Errorf("the registry's entry is %+v", entry)
	}
	if note := r.told(computev1.ReasonIdentityChanged); !strings.Contains(note, "compute.example.com/release=IdentityChanged") {
		t.Errorf("the event does not say how to release: %s", note)
	}

	r.release(computev1.ReleaseAnnotation, computev1.ReasonIdentityChanged)
	config = r.shown("aws", showsReady)
	if config.Status.Identity != "red" || !slices.Equal(config.Status.FormerIdentities, []string{"blue"}) {
		t.Errorf("identity %q, former %q", config.Status.Identity, config.Status.FormerIdentities)
	}
	if entry := r.entered(registry.Ready); !slices.Equal(entry.Identities, []string{"red", "blue"}) {
		t.Errorf("the registry knows %q", entry.Identities)
	}
	r.told("Released")

	r.provider(endpoint).SetCapabilities(provider.Capabilities{Identity: "green", Offered: []string{"idempotency", "list"}})
	r.poll()
	r.shown("aws", showsStalled(computev1.ReasonIdentityChanged))
}

func TestTheOldIdentityEndsTheHoldByItself(t *testing.T) {
	t.Parallel()
	r := started(t)
	r.config("aws")
	r.vms("aws", 1)
	r.shown("aws", showsReady)
	r.provider(endpoint).SetCapabilities(provider.Capabilities{})
	r.poll()
	r.shown("aws", showsStalled(computev1.ReasonIdentityChanged))
	r.provider(endpoint).SetCapabilities(provider.Capabilities{Identity: "blue", Offered: []string{"idempotency", "list"}})
	r.poll()
	r.shown("aws", showsReady)
	r.entered(registry.Ready)
}

func TestAnotherIdentityWithoutVMsIsAccepted(t *testing.T) {
	t.Parallel()
	r := started(t)
	r.config("aws")
	r.shown("aws", showsReady)
	r.provider(endpoint).SetCapabilities(provider.Capabilities{Identity: "red"})
	r.poll()
	if status := r.shown("aws", showsReady).Status; status.Identity != "red" || len(status.FormerIdentities) > 0 {
		t.Errorf("identity %q, former %q", status.Identity, status.FormerIdentities)
	}
}

func TestVMsFromBeforeAProviderToldItsIdentityStayItsOwn(t *testing.T) {
	t.Parallel()
	r := started(t)
	r.provider(endpoint).SetCapabilities(provider.Capabilities{})
	r.config("aws")
	r.vms("aws", 1)
	r.shown("aws", showsReady)
	r.provider(endpoint).SetCapabilities(provider.Capabilities{Identity: "blue"})
	r.poll()
	r.eventually("the identity", func() string { return unless(r.read("aws").Status.Identity == "blue", "is not accepted") })
	if entry := r.entered(registry.Ready); !slices.Equal(entry.Identities, []string{"blue", ""}) {
		t.Errorf("the registry knows %q", entry.Identities)
	}
}

func TestFewerCapabilitiesAreHeldUntilReleased(t *testing.T) {
	t.Parallel()
	r := started(t)
	r.config("aws")
	r.vms("aws", 1)
	r.shown("aws", showsReady)
	r.provider(endpoint).SetCapabilities(provider.Capabilities{Identity: "blue", Offered: []string{"list"}})
	r.poll()
	r.shown("aws", showsStalled(computev1.ReasonCapabilitiesShrunk))
	r.entered(registry.Held)
	if note := r.told(computev1.ReasonCapabilitiesShrunk); !strings.Contains(note, "idempotency") {
		t.Errorf("the event does not say what is lost: %s", note)
	}
	r.release(computev1.ReleaseAnnotation, computev1.ReasonCapabilitiesShrunk)
	if config := r.shown("aws", showsReady); !slices.Equal(config.Status.Capabilities, []string{"list"}) {
		t.Errorf("capabilities %q", config.Status.Capabilities)
	}
	r.entered(registry.Ready)
}

func TestAReleaseThatReleasesNothingDoesNotLieInWait(t *testing.T) {
	t.Parallel()
	r := started(t)
	r.config("aws")
	r.vms("aws", 1)
	r.shown("aws", showsReady)
	r.release(computev1.ReleaseAnnotation, computev1.ReasonIdentityChanged)
	r.provider(endpoint).SetCapabilities(provider.Capabilities{Identity: "red", Offered: []string{"idempotency", "list"}})
	r.poll()
	r.shown("aws", showsStalled(computev1.ReasonIdentityChanged))
}

const elsewhere = "https://elsewhere.example.com"

func TestAProviderWithoutIdentityIsNotFollowedUnasked(t *testing.T) {
	t.Parallel()
	r := started(t)
	r.provider(endpoint).SetCapabilities(provider.Capabilities{})
	config := r.config("aws")
	r.vms("aws", 1)
	r.shown("aws", showsReady)

	edit(r, config, at(elsewhere))
	r.shown("aws", showsStalled(computev1.ReasonEndpointChanged))
	if entry := r.entered(registry.NotReady); entry.Reason != computev1.ReasonEndpointChanged {
		t.Errorf("the registry says %s", entry.Reason)
	}
	if calls := r.provider(elsewhere).Ledger(); len(calls) > 0 {
		t.Errorf("%d calls were made at the new endpoint", len(calls))
	}
	if note := r.told(computev1.ReasonEndpointChanged); !strings.Contains(note, "compute.example.com/allow-endpoint-change=true") {
		t.Errorf("the event does not say how to allow it: %s", note)
	}
	r.release(computev1.AllowEndpointChangeAnnotation, "true")
	if status := r.shown("aws", showsReady).Status; status.Endpoint != elsewhere {
		t.Errorf("status.endpoint is %s", status.Endpoint)
	}
}

func TestAnEndpointMayGoBack(t *testing.T) {
	t.Parallel()
	r := started(t)
	r.provider(endpoint).SetCapabilities(provider.Capabilities{})
	config := r.config("aws")
	r.vms("aws", 1)
	r.shown("aws", showsReady)
	edit(r, config, at(elsewhere))
	r.shown("aws", showsStalled(computev1.ReasonEndpointChanged))
	edit(r, config, at(endpoint))
	r.shown("aws", showsReady)
	r.entered(registry.Ready)
}

func TestAnEndpointWhoseVMsAreGoneIsTried(t *testing.T) {
	t.Parallel()
	r := started(t)
	r.provider(endpoint).SetCapabilities(provider.Capabilities{})
	config := r.config("aws")
	vm := r.vms("aws", 1)[0]
	r.shown("aws", showsReady)
	r.provider(elsewhere)
	edit(r, config, at(elsewhere))
	r.shown("aws", showsStalled(computev1.ReasonEndpointChanged))
	must(t, kube.Delete(t.Context(), vm))
	r.shown("aws", showsReady)
	if calls := len(r.provider(elsewhere).Ledger()); calls == 0 {
		t.Error("the new endpoint was never called")
	}
}

func TestTheSameIdentityIsFollowedToANewEndpoint(t *testing.T) {
	t.Parallel()
	r := started(t)
	config := r.config("aws")
	r.vms("aws", 1)
	r.shown("aws", showsReady)
	r.provider(elsewhere).SetCapabilities(provider.Capabilities{Identity: "blue", Offered: []string{"idempotency", "list"}})
	edit(r, config, at(elsewhere))
	r.eventually("the endpoint", func() string { return unless(r.read("aws").Status.Endpoint == elsewhere, "is the old one") })
	r.shown("aws", showsReady)
	r.entered(registry.Ready)
	r.eventually("the old client", func() string { return unless(r.openClients() == 1, "is not closed") })
}

// vanish makes VMs say that they vanished.
func (r *rig) vanish(vms ...*computev1.VirtualMachine) {
	r.t.Helper()
	r.synced(metav1.ConditionFalse, computev1.ReasonVanished, vms...)
}

// settle makes VMs say that they are there.
func (r *rig) settle(vms ...*computev1.VirtualMachine) {
	r.t.Helper()
	r.synced(metav1.ConditionTrue, computev1.ReasonSynced, vms...)
}

func (r *rig) synced(status metav1.ConditionStatus, reason string, vms ...*computev1.VirtualMachine) {
	r.t.Helper()
	for _, vm := range vms {
		vm.Status.ID = "id-of-" + vm.Name
		vm.Status.Conditions = []metav1.Condition{{
			Type: computev1.ConditionSynced, Status: status, Reason: reason, LastTransitionTime: metav1.NewTime(r.clock.Now()),
		}}
		must(r.t, kube.Status().Update(r.t.Context(), vm))
	}
}

func TestAMassDisappearanceIsLatchedUntilReleasedOnce(t *testing.T) {
	t.Parallel()
	r := started(t)
	r.config("aws")
	vms := r.vms("aws", 3)
	r.settle(vms...)
	r.shown("aws", showsReady)
	r.vanish(vms...)
	showsHeld := showsStalled(computev1.ReasonMassDisappearance)
	r.shown("aws", showsHeld)
	r.entered(registry.Held)
	if note := r.told(computev1.ReasonMassDisappearance); !strings.Contains(note, "3 of 3") {
		t.Errorf("the event does not say how many: %s", note)
	}

	// Long after the window, and in another process, it still stands.
	r.poll()
	r.shown("aws", showsHeld)
	r.restart()
	r.entered(registry.Held)
	r.shown("aws", showsHeld)

	// Whatever else happens to the provider meanwhile, and passes.
	r.want("another")
	r.poll()
	r.shown("aws", "Ready=False/Unauthorized Stalled/MassDisappearance")
	r.want("")
	r.poll()
	r.shown("aws", showsHeld)

	r.release(computev1.ReleaseAnnotation, computev1.ReasonMassDisappearance)
	config := r.shown("aws", showsReady)
	if config.Status.ReleasedAt == nil || config.Status.ReleasedAt.Unix() != r.clock.Now().Unix() {
		t.Errorf("status.releasedAt is %v", config.Status.ReleasedAt)
	}
	entry := r.entered(registry.Ready)
	if !entry.ReleasedAt.Equal(config.Status.ReleasedAt.Time) {
		t.Errorf("the registry says that it was released at %s", entry.ReleasedAt)
	}

	// Once: what vanishes later is another disappearance.
	r.clock.step(time.Hour)
	r.settle(vms...)
	r.vanish(vms...)
	r.shown("aws", showsHeld)
	if again := r.read("aws").Status.ReleasedAt; !again.Equal(config.Status.ReleasedAt) {
		t.Errorf("released again at %s, unasked", again)
	}
}

func TestACrashInAReleaseReleasesOnce(t *testing.T) {
	t.Parallel()
	r := started(t)
	r.config("aws")
	vms := r.vms("aws", 2)
	r.settle(vms...)
	r.shown("aws", showsReady)
	r.vanish(vms...)
	r.shown("aws", showsStalled(computev1.ReasonMassDisappearance))

	r.failing.Store(true)
	edit(r, r.read("aws"), annotate(computev1.ReleaseAnnotation, computev1.ReasonMassDisappearance))
	released := r.shown("aws", showsReady).Status.ReleasedAt
	r.stop()
	if _, found := r.read("aws").Annotations[computev1.ReleaseAnnotation]; !found {
		t.Fatal("the annotation went before the crash")
	}
	r.failing.Store(false)
	r.clock.step(time.Minute)
	r.start()
	r.eventually("the annotation", func() string {
		_, found := r.read("aws").Annotations[computev1.ReleaseAnnotation]
		return unless(!found, "is still there")
	})
	if again := r.shown("aws", showsReady).Status.ReleasedAt; !again.Equal(released) {
		t.Errorf("released at %s, and again at %s", released, again)
	}
}

func TestAFewVanishedVMsHoldNothing(t *testing.T) {
	t.Parallel()
	r := started(t)
	r.config("aws")
	vms := r.vms("aws", 3)
	r.shown("aws", showsReady)
	r.settle(vms...)
	before := r.passes.Load()
	r.vanish(vms[0])
	r.eventually("a pass", func() string { return unless(r.passes.Load() > before, "none was made") })
	r.poll()
	r.shown("aws", showsReady)
}
