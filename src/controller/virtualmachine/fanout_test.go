package virtualmachine_test

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/fake"
)

func TestAChangedProviderConfigReconcilesExactlyItsOwnVMs(t *testing.T) {
	w := newWorld(t, full())
	w.providerConfig("aws")
	w.providerConfig("azure")
	azure := fake.New(full())
	entry := slow(w)
	w.set("aws", entry)
	other := entry
	other.Client = azure
	w.set("azure", other)
	ref := func(name string) func(*computev1.VirtualMachine) {
		return func(vm *computev1.VirtualMachine) { vm.Spec.ProviderRef = &name }
	}
	for i := range 50 {
		w.vm(fmt.Sprintf("aws-%d", i), ref("aws"))
	}
	for i := range 100 {
		w.vm(fmt.Sprintf("azure-%d", i), ref("azure"))
	}
	for i := range 50 {
		w.awaitsEvent(fmt.Sprintf("aws-%d", i), "Applied")
	}
	for i := range 100 {
		w.awaitsEvent(fmt.Sprintf("azure-%d", i), "Applied")
	}
	w.quiet()
	w.writes.reset()
	w.provider.Reset()

	moved := entry
	moved.Client = &sameProvider{w.provider}
	w.set("aws", moved)
	w.eventually(func() string {
		if got := len(w.writes.passes()); got < 50 {
			return fmt.Sprintf("%d VMs reconciled", got)
		}
		return ""
	})
	w.quiet()
	for name, passes := range w.writes.passes() {
		if passes != 1 || name[:4] != "aws-" {
			t.Errorf("%s was reconciled %d times", name, passes)
		}
	}
	if got := len(w.writes.passes()); got != 50 {
		t.Errorf("%d VMs were reconciled, want 50", got)
	}
	if got := w.calls(provider.OperationGet); got > 0 {
		t.Errorf("%d VMs were looked at by themselves, though they are listed", got)
	}
}

// sameProvider is another client of the same provider.
type sameProvider struct{ *fake.Provider }

// quiet waits until a marker object, created last, has been through the queue, so
// that what was in it before has been as well.
func (w *world) quiet() {
	w.t.Helper()
	marker := w.vm("marker", func(vm *computev1.VirtualMachine) { vm.Spec.ProviderRef = new("nowhere") })
	w.awaits("marker", computev1.ConditionSynced, metav1.ConditionFalse, computev1.ReasonProviderConfigNotFound)
	w.must(w.client.Delete(w.t.Context(), marker))
	w.awaitsGone("marker")
	w.eventually(func() string {
		before := w.total()
		w.awaitsMarkerRound()
		if after := w.total(); after != before {
			return fmt.Sprintf("still at work: %d passes, then %d", before, after)
		}
		return ""
	})
	w.writes.mu.Lock()
	delete(w.writes.looks, "marker")
	delete(w.writes.looks, "round")
	w.writes.mu.Unlock()
}

// awaitsMarkerRound sends one object through the queue.
func (w *world) awaitsMarkerRound() {
	w.t.Helper()
	w.vm("round", func(vm *computev1.VirtualMachine) { vm.Spec.ProviderRef = new("nowhere") })
	w.awaits("round", computev1.ConditionSynced, metav1.ConditionFalse, computev1.ReasonProviderConfigNotFound)
	w.delete("round")
	w.awaitsGone("round")
}

// total is the number of passes so far, markers apart.
func (w *world) total() int {
	sum := 0
	for name, passes := range w.writes.passes() {
		if name != "marker" && name != "round" {
			sum += passes
		}
	}
	return sum
}
