package orphan_test

import (
	"testing"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/orphan"
)

// Each of two clusters sees the other's VMs at the provider that they share.
func TestTwoClustersAtOneProviderLeaveEachOthersVMsAlone(t *testing.T) {
	t.Parallel()
	second, err := startCluster()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := second.stop(); err != nil {
			t.Error(err)
		}
	})
	shared := newProvider()
	here, there := newWorld(t, first, shared, deletes), newWorld(t, second, shared, deletes)
	for _, w := range []*world{here, there} {
		w.vm("kept")
	}
	left := here.vm("left", func(vm *computev1.VirtualMachine) { vm.Spec.DeletionPolicy = computev1.DeletionPolicyRetain })
	here.delete(left)
	here.ready()
	lost := here.orphan("lost")
	for range 2 {
		there.looks()
	}
	there.shows("")
	there.told(orphan.EventOrphanFound, 0)
	here.wantDeleted()

	here.looks()
	here.wantDeleted(lost)
	there.looks()
	there.shows("")
	if live := shared.Live(); len(live) != 3 {
		t.Errorf("the provider has %d VMs, want the two that are kept and the one that was left on purpose: %v", len(live), live)
	}
}
