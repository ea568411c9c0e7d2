package virtualmachine_test

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/fake"
)

// whenMade does something to an object in the moment in which its VM was made, and
// nobody has been told yet.
func (w *world) whenMade(name string, do func(*computev1.VirtualMachine)) {
	w.t.Helper()
	w.provider.Inject(fake.Fault{Op: provider.OperationCreate, When: fake.After, Hook: func(fake.Entry) { do(w.get(name)) }})
}

// lose deletes an object as the apiserver does that has not noticed its finalizer.
func (w *world) lose(vm *computev1.VirtualMachine) {
	w.t.Helper()
	w.must(w.client.Delete(w.t.Context(), vm))
	before := vm.DeepCopy()
	vm.Finalizers = nil
	w.must(client.IgnoreNotFound(w.client.Patch(w.t.Context(), vm, client.MergeFrom(before))))
}

func (w *world) awaitsLive(want int) {
	w.t.Helper()
	w.eventually(func() string {
		if len(w.provider.Live()) == want && w.calls(provider.OperationDelete) > 0 {
			return ""
		}
		return "the provider still has other VMs than it should"
	})
}

func TestAVMWhoseObjectIsGoneByThenIsDeleted(t *testing.T) {
	for name, options := range map[string]fake.Options{"at a provider of everything": full(), "at a provider of the minimum": minimal()} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, options)
			w.whenMade("web", w.lose)
			w.vm("web")
			w.awaitsGone("web")
			w.awaitsLive(0)
		})
	}
}

func TestAVMWhoseObjectIsGoneIsDeletedThoughTheProviderFailsAtFirst(t *testing.T) {
	w := newWorld(t, full())
	w.provider.Inject(fake.Fault{Op: provider.OperationDelete, Class: provider.Transient, Count: 2})
	w.whenMade("web", w.lose)
	w.vm("web")
	w.awaitsGone("web")
	w.awaitsLive(0)
}

func TestAnObjectOfTheSameNameGetsAVMOfItsOwnAndTheOtherIsDeleted(t *testing.T) {
	w := newWorld(t, full())
	replaced := make(chan struct{})
	w.whenMade("web", func(vm *computev1.VirtualMachine) {
		defer close(replaced)
		w.lose(vm)
		w.vm("web")
	})
	w.vm("web")
	<-replaced
	w.awaitsRunning("web")
	w.awaitsLive(1)
	if live := w.provider.Live(); live[0].ID != w.get("web").Status.ID {
		t.Errorf("the object has VM %s, the provider %s", w.get("web").Status.ID, live[0].ID)
	}
}

func TestAVMWhoseObjectGoesAMomentAfterItsIDWasStoredIsDeleted(t *testing.T) {
	w := newWorld(t, full())
	w.vm("web")
	w.awaitsRunning("web")
	w.lose(w.get("web"))
	w.awaitsGone("web")
	w.awaitsLive(0)
}

func TestAVMThatIsToBeRetainedByNowIsLeftWhenItsObjectGoes(t *testing.T) {
	w := newWorld(t, full())
	w.vm("web")
	w.awaitsRunning("web")
	w.edit("web", func(vm *computev1.VirtualMachine) { vm.Spec.DeletionPolicy = computev1.DeletionPolicyRetain })
	w.looksAgain("web")
	w.lose(w.get("web"))
	w.awaitsGone("web")
	w.vm("other")
	w.awaitsRunning("other")
	w.looksAgain("other")
	w.live(2)
}

func TestAVMWhoseObjectIsGoneIsLeftWhereItIsToBeRetained(t *testing.T) {
	w := newWorld(t, full())
	w.whenMade("web", w.lose)
	w.vm("web", func(vm *computev1.VirtualMachine) { vm.Spec.DeletionPolicy = computev1.DeletionPolicyRetain })
	w.awaitsGone("web")
	w.vm("other")
	w.awaitsRunning("other")
	w.looksAgain("other")
	w.live(2)
}
