package virtualmachine

import (
	"context"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/index"
	"github.com/example/vmoperator/src/controller/virtualmachine/decide"
	"github.com/example/vmoperator/src/controller/virtualmachine/intent"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/registry"
)

// observe reads, and only reads. What cannot be read is Unknown.
func (r *Reconciler) observe(ctx context.Context, p *pass) decide.State {
	p.record = intent.Of(p.vm)
	p.provider = r.Registry.Get(p.providerKey())
	s := decide.State{
		Lifecycle:   lifecycle(p.vm),
		Paused:      p.vm.Annotations[computev1.PausedAnnotation] == "true",
		Finalizer:   hasFinalizer(p.vm),
		Owner:       owner(p),
		Provider:    r.providerState(ctx, p),
		Idempotent:  p.provider.Capabilities.Has(provider.CapabilityIdempotency),
		FindsByKey:  p.provider.Capabilities.Has(provider.CapabilityList),
		Intent:      intentState(p),
		IDStored:    p.id() != "" && p.vm.Status.ID == p.id(),
		AnswerSpent: answerSpent(p),
	}
	s.Machine = r.machineState(ctx, p, s)
	if p.fault == nil && p.seen.stillRefused(p.vm.Generation, p.provider.Revision, r.Now()) {
		p.fault = p.seen.refused.err
	}
	s.Fault = fault(p.fault)
	if s.Machine.Exists() {
		s.Size = r.size(p)
		s.Children = r.observeChildren(ctx, p)
	}
	return s
}

func lifecycle(vm *computev1.VirtualMachine) decide.Lifecycle {
	switch {
	case vm.DeletionTimestamp.IsZero():
		return decide.Live
	case vm.Spec.DeletionPolicy == computev1.DeletionPolicyRetain:
		return decide.Retaining
	default:
		return decide.Deleting
	}
}

// owner compares the create record's UID with the object's: an object that was
// restored from a backup carries the record of the one that was backed up.
func owner(p *pass) decide.Owner {
	if p.record == nil || p.record.Owned(p.vm) {
		return decide.Own
	}
	switch p.vm.Annotations[computev1.RestoredAnnotation] {
	case computev1.RestoredTakeOver:
		return decide.RestoredTakeOver
	case computev1.RestoredMakeNew:
		return decide.RestoredMakeNew
	default:
		return decide.Restored
	}
}

func intentState(p *pass) decide.Intent {
	switch {
	case p.record == nil:
		return decide.IntentNone
	case p.fresh:
		return decide.IntentFresh
	case p.record.AttemptedAt == nil:
		return decide.IntentWithdrawn
	default:
		return decide.IntentStored
	}
}

// answerSpent reports whether an annotation that answered a question is still
// there though the question is settled.
func answerSpent(p *pass) bool {
	annotations := p.vm.Annotations
	if annotations[computev1.TakeOverIDAnnotation] != "" && p.vm.Status.ID != "" {
		return true
	}
	key, answered := annotations[computev1.ConfirmNotCreatedAnnotation]
	return answered && p.record != nil && p.record.Key != key
}

// providerState says whether the provider can be used for this object: it must
// be the one that the VM was made at.
func (r *Reconciler) providerState(ctx context.Context, p *pass) decide.Provider {
	switch p.provider.State {
	case registry.Unprobed:
		err := r.Client.Get(ctx, p.providerKey(), &computev1.ProviderConfig{})
		if apierrors.IsNotFound(err) {
			return decide.ProviderMissing
		}
		return decide.ProviderUnprobed
	case registry.NotReady:
		return decide.ProviderNotReady
	case registry.Held:
		return decide.ProviderHeld
	case registry.Ready:
	}
	if p.id() == "" && !p.attempted() {
		return decide.ProviderReady
	}
	return bound(p.record, p.provider, p.vm.ProviderConfigName())
}

