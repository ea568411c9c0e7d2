// Package appautoscaler keeps a Deployment's number of replicas and its image as
// an AppAutoscaler declares them, and tells who changed them.
//
// One pass goes one way: observe, decide, act, and so on until there is nothing
// left to do now, then one write of the status.
package appautoscaler

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
	"github.com/example/vmoperator/src/controller/appautoscaler/decide"
)

// Defaults of Options.
const (
	DefaultConcurrency = 8
	DefaultRetry       = 10 * time.Second
	DefaultResync      = 5 * time.Minute
)

// Options are what the manager's flags set.
type Options struct {
	// MaxConcurrentReconciles is the number of workers; 0 means DefaultConcurrency.
	MaxConcurrentReconciles int
	// Retry is how often what converges or fails is looked at; 0 means DefaultRetry.
	Retry time.Duration
	// Resync is how often what is as declared is looked at, in case an event was
	// missed; 0 means DefaultResync.
	Resync time.Duration
}

// Reconciler reconciles AppAutoscalers.
type Reconciler struct {
	Options

	// Client reads from the cache, which holds no managedFields, and writes.
	Client client.Client
	// APIReader reads past the cache: a Deployment that drifted, for who did it, and
	// Pods of one that is not available.
	APIReader client.Reader
	// Recorder sends events.
	Recorder events.EventRecorder
	// Now is the time.
	Now func() time.Time

	memory *memory
}

// maxSteps is more than any pass takes: one that takes more goes in circles.
const maxSteps = 8

// errLag means that the cache is behind, or that somebody else wrote in between.
var errLag = errors.New("the cache is behind")

// Reconcile brings one Deployment closer to what its AppAutoscaler declares.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	autoscaler := &exampleappsv1.AppAutoscaler{}
	if err := r.Client.Get(ctx, req.NamespacedName, autoscaler); err != nil {
		if apierrors.IsNotFound(err) {
			r.memory.forget(req.NamespacedName)
			return ctrl.Result{}, nil
		}
		return ctrl.Result{}, fmt.Errorf("reading the AppAutoscaler: %w", err)
	}
	p := &pass{autoscaler: autoscaler.DeepCopy(), now: r.Now(), seen: r.memory.of(autoscaler, r.Now())}
	if p.seen.behind(autoscaler) {
		return afterLag(p.seen)
	}
	state, decision, err := r.run(ctx, p)
	if ctx.Err() != nil {
		// What failed now failed because the process ends.
		return ctrl.Result{}, ctx.Err()
	}
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
	before := p.autoscaler.Status.DeepCopy()
	if err := r.writeStatus(ctx, p, nextStatus(p, s, d)); err != nil {
		return err
	}
	r.tell(ctx, p, *before, p.autoscaler.Status)
	return nil
}
