// Package appautoscaler keeps a Deployment's number of replicas and its image as
// an AppAutoscaler declares them, and tells who changed them.
//
// One pass goes one way: observe, decide, act, and so on until there is nothing
// left to do now, then one write of the status.
package appautoscaler

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	"github.com/example/vmoperator/src/controller/appautoscaler/decide"
	"github.com/example/vmoperator/src/controller/cachelag"
	"github.com/example/vmoperator/src/controller/happening"
	"github.com/example/vmoperator/src/controller/memory"
	"github.com/example/vmoperator/src/controller/workload"
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

	memory memory.Of[memories]
}

// Reconcile brings one Deployment closer to what its AppAutoscaler declares.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	autoscaler := &exampleappsv1.AppAutoscaler{}
	if err := r.Client.Get(ctx, req.NamespacedName, autoscaler); err != nil {
		if apierrors.IsNotFound(err) {
			r.memory.Forget(req.NamespacedName)
			return ctrl.Result{}, nil
		}
		return ctrl.Result{}, fmt.Errorf("reading the AppAutoscaler: %w", err)
	}
	p := newPass(autoscaler, r.Now(), r.recall(autoscaler))
	if p.seen.lag.Behind(autoscaler) {
		return p.seen.lag.Again(), nil
	}
	state, decision, err := r.run(ctx, p)
	switch {
	case ctx.Err() != nil:
		// What failed now failed because the process ends.
		err = ctx.Err()
	case err == nil:
		err = r.finish(ctx, p, state, decision)
	}
	if err != nil {
		// What was done is not done again, so that this is the time to tell of it.
		happening.Tell(ctx, r.Recorder, p.autoscaler, p.events)
	}
	switch {
	case cachelag.Is(err):
		return p.seen.lag.Again(), nil
	case err != nil:
		return ctrl.Result{}, err
	}
	p.seen.lag.Over()
	return r.toResult(p, decision)
}

// run observes, decides and acts until there is nothing left to do now.
func (r *Reconciler) run(ctx context.Context, p *pass) (decide.State, decide.Decision, error) {
	observe := func(ctx context.Context) decide.State { return r.observe(ctx, p) }
	act := func(ctx context.Context, d decide.Decision) error {
		err := r.act(ctx, p, d)
		switch {
		case cachelag.Is(err):
			return err
		case apierrors.IsInvalid(err):
			p.seen.refused = &refusal{generation: p.autoscaler.Generation, message: err.Error(), at: p.now}
		default:
			// The next look tells of what failed.
			p.fault = err
		}
		return nil
	}
	return workload.Run(ctx, observe, decide.Decide, act)
}

// finish stores the status, and tells what happened.
func (r *Reconciler) finish(ctx context.Context, p *pass, s decide.State, d decide.Decision) error {
	if s.Fault {
		p.seen.failures++
	} else {
		p.seen.failures = 0
	}
	before, changed := p.autoscaler, p.autoscaler.DeepCopy()
	changed.Status = nextStatus(p, s, d)
	stored, err := workload.WriteStatus(ctx, r.Client, before, changed)
	if err != nil {
		return err
	}
	if stored {
		p.autoscaler = changed
		p.seen.lag.Wrote(changed)
	}
	r.tell(ctx, p, before.Status, p.autoscaler.Status)
	return nil
}
