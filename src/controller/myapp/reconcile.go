// Package myapp keeps a Deployment, and with ports a Service, as a MyApp declares
// them.
//
// One pass goes one way: observe, decide, act, and so on until there is nothing
// left to do now, then one write of the status.
package myapp

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	"github.com/example/vmoperator/src/controller/myapp/decide"
)

// DefaultConcurrency is how many MyApps are worked on at once.
const DefaultConcurrency = 5

// Options are what the manager's flags set.
type Options struct {
	// MaxConcurrentReconciles is the number of workers; 0 means DefaultConcurrency.
	MaxConcurrentReconciles int
	// Autoscalers: AppAutoscalers are worked on as well, so that the number of replicas
	// is theirs while there is one for the Deployment.
	Autoscalers bool
	// Retry is how often Pods that are not available are looked at; 0 means
	// DefaultRetry.
	Retry time.Duration
}

// DefaultRetry is how often Pods that are not available are looked at: the
// Deployment tells how many there are, but not what is wrong with them.
const DefaultRetry = 10 * time.Second

// Reconciler reconciles MyApps.
type Reconciler struct {
	Options

	// Client reads from the cache, which holds no managedFields, and writes.
	Client client.Client
	// APIReader reads past the cache: what is about to be written, for whose it is and
	// who has set what, and Pods of a Deployment that is not available.
	APIReader client.Reader
	// Recorder sends events.
	Recorder events.EventRecorder
	// Now is the time.
	Now func() time.Time

	memory memory
}

// maxSteps is more than any pass takes: one that takes more goes in circles.
const maxSteps = 8

// errLag means that the cache is behind, or that somebody else wrote in between.
var errLag = errors.New("the cache is behind")

// Reconcile brings one Deployment and one Service closer to what their MyApp
// declares.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	app := &exampleappsv1.MyApp{}
	if err := r.Client.Get(ctx, req.NamespacedName, app); err != nil {
		if apierrors.IsNotFound(err) {
			r.memory.forget(req.NamespacedName)
			return ctrl.Result{}, nil
		}
		return ctrl.Result{}, fmt.Errorf("reading the MyApp: %w", err)
	}
	p := &pass{app: app.DeepCopy(), now: r.Now(), seen: r.memory.of(app)}
	if p.seen.behind(app) {
		return afterLag(p.seen)
	}
	state, decision, err := r.run(ctx, p)
	if err == nil {
		err = r.finish(ctx, p, state, decision)
	}
	switch {
	case errors.Is(err, errLag), apierrors.IsConflict(err):
		return afterLag(p.seen)
	case err != nil:
		return ctrl.Result{}, err
	}
	p.seen.lags = 0
	return r.toResult(p, decision)
}

// run observes, decides and acts until there is nothing left to do now.
func (r *Reconciler) run(ctx context.Context, p *pass) (decide.State, decide.Decision, error) {
	for range maxSteps {
		state := r.observe(ctx, p)
		decision := decide.Decide(state)
		log.FromContext(ctx).V(1).Info("decided", "action", decision.Action.String(), "reason", decision.Reason)
		if decision.Ends() {
			return state, decision, nil
		}
		err := r.act(ctx, p, decision)
		if errors.Is(err, errLag) || apierrors.IsConflict(err) {
			return state, decision, err
		}
		if apierrors.IsInvalid(err) {
			p.seen.refused = &refusal{generation: p.app.Generation, message: err.Error()}
			continue
		}
		p.fault = err
	}
	return decide.State{}, decide.Decision{}, fmt.Errorf("no end after %d steps", maxSteps)
}

// finish stores the status, and tells what happened.
func (r *Reconciler) finish(ctx context.Context, p *pass, s decide.State, d decide.Decision) error {
	if s.Fault {
		p.seen.failures++
	} else {
		p.seen.failures = 0
	}
	before := p.app.Status.DeepCopy()
	if err := r.writeStatus(ctx, p, nextStatus(p, s, d)); err != nil {
		return err
	}
	r.tell(ctx, p, *before, p.app.Status)
	return nil
}
