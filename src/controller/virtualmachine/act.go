package virtualmachine

import (
	"context"
	"errors"
	"fmt"
	"time"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/happening"
	"github.com/example/vmoperator/src/controller/owner"
	"github.com/example/vmoperator/src/controller/virtualmachine/decide"
	"github.com/example/vmoperator/src/controller/virtualmachine/intent"
	"github.com/example/vmoperator/src/provider"
)

// deleteRepeat is how long an accepted deletion is not asked for again.
const deleteRepeat = 30 * time.Second

// afterStandstill is when a POST that came too late to be sent is tried again.
const afterStandstill = time.Second

// act has the one side effect that was decided on. It returns the apiserver's
// errors; a provider's is the pass's fault, which the next decision sees.
func (r *Reconciler) act(ctx context.Context, p *pass, s decide.State, d decide.Decision) error {
	switch d.Action {
	case decide.AddFinalizer:
		return r.writeMetadata(ctx, p, addFinalizer(r.recordFor(p)))
	case decide.RecordIntent:
		if r.mustWait(ctx, p, s) {
			return nil
		}
		return r.recordIntent(ctx, p, s)
	case decide.WithdrawIntent:
		p.fresh = false
		return r.writeMetadata(ctx, p, setRecord(p.record.Withdrawn()))
	case decide.TakeOver:
		return r.takeOver(ctx, p)
	case decide.MakeNew:
		return r.makeNew(ctx, p)
	case decide.ClearAnswer:
		return r.writeMetadata(ctx, p, clearAnswers)
	case decide.Create:
		r.create(ctx, p, s)
	case decide.Adopt:
		p.noticed(happening.Happening{Reason: "Adopted", Note: "VM " + p.machine.ID + " was found at the provider"})
	case decide.Update:
		r.update(ctx, p)
	case decide.ApplyChildren:
		return r.applyChildren(ctx, p)
	case decide.Delete:
		r.delete(ctx, p)
	case decide.RemoveFinalizer:
		return r.removeFinalizer(ctx, p, s, d)
	case decide.None, decide.Wait, decide.Stall:
		return fmt.Errorf("action %s has no effect to act on", d.Action)
	default:
		return fmt.Errorf("action %s is not known", d.Action)
	}
	return nil
}

// mustWait reports whether a POST would be held back, so that its intent would be
// stored in vain, and once more when its turn comes. Where a look comes first, it
// would use up the turn, and only the stored intent makes it needless.
func (r *Reconciler) mustWait(ctx context.Context, p *pass, s decide.State) bool {
	if s.Machine != decide.MachineNone && s.Machine != decide.MachineUnconfirmed {
		return false
	}
	err := provider.Reserve(ctx, p.provider.Client, provider.OperationCreate)
	if err != nil {
		r.failed(p, provider.OperationCreate, err)
	}
	return err != nil
}

// recordIntent stores what the next POST will send, before it is sent. The write
// is bound to the resourceVersion that this pass began with, so that a leader
// that was cut off cannot follow it with a POST of its own.
func (r *Reconciler) recordIntent(ctx context.Context, p *pass, s decide.State) error {
	record := r.nextRecord(p, s).Attempted(r.Now(), p.provider.Timeout)
	if err := r.writeMetadata(ctx, p, addFinalizer(record), clearSpentConfirmation(record)); err != nil {
		return err
	}
	p.fresh, p.before = true, s.Machine
	if s.Machine == decide.MachineGone {
		p.before = decide.MachineNone
	}
	return nil
}

// nextRecord is the record of the next POST: the stored one for a repeat, one
// under the next key where the last VM is gone or its request was refused.
func (r *Reconciler) nextRecord(p *pass, s decide.State) *intent.Record {
	switch {
	case p.record == nil:
		return r.recordFor(p)
	case s.Machine == decide.MachineGone:
		next := intent.New(p.vm, p.record.Ordinal()+1, identity(p.provider), r.request(p))
		next.Replaces = p.id()
		return next
	case s.Intent == decide.IntentWithdrawn:
		next := intent.New(p.vm, p.record.Ordinal(), identity(p.provider), r.request(p))
		if !sameRequest(next.Request, p.record.Request) {
			next = intent.New(p.vm, p.record.Ordinal()+1, identity(p.provider), next.Request)
		}
		next.Replaces = p.record.Replaces
		return next
	default:
		return p.record
	}
}

// recordFor is the object's record, or, where it was lost, a first one.
func (r *Reconciler) recordFor(p *pass) *intent.Record {
	if p.record != nil {
		return p.record
	}
	return intent.New(p.vm, 1, identity(p.provider), r.request(p))
}

// takeOver makes a restored object the owner of the VM of the earlier one.
func (r *Reconciler) takeOver(ctx context.Context, p *pass) error {
	taken := *p.record
	taken.UID = p.vm.UID
	err := r.writeMetadata(ctx, p, addFinalizer(&taken), clearAnnotation(computev1.RestoredAnnotation))
	if err == nil {
		p.happened(happening.Happening{Reason: "TakenOver", Note: "the VM of the earlier object of this name is this object's now"})
	}
	return err
}

// makeNew lets a restored object forget the VM of the earlier one.
func (r *Reconciler) makeNew(ctx context.Context, p *pass) error {
	next := intent.New(p.vm, 1, identity(p.provider), r.request(p))
	next.Replaces = p.vm.Status.ID
	if err := r.retain(ctx, p); err != nil {
		return err
	}
	err := r.writeMetadata(ctx, p, setRecord(next), clearAnnotation(computev1.RestoredAnnotation))
	if err == nil {
		p.happened(happening.Happening{Reason: "Retained", Note: "the VM of the earlier object of this name is left at the provider"})
	}
	return err
}