// bound compares the provider that a record was stored for with the present one.
func bound(record *intent.Record, entry registry.Entry, name string) decide.Provider {
	if record == nil {
		return decide.ProviderReady
	}
	if record.ProviderConfig != name {
		return decide.ProviderForeign
	}
	if record.Identity == "" {
		return decide.ProviderReady
	}
	if slices.Contains(entry.Identities, record.Identity) {
		return decide.ProviderReady
	}
	return decide.ProviderForeign
}

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
	case p.seen.goneKey == p.record.Key || p.vm.Annotations[computev1.ConfirmNotCreatedAnnotation] == p.record.Key:
		return decide.MachineGone
	case s.FindsByKey && (s.Lifecycle != decide.Live || !s.Idempotent):
		return r.lookByKey(ctx, p)
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
	case p.fault != nil && !p.seen.current(id, p.provider.Revision, r.Now()):
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
	// Before a deletion the VM must have been shown by a read, or its absence
	// afterwards would prove nothing for a while.
	if p.seen.current(id, p.provider.Revision, r.Now()) && (p.seen.shown || s.Lifecycle == decide.Live) {
		p.machine = p.seen.machine
		return r.classify(p)
	}
	machine, err := p.provider.Client.Get(ctx, id)
	if provider.ClassOf(err) == provider.NotFound {
		return r.vanished(ctx, p, s, r.absent(p))
	}
	return r.found(p, machine, err)
}

// lookByKey reads the VM that was made under the record's key.
func (r *Reconciler) lookByKey(ctx context.Context, p *pass) decide.Machine {
	machine, err := p.provider.Client.FindByKey(ctx, p.record.Key)
	if provider.ClassOf(err) == provider.NotFound {
		return r.absent(p)
	}
	return r.found(p, machine, err)
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
	p.seen.see(machine, p.provider.Revision, r.due(machine, p.provider), true)
	return r.classify(p)
}

// absent takes in the answer of a read that did not show the VM. Absence counts
// at once only for a VM that a read has shown before; otherwise it takes two
// reads and the time in which a late POST could still arrive.
func (r *Reconciler) absent(p *pass) decide.Machine {
	p.seen.absences++
	p.seen.doubt()
	if p.seen.shown {
		return decide.MachineGone
	}
	if p.record != nil && p.record.AttemptedAt != nil {
		p.settledAt = p.record.AttemptedAt.Add(r.settle(p.provider))
	}
	if p.seen.absences >= 2 && !r.Now().Before(p.settledAt) {
		return decide.MachineGone
	}
	return decide.MachineMissing
}

// settle is how long after the last attempt a POST may still have its effect: as
// long as the provider says, and no shorter than a leader that was cut off could
// be in sending it.
func (r *Reconciler) settle(entry registry.Entry) time.Duration {
	return max(entry.Capabilities.Settle, entry.Timeout+r.LeaseDuration)
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

// size compares the VM's size with the spec. A provider that does not tell a
// size is taken at its word when it accepted one.
func (r *Reconciler) size(p *pass) decide.Size {
	if sameSize(p.machine, p.vm.Spec) {
		return decide.SizeSame
	}
	wanted := sizeOf(p.vm.Spec)
	switch {
	case !p.provider.Capabilities.Has(provider.CapabilityResize):
		return decide.SizeFixed
	case p.seen.resized == wanted && r.Now().Before(p.seen.resizedAt.Add(p.provider.PollInterval)):
		return decide.SizeRequested
	default:
		return decide.SizeDiffers
	}
}

func sameSize(machine provider.Machine, spec computev1.VirtualMachineSpec) bool {
	if machine.CPU != 0 && machine.CPU != spec.CPU {
		return false
	}
	memory, err := resource.ParseQuantity(machine.Memory)
	return err != nil || spec.Memory == nil || memory.Cmp(*spec.Memory) == 0
}

func sizeOf(spec computev1.VirtualMachineSpec) provider.Size {
	size := provider.Size{CPU: spec.CPU}
	if spec.Memory != nil {
		size.Memory = spec.Memory.String()
	}
	return size
}

// fault is what the decision depends on of a failed call.
func fault(err error) decide.Fault {
	switch provider.ClassOf(err) {
	case provider.Transient:
		return decide.FaultTransient
	case provider.Throttled:
		return decide.FaultThrottled
	case provider.Unauthorized:
		return decide.FaultUnauthorized
	case provider.Ambiguous:
		return decide.FaultAmbiguous
	case provider.Rejected, provider.NotFound:
		return decide.FaultRejected
	case provider.Conflict:
		return decide.FaultConflict
	}
	return decide.FaultNone
}

// siblings are the objects, this one included, of the same ProviderConfig.
func (r *Reconciler) siblings(ctx context.Context, p *pass) ([]computev1.VirtualMachine, error) {
	var list computev1.VirtualMachineList
	err := r.Client.List(ctx, &list, client.InNamespace(p.vm.Namespace),
		client.MatchingFields{index.ProviderRef: p.vm.ProviderConfigName()})
	return list.Items, err
}
