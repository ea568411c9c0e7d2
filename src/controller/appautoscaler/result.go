package appautoscaler

import (
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/example/vmoperator/src/controller/appautoscaler/decide"
	"github.com/example/vmoperator/src/controller/contention"
)

const (
	// soonest is the shortest wait: zero would mean none.
	soonest = time.Millisecond
	// jitter spreads objects that were created together.
	jitter = 0.1
)

// toResult says when to look again: the only place that does, while the cache is
// not behind. No change of schedules is slept through.
func (r *Reconciler) toResult(p *pass, d decide.Decision) (ctrl.Result, error) {
	return ctrl.Result{RequeueAfter: p.plan.until(r.wait(p, d), r.Now())}, nil
}

// wait is what a decision asks for.
func (r *Reconciler) wait(p *pass, d decide.Decision) time.Duration {
	switch d.After {
	case decide.Soon:
		return spread(r.Retry)
	case decide.Turn:
		return p.turn()
	case decide.Long:
		return spread(r.Resync)
	default:
		return 0
	}
}

// spread is up to a tenth shorter: who was promised a look within an interval gets it.
func spread(interval time.Duration) time.Duration { return wait.Jitter(interval*9/10, jitter) }

// turn is how long to wait until the first field that is held may be put back.
func (p *pass) turn() time.Duration {
	turn := contention.Rest
	for _, field := range fields() {
		if held := p.seen.of(field).Wait(p.now); held > 0 {
			turn = min(turn, held)
		}
	}
	return max(turn, soonest)
}
