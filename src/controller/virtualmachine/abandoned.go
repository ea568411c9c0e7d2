package virtualmachine

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/log"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/virtualmachine/intent"
	"github.com/example/vmoperator/src/provider"
)

// deleteInFlight is how long after the first write to an object a DELETE may take
// effect that the apiserver began before: its longest time for a request.
//
// The apiserver lets an object go at once if it has no finalizer, and does not
// notice one that is added while it does. Whoever deletes an object in the moment in
// which it is first written to leaves nothing that tells of its VM.
const deleteInFlight = time.Minute

// errGone says that an object was let go, or another one has its name.
var errGone = errors.New("the object is gone")

// made is a VM that this process has made.
type made struct {
	id, key string
	// client leads to the provider, though the ProviderConfig may be gone as well.
	client provider.Client
	at     time.Time
	// settled is when NotFound proves that there is no such VM.
	settled time.Time
}

// remember keeps what is needed to delete the VM, should its object be gone.
func (r *Reconciler) remember(p *pass) {
	p.seen.made = nil
	if p.vm.Spec.DeletionPolicy != computev1.DeletionPolicyRetain {
		p.seen.made = &made{
			id: p.machine.ID, key: p.record.Key, client: p.provider.Client, at: r.Now(),
			settled: p.record.SettledAt(r.LeaseDuration, p.provider.Timeout, p.provider.Capabilities.Settle),
		}
	}
}

// gone cares for what is left of an object that cannot be found. Its finalizer
// keeps an object: one that went without our doing was deleted before it had it, or
// a person has taken it off, from an object that waited or was paused.
func (r *Reconciler) gone(ctx context.Context, key types.NamespacedName) error {
	r.rollouts.Gone(key)
	known := r.memory.known(key)
	r.awaitNoMore(key, known.sighting)
	if known.sighting == nil || !known.abandons(r.Now()) {
		r.memory.forget(key)
		return r.deleteAbandoned(ctx, key)
	}
	// An empty cache must not be taken for an empty cluster.
	live := &computev1.VirtualMachine{}
	err := r.APIReader.Get(ctx, key, live)
	switch {
	case apierrors.IsNotFound(err):
	case err != nil:
		return fmt.Errorf("reading an object that is gone: %w", err)
	case live.UID == known.uid || known.made.inherits(live):
		return nil
	}
	r.memory.forget(key)
	r.memory.leave(key, *known.made)
	return r.deleteAbandoned(ctx, key)
}

// abandons reports whether a VM is left for nobody if its object is gone.
func (s *sighting) abandons(now time.Time) bool {
	return s.made != nil && !s.released && !s.waits && now.Before(s.made.at.Add(deleteInFlight))
}

// inherits reports whether an object that has taken another's name has taken its VM
// as well.
func (m *made) inherits(vm *computev1.VirtualMachine) bool {
	record := intent.Of(vm)
	return record != nil && record.Key == m.key
}

// deleteAbandoned deletes what was left under a name. What fails is tried again.
func (r *Reconciler) deleteAbandoned(ctx context.Context, key types.NamespacedName) error {
	var failures []error
	for _, each := range r.memory.takeLeft(key) {
		err := each.client.Delete(context.WithoutCancel(ctx), each.id)
		switch {
		case err == nil:
			log.FromContext(ctx).Info("a VM is deleted whose object was deleted while it was made", "vmID", each.id)
		case provider.ClassOf(err) == provider.NotFound && !r.Now().Before(each.settled):
			// Somebody else was faster.
		default:
			r.memory.leave(key, each)
			failures = append(failures, fmt.Errorf("deleting a VM whose object is gone: %w", err))
		}
	}
	return errors.Join(failures...)
}
