// Package myapp keeps a Deployment, and with ports a Service, as a MyApp declares
// them.
//
// One pass goes one way: observe, decide, act, and so on until there is nothing
// left to do now, then one write of the status.
package myapp

import (
	"context"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	"github.com/example/vmoperator/src/controller/cachelag"
	"github.com/example/vmoperator/src/controller/happening"
	"github.com/example/vmoperator/src/controller/memory"
	"github.com/example/vmoperator/src/controller/myapp/decide"
	"github.com/example/vmoperator/src/controller/workload"
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

	memory memory.Of[memories]
}

// Reconcile brings one Deployment and one Service closer to what their MyApp
// declares.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	app := &exampleappsv1.MyApp{}
	if err := r.Client.Get(ctx, req.NamespacedName, app); err != nil {
		if apierrors.IsNotFound(err) {
			r.memory.Forget(req.NamespacedName)
			return ctrl.Result{}, nil
		}
		return ctrl.Result{}, fmt.Errorf("reading the MyApp: %w", err)
	}
	p := &pass{app: app.DeepCopy(), now: r.Now(), seen: r.memory.Recall(app, func() *memories { return &memories{} })}
	if p.seen.lag.Behind(app) {
		return p.seen.lag.Again(), nil
	}
	state, decision, err := r.run(ctx, p)
	if err == nil {
		err = r.finish(ctx, p, state, decision)
	}
	if err != nil {
		// What was done is not done again, so that this is the time to tell of it.
		happening.Tell(ctx, r.Recorder, p.app, p.events)
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
			p.seen.refused = &refusal{generation: p.app.Generation, message: err.Error()}
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
	before, changed := p.app, p.app.DeepCopy()
	changed.Status = nextStatus(p, s, d)
	stored, err := workload.WriteStatus(ctx, r.Client, before, changed)
	if err != nil {
		return err
	}
	if stored {
		p.app = changed
		p.seen.lag.Wrote(changed)
	}
	events := slices.Concat(p.events, workload.Turns(before.Status.Conditions, p.app.Status.Conditions))
	happening.Tell(ctx, r.Recorder, p.app, events)
	return nil
}
