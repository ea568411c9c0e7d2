package virtualmachine

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/index"
	"github.com/example/vmoperator/src/controller/virtualmachine/decide"
	"github.com/example/vmoperator/src/provider"
)

// machineState looks for the VM, by a provider call only where what is remembered
// is not fresh enough.
func (r *Reconciler) machineState(ctx context.Context, p *pass, s decide.State) decide.Machine {
	p.machine = provider.Machine{}
	id := p.id()
	if machine, known := r.knownWithoutLooking(p, s, id); known {
		return machine
	}
	switch {
	case id != "":
		return r.lookByID(ctx, p, s, id)
	case p.seen.goneKey == p.record.Key:
		return decide.MachineGone
	case p.vm.Annotations[computev1.ConfirmNotCreatedAnnotation] == p.record.Key:
		return r.deniedByAnswer(p)
	case s.FindsByKey && (s.Lifecycle != decide.Live || !s.Idempotent):
		return r.lookByKey(ctx, p, s)
	case s.Idempotent:
		return decide.MachineUnconfirmed
	default:
		return r.lookByAnswer(ctx, p)
	}
}

// knownWithoutLooking is what can be said of the VM without asking the provider,
// be it because there is none or because this is not the time to ask.
func (r *Reconciler) knownWithoutLooking(p *pass, s decide.State, id string) (decide.Machine, bool) {
	switch {
	case p.fresh && id == "":
		// This pass has recorded an intent and sends, or has just sent, the POST.
		return p.before, true
	case id == "" && p.record == nil && wasAmbiguous(p.vm):
		return decide.MachineAmbiguous, true
	case id == "" && !p.attempted():
		return decide.MachineNone, true
	case s.Provider != decide.ProviderReady || s.Owner != decide.Own || s.Paused || s.Lifecycle == decide.Retaining:
		return decide.MachineUnknown, true
	case p.fault != nil && !r.fresh(p, id):
		// The call that failed in this pass already says that it is not the time.
		return decide.MachineUnknown, true
	default:
		return decide.MachineUnknown, false
	}
}

// wasAmbiguous reports whether the status still tells of an ambiguous creation:
// the record can be lost to a kubectl replace.
func wasAmbiguous(vm *computev1.VirtualMachine) bool {
	stalled := findCondition(vm.Status.Conditions, computev1.ConditionStalled)
	return stalled != nil && stalled.Reason == computev1.ReasonCreateAmbiguous
}

// lookByID reads the VM whose id is known.
func (r *Reconciler) lookByID(ctx context.Context, p *pass, s decide.State, id string) decide.Machine {
	r.takeList(p, id)
	// Before a deletion the VM must have been shown by a read, or its absence
	// afterwards would prove nothing for a while.
	if r.fresh(p, id) && (p.seen.shown || s.Lifecycle == decide.Live) {
		p.machine = p.seen.machine
		return r.classify(p)
	}
	machine, err := p.provider.Client.Get(ctx, id)
	if provider.ClassOf(err) == provider.NotFound {
		return r.vanished(ctx, p, s, r.absent(p))
	}
	return r.found(p, machine, err)
}

// lookByKey reads the VM that was made under the record's key. A provider without
// idempotency need not keep keys: that it finds no VM by one never proves that
// there is none.
func (r *Reconciler) lookByKey(ctx context.Context, p *pass, s decide.State) decide.Machine {
	machine, err := p.provider.Client.FindByKey(ctx, p.record.Key)
	if provider.ClassOf(err) != provider.NotFound {
		return r.found(p, machine, err)
	}
	absence := r.absent(p)
	if !s.Idempotent && (absence == decide.MachineGone || wasAmbiguous(p.vm)) {
		return r.lookByAnswer(ctx, p)
	}
	return absence
}

// lookByAnswer reads the VM that a person says is the one.
func (r *Reconciler) lookByAnswer(ctx context.Context, p *pass) decide.Machine {
	id := p.vm.Annotations[computev1.TakeOverIDAnnotation]
	if id == "" || r.claimedByAnother(ctx, p, id) {
		return decide.MachineAmbiguous
	}
	machine, err := p.provider.Client.Get(ctx, id)
	switch provider.ClassOf(err) {
	case provider.NotFound, provider.Rejected:
		return decide.MachineAmbiguous
	default:
		return r.found(p, machine, err)
	}
}

// deniedByAnswer takes a person's word that nothing was made, once a POST that is
// late cannot prove it wrong any more.
func (r *Reconciler) deniedByAnswer(p *pass) decide.Machine {
	if r.settled(p) {
		return decide.MachineGone
	}
	return decide.MachineMissing
}

// claimedByAnother reports whether another object of the same provider has this
// id; what cannot be listed counts as claimed.
func (r *Reconciler) claimedByAnother(ctx context.Context, p *pass, id string) bool {
	siblings, err := r.siblings(ctx, p)
	if err != nil {
		return true
	}
	for i := range siblings {
		if siblings[i].UID != p.vm.UID && siblings[i].Status.ID == id {
			return true
		}
	}
	return false
}

// found takes in the answer of a read that did not say NotFound.
func (r *Reconciler) found(p *pass, machine provider.Machine, err error) decide.Machine {
	if err != nil {
		p.fault = err
		p.seen.failures++
		if provider.ClassOf(err) == provider.Unauthorized {
			r.Registry.Doubt(p.providerKey())
		}
		return decide.MachineUnknown
	}
	p.machine = machine
	p.seen.see(machine, p.provider.Revision, r.Now(), r.due(machine, p.provider), true)
	return r.classify(p)
}

// absent takes in the answer of a read that did not show the VM. Absence counts
// at once only for a VM that a read has shown before; otherwise it takes two
// reads and the time in which a late POST could still arrive.
func (r *Reconciler) absent(p *pass) decide.Machine {
	p.seen.absences++
	p.seen.at = r.Now()
	p.seen.doubt()
	if p.seen.shown {
		return decide.MachineGone
	}
	if p.seen.absences >= 2 && r.settled(p) {
		return decide.MachineGone
	}
	return decide.MachineMissing
}

// settled reports whether the last attempt can have no effect any more, be it sent
// by a leader that was cut off.
func (r *Reconciler) settled(p *pass) bool {
	if p.record == nil {
		return true
	}
	return !r.Now().Before(p.record.SettledAt(r.LeaseDuration, p.provider.Timeout, p.provider.Capabilities.Settle))
}

// classify says what is going on with a VM that the provider shows.
func (r *Reconciler) classify(p *pass) decide.Machine {
	switch {
	case p.machine.Phase == provider.PhaseDeleting:
		return decide.MachineTerminating
	case r.Now().Before(p.seen.deletedAt.Add(deleteRepeat)):
		// Asked already: reads may be behind, and a repeat in a hurry helps nobody.
		return decide.MachineTerminating
	case p.machine.Phase == provider.PhaseProvisioning:
		return decide.MachineProvisioning
	default:
		return decide.MachineSettled
	}
}

// siblings are the objects, this one included, of the same ProviderConfig. They are
// the cache's own, only to be read: there may be thousands.
func (r *Reconciler) siblings(ctx context.Context, p *pass) ([]computev1.VirtualMachine, error) {
	var list computev1.VirtualMachineList
	err := r.Client.List(ctx, &list, client.InNamespace(p.vm.Namespace),
		client.MatchingFields{index.ProviderRef: p.vm.ProviderConfigName()}, client.UnsafeDisableDeepCopy)
	return list.Items, err
}
