package providerconfig_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/provider/registry"
)

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
