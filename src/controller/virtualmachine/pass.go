package virtualmachine

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/happening"
	"github.com/example/vmoperator/src/controller/virtualmachine/decide"
	"github.com/example/vmoperator/src/controller/virtualmachine/intent"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/registry"
)

// pass is what one Reconcile knows. It carries every object that a write
// returned, so that later steps see what earlier ones did.
type pass struct {
	// vm is a copy of the object, as the apiserver last returned it.
	vm *computev1.VirtualMachine
	// began is when it was read.
	began time.Time
	// record is the object's create record, if it has one.
	record *intent.Record
	// seen is what the process remembers of the VM.
	seen *sighting
	// provider is the registry's entry of the object's ProviderConfig.
	provider registry.Entry
	// machine is the VM as this pass last saw it; its ID is empty if it did not.
	machine provider.Machine
	// fresh is true once this pass has recorded an intent; before is what was known
	// of the VM until then.
	fresh  bool
	before decide.Machine
	// fault is the provider call that failed in this pass.
	fault error
	// children is how the owned objects compare with what they should be.
	children childPlan
	// recreateAt is when a vanished VM may be made again.
	recreateAt time.Time
	// events are of what was done in this pass, and notices of what was found.
	events, notices []happening.Happening
}

func (p *pass) key() types.NamespacedName {
	return types.NamespacedName{Namespace: p.vm.Namespace, Name: p.vm.Name}
}

func (p *pass) providerKey() types.NamespacedName {
	return types.NamespacedName{Namespace: p.vm.Namespace, Name: p.vm.ProviderConfigName()}
}

// id is the VM's id; empty if none is known. A status that still names the VM
// which this one replaces does not count.
func (p *pass) id() string {
	id := p.vm.Status.ID
	if id == "" && p.record != nil && p.seen.machine.ID != "" {
		id = p.seen.machine.ID
	}
	if p.record != nil && p.record.Replaces != "" && p.record.Replaces == id {
		return ""
	}
	return id
}

// attempted reports whether a POST may have made a VM whose id is not known.
func (p *pass) attempted() bool {
	return p.record != nil && p.record.AttemptedAt != nil
}
