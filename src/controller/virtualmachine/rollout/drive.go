package rollout

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/example/vmoperator/src/metrics"
)

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// drive lets in until the context ends.
func (r *Rollouts) drive(ctx context.Context, into queue) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.wake:
		case <-timer.C:
		}
		if next := earlier(r.gather(ctx), r.step(ctx, into)); !next.IsZero() {
			timer.Reset(max(next.Sub(r.options.Now()), 0))
		}
	}
}

// gather reads the members of the rollouts that have just begun, and returns when
// to try it again.
func (r *Rollouts) gather(ctx context.Context) time.Time {
	var again time.Time
	for config, begun := range r.begun() {
		members, err := r.options.Members(ctx, config)
		if err != nil {
			again = r.options.Now().Add(gatherAgain)
			if ctx.Err() == nil {
				log.FromContext(ctx).Error(err, "reading the VirtualMachines of a ProviderConfig", "providerConfig", config)
			}
			continue
		}
		r.mu.Lock()
		begun.Gather(members, r.options.Now())
		r.mu.Unlock()
	}
	return again
}

// begun are the rollouts whose members are not known yet.
func (r *Rollouts) begun() map[types.NamespacedName]*running {
	r.mu.Lock()
	defer r.mu.Unlock()
	found := map[types.NamespacedName]*running{}
	for config, current := range r.active {
		if current.phase == gathering {
			found[config] = current
		}
	}
	return found
}

// step lets in whom it is time for, and returns when to call it again.
func (r *Rollouts) step(ctx context.Context, into queue) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	var next time.Time
	for config, current := range r.active {
		in := r.letIn(config, current)
		add(into, in.VMs, !in.Few && current.Waiting() > 0)
		if in.Few && current.Waiting() > 0 {
			log.FromContext(ctx).Info("a changed ProviderConfig is tried with a few VirtualMachines",
				"providerConfig", config, "few", len(in.VMs), "waiting", current.Waiting())
		}
		next = earlier(next, current.Next())
		r.show(config, current)
	}
	return next
}

func (r *Rollouts) letIn(config types.NamespacedName, current *running) Admission {
	now := r.options.Now()
	if current.AwaitsList() && r.options.Listed(config, current.entry.Revision) {
		current.Listed(now)
	}
	return current.Step(now)
}

// show shows how many are held back. Nothing is shown, or kept, of a
// ProviderConfig that is forgotten.
func (r *Rollouts) show(config types.NamespacedName, current *running) {
	switch {
	case current.Trying():
		metrics.SetHeldBack(config.Namespace, config.Name, current.Waiting())
	case current.entry.Revision > 0:
		metrics.SetHeldBack(config.Namespace, config.Name, 0)
	case current.Over():
		delete(r.active, config)
		metrics.DeleteHeldBack(config.Namespace, config.Name)
	}
}

// add enqueues as any other event does or, where many more are to follow, behind what
// happens to VirtualMachines meanwhile, be it another ProviderConfig's. Those that are
// few would only be made to wait, for as long as others keep coming.
func add(into queue, vms []types.NamespacedName, behind bool) {
	requests := make([]reconcile.Request, len(vms))
	for i, vm := range vms {
		requests[i].NamespacedName = vm
	}
	if ranked, can := into.(priorityqueue.PriorityQueue[reconcile.Request]); can && behind {
		ranked.AddWithOpts(priorityqueue.AddOpts{Priority: new(handler.LowPriority)}, requests...)
		return
	}
	for _, request := range requests {
		into.Add(request)
	}
}

// earlier returns the first of two times; the zero time is never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
