package crash

import (
	"context"
	"fmt"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/fake"
)

// harmed is an error with what went wrong.
type harmed struct {
	harm Harm
	text string
}

func (h *harmed) Error() string { return fmt.Sprintf("%s: %s", h.harm, h.text) }

// auditor holds the provider's VMs against the objects, with uncached reads, while
// the call that changes something still waits for its answer.
type auditor struct {
	namespace string
	fake      *fake.Provider

	mu     sync.Mutex
	owners map[string]string // names of objects by their VM's id
	found  error
}

// watch audits at every entry of the ledger.
func (a *auditor) watch() {
	for _, when := range []fake.When{fake.Before, fake.After} {
		a.fake.Inject(fake.Fault{When: when, Count: fake.Forever, Hook: func(entry fake.Entry) {
			if when == fake.Before && entry.Op == provider.OperationDelete {
				a.auditDelete(entry.ID)
			}
			a.audit()
		}})
	}
}

// first is the first harm that was found; nil if there is none.
func (a *auditor) first() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.found
}

func (a *auditor) find(harm Harm, format string, args ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.found == nil {
		a.found = &harmed{harm, fmt.Sprintf(format, args...)}
	}
}

// ownerOf is the name of the object that a VM was made for, whether or not the VM
// is still there.
func (a *auditor) ownerOf(id string) string {
	for _, machine := range a.fake.Live() {
		a.learn(machine)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if owner, known := a.owners[id]; known {
		return owner
	}
	return "?"
}

func (a *auditor) learn(machine provider.Machine) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.owners[machine.ID] = machine.Name
}

// uidOf is the UID in a VM's create key.
func (a *auditor) uidOf(id string) string {
	uid, _, _ := strings.Cut(a.fake.KeyOf(id), "/")
	return uid
}

// audit looks for a second VM of an object, and for a VM that nothing keeps.
func (a *auditor) audit() {
	perObject := map[string][]string{}
	for _, machine := range a.fake.Live() {
		a.learn(machine)
		uid := a.uidOf(machine.ID)
		perObject[uid] = append(perObject[uid], machine.ID)
		if len(perObject[uid]) > 1 {
			a.find(Duplicated, "object %s has the VMs %v", machine.Name, perObject[uid])
		}
		if why := a.unkept(machine); why != "" {
			a.find(Leaked, "VM %s of %s: %s", machine.ID, machine.Name, why)
		}
	}
}

// unkept says why nothing keeps a VM; it is empty for one that is kept. The object
// is read between two looks at the VM: what goes in good order, first the VM and
// then the finalizer, must not look like a leak.
func (a *auditor) unkept(machine provider.Machine) string {
	vm, why := a.object(machine.Name)
	switch {
	case why != "":
	case string(vm.UID) != a.uidOf(machine.ID):
		why = "another object has its name"
	case !controllerutil.ContainsFinalizer(vm, computev1.VirtualMachineFinalizer):
		why = "its object has no finalizer"
	default:
		return ""
	}
	for _, still := range a.fake.Live() {
		if still.ID == machine.ID {
			return why
		}
	}
	return ""
}

// object reads past every cache; why says that there is none.
func (a *auditor) object(name string) (vm *computev1.VirtualMachine, why string) {
	vm = &computev1.VirtualMachine{}
	err := kube.Get(context.Background(), types.NamespacedName{Namespace: a.namespace, Name: name}, vm)
	switch {
	case apierrors.IsNotFound(err):
		return nil, "its object is gone"
	case err != nil:
		return nil, fmt.Sprintf("its object cannot be read: %v", err)
	}
	return vm, ""
}

func (a *auditor) auditDelete(id string) {
	for _, machine := range a.fake.Live() {
		if machine.ID != id {
			continue
		}
		if vm, why := a.object(machine.Name); why == "" && (vm.DeletionTimestamp.IsZero() || string(vm.UID) != a.uidOf(id)) {
			a.find(Strayed, "VM %s of %s is deleted, whose object is wanted", id, machine.Name)
		}
	}
}
