package virtualmachine

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
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
		Paused:      paused(p.vm),
		Finalizer:   hasFinalizer(p.vm),
		Owner:       ownerOf(p),
		Provider:    r.providerState(ctx, p),
		Idempotent:  p.provider.Capabilities.Has(provider.CapabilityIdempotency),
		FindsByKey:  p.provider.Capabilities.Has(provider.CapabilityList),
		Intent:      intentState(p),
		IDStored:    p.id() != "" && p.vm.Status.ID == p.id(),
		AnswerSpent: answerSpent(p),
	}
	s.Machine = r.machineState(ctx, p, s)
	if p.fault == nil && p.seen.stillRefused(p.vm.Generation, p.provider.Revision, r.Now()) && p.seen.refused.about(s.Machine) {
		p.fault = p.seen.refused.err
	}
	s.Fault = fault(p.fault)
	if s.Machine.Exists() {
		s.Size = r.size(p)
		s.Children = r.observeChildren(p)
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

// ownerOf compares the create record's UID with the object's: an object that was
// restored from a backup carries the record of the one that was backed up.
func ownerOf(p *pass) decide.Owner {
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
	case registry.Unprobed, registry.Idle:
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
	state := decide.ProviderReady
	if p.id() != "" || p.attempted() {
		state = bound(p.record, p.provider, p.vm.ProviderConfigName())
	}
	if state == decide.ProviderReady && !r.mayUse(p) {
		return decide.ProviderUnprobed
	}
	return state
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
		if provider.CauseOf(err) == provider.CauseCircuit {
			return decide.FaultHeldBack
		}
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

// paused reports whether a person wants the object to be left alone.
func paused(vm *computev1.VirtualMachine) bool {
	return vm.Annotations[computev1.PausedAnnotation] == "true"
}
