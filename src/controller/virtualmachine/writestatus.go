package virtualmachine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/virtualmachine/intent"
)

// statusTimeout bounds the writing of a status once its pass may have been
// cancelled.
const statusTimeout = 20 * time.Second

// writeStatus stores the status if it differs from what is stored. A SIGTERM
// does not cut it off: it may hold the id of a VM that was just made. It is bound
// to the resourceVersion that the pass has read, so that a process that stood
// still does not undo what another has stored since. But a label edit must not
// lose an id: where nobody else has worked on the object, the write is bound to
// the version of the edit and repeated.
func (r *Reconciler) writeStatus(ctx context.Context, p *pass, next computev1.VirtualMachineStatus) error {
	if equality.Semantic.DeepEqual(p.vm.Status, next) {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), statusTimeout)
	defer cancel()
	base := p.vm
	backoff := wait.Backoff{Duration: 50 * time.Millisecond, Factor: 3, Jitter: 0.2, Steps: 5}
	superseded := false
	err := retry.OnError(backoff, func(err error) bool { return !superseded && mayPass(err) }, func() error {
		stored, err := r.patchStatus(ctx, base, next)
		if err == nil {
			p.vm = stored
			return nil
		}
		if !apierrors.IsConflict(err) {
			return err
		}
		live := &computev1.VirtualMachine{}
		if err := r.APIReader.Get(ctx, p.key(), live); err != nil {
			return err
		}
		if replaced(p.vm, live) {
			return errGone
		}
		superseded = !mayFollow(p.vm, live, next)
		base = live
		return err
	})
	if apierrors.IsNotFound(err) {
		return errGone
	}
	if err != nil {
		return fmt.Errorf("writing the status: %w", err)
	}
	p.seen.lag.Wrote(p.vm)
	return nil
}

// patchStatus writes the status onto one version of the object.
func (r *Reconciler) patchStatus(
	ctx context.Context, base *computev1.VirtualMachine, next computev1.VirtualMachineStatus,
) (*computev1.VirtualMachine, error) {
	changed := base.DeepCopy()
	changed.Status = next
	patch := client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})
	err := r.Client.Status().Patch(ctx, changed, patch, client.FieldOwner(computev1.FieldOwner))
	return changed, err
}

// replaced reports whether another object has the name, and not this one's VM.
func replaced(read, live *computev1.VirtualMachine) bool {
	mine, stored := intent.Of(read), intent.Of(live)
	return live.UID != read.UID && (mine == nil || stored == nil || mine.Key != stored.Key)
}

// mayFollow reports whether a status that was made from one version of an object
// may be written onto a later one. It may if nobody has worked on the object in
// between. The id of a VM that was just made must be stored in any case, unless
// another VM has taken its place.
func mayFollow(read, live *computev1.VirtualMachine, next computev1.VirtualMachineStatus) bool {
	if live.UID != read.UID {
		return false
	}
	if next.ID != "" && next.ID != read.Status.ID {
		mine, stored := intent.Of(read), intent.Of(live)
		// Without a record, a person has replaced the object as a whole.
		sameVM := stored == nil || mine != nil && mine.Key == stored.Key
		return sameVM && live.Status.ID == read.Status.ID
	}
	return live.Annotations[computev1.CreateIntentAnnotation] == read.Annotations[computev1.CreateIntentAnnotation] &&
		equality.Semantic.DeepEqual(live.Status, read.Status)
}

// mayPass reports whether repeating a write can help.
func mayPass(err error) bool {
	return !errors.Is(err, errGone) && !apierrors.IsNotFound(err) && !apierrors.IsInvalid(err) && !apierrors.IsForbidden(err)
}
