// Package decide is the judgement of the orphan controller: which VMs at a
// provider are orphans, whether deleting them is in doubt, and what to do about
// one of them. It does no I/O and tells no time.
package decide

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"
)

// VM is a VM that carries the labels of the ProviderConfig in question.
type VM struct {
	// ID is the provider's name for it.
	ID string
	// UID is that of the VirtualMachine that it was made for.
	UID types.UID
}

// Object is a VirtualMachine that exists, as far as it says whose a VM is.
type Object struct {
	// UIDs are those that its VM may be labelled with: its own, and in an object that
	// was restored from a backup those of the earlier one.
	UIDs []types.UID
	// ID is its VM's; empty if nobody has stored it yet.
	ID string
}

// Claims reports whether a VM may be the object's. An id that the object names is
// its own whatever the labels say: a person can have a VM taken over.
func (o Object) Claims(vm VM) bool { return o.ID == vm.ID || slices.Contains(o.UIDs, vm.UID) }

// Kind says whose a VM is.
type Kind int

// The values of Kind.
const (
	// Owned: it is the VM of an object, or may be.
	Owned Kind = iota
	// Retained: its object was deleted and left it on purpose.
	Retained
	// Duplicate: its object exists and has another VM.
	Duplicate
	// Orphan: its object does not exist.
	Orphan
)

// Sort says of each VM what it is. The VMs must be listed before the objects are
// read: an object is stored before its VM is made, so that no VM of the list can
// lack an object that is yet to be seen.
func Sort(vms []VM, objects []Object, retained []types.UID) []Kind {
	byUID, ids := map[types.UID]int{}, map[string]bool{}
	for i, object := range objects {
		for _, uid := range object.UIDs {
			byUID[uid] = i
		}
		if object.ID != "" {
			ids[object.ID] = true
		}
	}
	// Of an object whose VM's id is not known the first VM counts as its own: there
	// is one at most, unless something went wrong.
	taken := map[int]bool{}
	kinds := make([]Kind, len(vms))
	for n, vm := range vms {
		i, exists := byUID[vm.UID]
		switch {
		case ids[vm.ID]:
			kinds[n] = Owned
		case exists && objects[i].ID == "" && !taken[i]:
			kinds[n], taken[i] = Owned, true
		case exists:
			kinds[n] = Duplicate
		case slices.Contains(retained, vm.UID):
			kinds[n] = Retained
		default:
			kinds[n] = Orphan
		}
	}
	return kinds
}