// create sends the POST. Once it is sent, only the answer matters: a SIGTERM does
// not cut it off.
func (r *Reconciler) create(ctx context.Context, p *pass, s decide.State) {
	machine, err := r.post(ctx, p)
	repeat := s.Machine == decide.MachineUnconfirmed
	switch class := provider.ClassOf(err); {
	case err == nil:
		p.machine = machine
		r.remember(p)
		p.seen.see(machine, p.provider.Revision, r.Now(), r.due(machine, p.provider), false)
		p.seen.refused = nil
		p.happened(happening.Happening{Reason: "Created", Note: fmt.Sprintf("VM %s created", machine.ID)})
	case class == provider.NotFound && repeat:
		p.seen.goneKey = p.record.Key
		p.before = decide.MachineGone
		p.fresh = false
	case class == provider.NotFound:
		// A key that was lost with its record can be one of a VM that is deleted, and so
		// can its successors. But a provider that says so of every key must not be asked
		// as fast as it answers.
		p.seen.goneKey = p.record.Key
		p.fault = contradiction(provider.OperationCreate, "the provider says of a new create key that its VM is deleted")
	case class == provider.Rejected && repeat:
		// The provider knows this key: what it refuses is not the request as such.
		p.fault = &provider.Error{Op: provider.OperationCreate, Class: provider.Conflict, Err: err}
	default:
		r.failed(p, provider.OperationCreate, err)
	}
}

// post sends the POST within the time that the record gives it. A process that
// stood still since it stored the record, for as long as another one may have
// taken over, sends nothing: by the time of a late POST its object may be gone.
func (r *Reconciler) post(ctx context.Context, p *pass) (provider.Machine, error) {
	before := p.record.SendBefore(r.LeaseDuration)
	if !r.Now().Before(before) {
		// No fault of the provider's: it is asked again soon, and its status is left.
		return provider.Machine{}, &provider.Error{
			Op: provider.OperationCreate, Class: provider.Throttled, Cause: provider.CauseTimeout, RetryAfter: afterStandstill,
			Err: errors.New("the operator stood still before it could send the request"),
		}
	}
	ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), before.Add(p.record.Timeout.Duration))
	defer cancel()
	return p.provider.Client.Create(ctx, p.record.Key, p.record.Request)
}

// update asks for the size that the spec declares.
func (r *Reconciler) update(ctx context.Context, p *pass) {
	size := sizeOf(p.vm.Spec)
	machine, err := p.provider.Client.Resize(context.WithoutCancel(ctx), p.machine.ID, size)
	p.seen.at = r.Now()
	if provider.ClassOf(err) == provider.NotFound {
		p.seen.doubt()
		p.fault = contradiction(provider.OperationResize, "the provider does not know the VM that it has just shown")
		return
	}
	if err != nil {
		if provider.ClassOf(err) == provider.Ambiguous {
			p.seen.doubt()
		}
		r.failed(p, provider.OperationResize, err)
		return
	}
	p.seen.see(machine, p.provider.Revision, r.Now(), r.due(machine, p.provider), true)
	p.seen.resized, p.seen.resizedAt = size, r.Now()
	p.happened(happening.Happening{Reason: "Resized", Note: fmt.Sprintf("cpu %d and memory %s asked for", size.CPU, size.Memory)})
}

// delete asks the provider to delete the VM. Neither success nor NotFound proves
// that it is gone: the next look does.
func (r *Reconciler) delete(ctx context.Context, p *pass) {
	err := p.provider.Client.Delete(context.WithoutCancel(ctx), p.machine.ID)
	class := provider.ClassOf(err)
	p.seen.at = r.Now()
	if err == nil || class == provider.NotFound || class == provider.Ambiguous {
		p.seen.doubt()
	}
	if err != nil && class != provider.NotFound {
		r.failed(p, provider.OperationDelete, err)
		return
	}
	p.seen.machine, p.seen.deletedAt = p.machine, r.Now()
	p.happened(happening.Happening{Reason: "Deleting", Note: "VM " + p.machine.ID + " is being deleted"})
}

// contradiction is an answer that does not fit what the provider said before. It
// is no proof of anything: what is true is looked for after a while.
func contradiction(op provider.Operation, text string) *provider.Error {
	return &provider.Error{Op: op, Class: provider.Transient, Cause: provider.CauseProtocol, Err: errors.New(text)}
}

// failed keeps the fault for the next decision, and a refusal for later passes.
func (r *Reconciler) failed(p *pass, op provider.Operation, err error) {
	p.fault = err
	class := provider.ClassOf(err)
	if class == provider.Throttled {
		// The call had no effect, and its turn must not be spent on another look.
		p.seen.keep(r.Now().Add(provider.RetryAfterOf(err) + r.TransitionPoll))
	}
	if class == provider.Rejected {
		p.seen.refused = &refusal{op: op, generation: p.vm.Generation, revision: p.provider.Revision, at: r.Now(), err: err}
	}
	if class == provider.Unauthorized {
		r.Registry.Doubt(p.providerKey())
	}
}

// request is the body of the object's POST.
func (r *Reconciler) request(p *pass) provider.CreateRequest {
	size := sizeOf(p.vm.Spec)
	request := provider.CreateRequest{Name: p.vm.Name, Image: p.vm.Spec.Image, CPU: size.CPU, Memory: size.Memory}
	if p.provider.Capabilities.Has(provider.CapabilityOwner) {
		request.Labels = owner.New(p.vm, p.provider.UID).Labels()
	}
	return request
}
