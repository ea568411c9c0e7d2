package providerconfig

import (
	"math"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/example/vmoperator/src/controller/providerconfig/decide"
	"github.com/example/vmoperator/src/provider"
)

const (
	backoffFirst = time.Second
	backoffMost  = time.Minute
	lookFirst    = 10 * time.Second
	slow         = time.Minute
	// toldLeast is how long a throttled probe waits when nobody said.
	toldLeast = time.Second
	// conflictPause is long enough for whoever else writes the object to finish.
	conflictPause = 200 * time.Millisecond
	// doubtGap keeps a thousand VirtualMachines that doubt at once from making a
	// thousand probes.
	doubtGap = time.Second
	// jitter is the part by which waits are spread around their length.
	jitter = 0.1
)

// schedule returns when to make the next pass, and remembers when the next probe
// is due. A pass that was made for something else does not move it.
func (r *Reconciler) schedule(p *pass, decision decide.Decision) time.Duration {
	m := p.memory
	now := r.Now()
	if p.due {
		if decision.Pace == decide.Look {
			m.looks++
		} else {
			m.looks = 0
		}
		m.cause = p.cause()
		m.due = now.Add(pace(p, decision.Pace))
	}
	// At least a moment: zero would mean that no pass is needed.
	after := max(m.due.Sub(now), time.Millisecond)
	if m.doubted.Load() {
		after = min(after, doubtGap)
	}
	return after
}

func pace(p *pass, pace decide.Pace) time.Duration {
	switch pace {
	case decide.Poll:
		return spread(pollInterval(p.config))
	case decide.Backoff:
		return spread(grown(backoffFirst, p.memory.failures))
	case decide.Look:
		return spread(grown(lookFirst, p.memory.looks))
	case decide.Told:
		// Never before the time that was told.
		return wait.Jitter(max(provider.RetryAfterOf(p.memory.failed), toldLeast), jitter)
	case decide.Slow, decide.Never:
	}
	return spread(slow)
}

// grown doubles first with every time after the first, up to backoffMost.
func grown(first time.Duration, times int) time.Duration {
	factor := math.Exp2(float64(max(times, 1) - 1))
	return time.Duration(min(float64(first)*factor, float64(backoffMost)))
}

// spread keeps objects that were created together from being probed together.
func spread(length time.Duration) time.Duration {
	least := time.Duration(float64(length) * (1 - jitter))
	return wait.Jitter(least, 2*jitter/(1-jitter))
}

// failed is the result of a pass that could not be finished.
func failed(err error) (ctrl.Result, error) {
	if apierrors.IsConflict(err) {
		// Somebody else wrote the object meanwhile. That is no error of anyone.
		return ctrl.Result{RequeueAfter: conflictPause}, nil
	}
	return ctrl.Result{}, err
}
