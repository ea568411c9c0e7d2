package myapp

import (
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/example/vmoperator/src/controller/myapp/decide"
)

const (
	// long is how often an object is looked at that nothing has happened to.
	long = 5 * time.Minute
	// conflictLook is how often somebody else's object is looked for that is in the way:
	// the cache may not show it.
	conflictLook = 30 * time.Second
	// soonest is the shortest wait: zero would mean none.
	soonest = time.Millisecond
	// jitter spreads objects that were created together.
	jitter = 0.1
)

// toResult says when to look again: the only place that does, while the cache is not behind.
func (r *Reconciler) toResult(p *pass, d decide.Decision) (ctrl.Result, error) {
	switch d.After {
	case decide.Soon:
		return ctrl.Result{RequeueAfter: wait.Jitter(r.Retry, jitter)}, nil
	case decide.Backoff:
		return ctrl.Result{}, p.fault
	case decide.Turn:
		return ctrl.Result{RequeueAfter: max(p.seen.corrections.Wait(p.now), soonest)}, nil
	case decide.Long:
		if d.Action == decide.Stall {
			return ctrl.Result{RequeueAfter: wait.Jitter(conflictLook, jitter)}, nil
		}
		return ctrl.Result{RequeueAfter: wait.Jitter(long, jitter)}, nil
	default:
		return ctrl.Result{}, nil
	}
}
