package virtualmachine

import (
	"math/rand/v2"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/example/vmoperator/src/controller/virtualmachine/decide"
	"github.com/example/vmoperator/src/provider"
)

const (
	// longPoll is how often an object is looked at that only an event can help.
	longPoll = time.Hour
	// soonest is the next look after a step that ended its pass.
	soonest = time.Millisecond
)

// toResult says when to look again: the only place that does, while the cache is not behind.
func (r *Reconciler) toResult(p *pass, d decide.Decision) (ctrl.Result, error) {
	if d.Action == decide.Create || d.Action == decide.Adopt {
		return r.after(soonest)
	}
	switch d.After {
	case decide.Soon:
		if r.brisk(p) {
			// The lists tell, sooner than that.
			return r.after(jittered(p.provider.PollInterval))
		}
		return r.after(jittered(r.TransitionPoll))
	case decide.Poll:
		return r.after(r.untilPoll(p, d))
	case decide.Settle:
		return r.after(jittered(r.TransitionPoll))
	case decide.Recreate:
		return r.after(max(p.recreateAt.Sub(r.Now()), soonest))
	case decide.Turn:
		return r.after(max(provider.RetryAfterOf(p.fault), soonest))
	case decide.Long:
		return r.after(jittered(longPoll))
	case decide.Backoff:
		if asked := provider.RetryAfterOf(p.fault); asked > 0 {
			// Sooner, the pause would be all that is met.
			return r.after(asked)
		}
		if p.fault != nil {
			return ctrl.Result{}, p.fault
		}
		if p.children.err != nil {
			return ctrl.Result{}, p.children.err
		}
		return r.after(jittered(r.TransitionPoll))
	default:
		return ctrl.Result{}, nil
	}
}

// untilPoll is when to look at a VM again that should stay as it is: where lists tell
// of changes, in case that one was missed, else when what was seen stops being good
// enough. What is in doubt already is looked at as a VM in transition is.
func (r *Reconciler) untilPoll(p *pass, d decide.Decision) time.Duration {
	switch left := p.seen.due.Sub(r.Now()); {
	case r.listed(p.provider) && d.Action == decide.None:
		return jittered(longPoll)
	case r.listed(p.provider):
		return jittered(p.provider.PollInterval)
	case left > 0:
		return left
	default:
		return r.TransitionPoll
	}
}

func (*Reconciler) after(delay time.Duration) (ctrl.Result, error) {
	return ctrl.Result{RequeueAfter: delay}, nil
}

// jittered is up to a tenth shorter or longer, so that VMs that were made
// together are not looked at together for ever.
func jittered(interval time.Duration) time.Duration {
	spread := interval / 10
	if spread <= 0 {
		return interval
	}
	return interval - spread + rand.N(2*spread) //nolint:gosec // spreads load, guards nothing
}
