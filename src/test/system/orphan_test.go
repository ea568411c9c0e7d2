package system

import (
	"context"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/test/operator"
)

// Somebody removes a finalizer by hand. What is left at the provider is told, and
// deleted once the ProviderConfig wants that; the other VM stays.
func TestAVMThatWasLostIsFoundAndDeletedOnceThatIsWanted(t *testing.T) {
	t.Parallel()
	w := &world{t: t, namespace: namespace(t)}
	w.showLog()
	w.start(loopback, "--orphan-interval=1s")
	p := startProvider(t)
	w.working(p.URL())
	w.vm("kept")
	w.vm("lost")
	w.running("kept")
	lost := w.running("lost")
	w.change("lost", func(vm *computev1.VirtualMachine) {
		metav1.SetMetaDataAnnotation(&vm.ObjectMeta, computev1.PausedAnnotation, "true")
	})
	w.awaits("lost", condition{computev1.ConditionSynced, metav1.ConditionUnknown, computev1.ReasonPaused, nil})
	w.change("lost", func(vm *computev1.VirtualMachine) { vm.Finalizers = nil })
	w.deleted("lost")

	found := w.orphansFound("to be told", computev1.ReasonOrphansReported)
	if !strings.Contains(found.Message, lost.Status.ID) {
		t.Errorf("%q does not name %s", found.Message, lost.Status.ID)
	}
	w.changeProvider(func(config *computev1.ProviderConfig) {
		config.Spec.Orphans = &computev1.ProviderOrphans{
			Policy: computev1.OrphanPolicyDelete, MinimumAge: &metav1.Duration{Duration: beat},
		}
	})
	w.orphansFound("to be gone", "")
	w.wantMachines(p, "kept")
}

// change edits a VirtualMachine, as a user does.
func (w *world) change(name string, edit func(*computev1.VirtualMachine)) {
	w.t.Helper()
	change(w, &computev1.VirtualMachine{ObjectMeta: w.meta(name)}, edit)
}

// orphansFound waits until the condition has a reason; an empty one is none.
func (w *world) orphansFound(what, reason string) *metav1.Condition {
	w.t.Helper()
	config := &computev1.ProviderConfig{ObjectMeta: w.meta(computev1.DefaultProviderConfig)}
	var found *metav1.Condition
	operator.WaitFor(w.t, "orphans "+what, func(ctx context.Context) bool {
		if kube.Get(ctx, client.ObjectKeyFromObject(config), config) != nil {
			return false
		}
		found = meta.FindStatusCondition(config.Status.Conditions, computev1.ConditionOrphansFound)
		return found == nil && reason == "" || found != nil && found.Reason == reason
	})
	return found
}
