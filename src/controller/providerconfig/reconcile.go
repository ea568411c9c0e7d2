// Package providerconfig tries the providers that ProviderConfigs lead to, says
// in their statuses what came of it, and hands usable clients to the registry,
// the only place where the VirtualMachine controller looks.
//
// A pass reads, judges (package decide) and acts until a decision ends it. Then
// the registry is told, the status is patched once and only if it differs, and
// what happened is told in events, in that order: a VirtualMachine must not act
// on a provider that is about to be reported as held, and an event must not tell
// of what was not stored.
package providerconfig

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/orphan/finding"
	"github.com/example/vmoperator/src/controller/providerconfig/decide"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/guard"
	"github.com/example/vmoperator/src/provider/httpapi/dial"
	"github.com/example/vmoperator/src/provider/registry"
)

// maxSteps bounds the steps of a pass. Each step is taken at most once, so more
// are a mistake in decide, and must not become a busy loop.
const maxSteps = 12

// Options are the manager's settings.
type Options struct {
	// DefaultQPS and DefaultBurst bound the calls to a provider whose ProviderConfig
	// sets no rateLimit.
	DefaultQPS   float64
	DefaultBurst int
	// Dial says which addresses an endpoint may resolve to.
	Dial dial.Policy
	// UserAgent is how the operator introduces itself to providers.
	UserAgent string
	// Bulkhead divides the workers of the VirtualMachine controller among providers;
	// nil means that they are not divided.
	Bulkhead *guard.Bulkhead
	// MaxConcurrentReconciles is how many ProviderConfigs are probed at once; 0 means
	// DefaultConcurrency.
	MaxConcurrentReconciles int
}

// DefaultConcurrency is how many ProviderConfigs are probed at once. A worker
// waits for a provider's answer up to its timeout, so a few dead providers must
// not occupy all workers.
const DefaultConcurrency = 8

// Gauges shows ProviderConfigs in metrics.
type Gauges interface {
	// SetProviderConfig shows one ProviderConfig as it is now.
	SetProviderConfig(namespace, name string, ready bool, virtualMachines int)
	// SetCircuit shows whether calls for its VMs are held back because others failed.
	SetCircuit(namespace, name string, open bool)
	// SetOrphans shows how many of its VMs belong to no VirtualMachine.
	SetOrphans(namespace, name string, orphans, duplicates, retained int)
	// DeleteProviderConfig drops the series of one that is gone.
	DeleteProviderConfig(namespace, name string)
}

// Reconciler reconciles ProviderConfigs. All fields but Gauges and Findings are
// needed.
type Reconciler struct {
	// Client reads from the cache, which holds the Secrets with WatchedLabel only,
	// and writes.
	Client client.Client
	// APIReader reads past the cache: ProviderConfigs, so that a release is never
	// acted on twice; Secrets by name; and VirtualMachines where none may be missed.
	APIReader client.Reader
	// Registry is told what may be done with each provider.
	Registry *registry.Registry
	// Connect builds a client without calling the provider, and a function that
	// releases what the client holds: registry.Connect, but for tests.
	Connect func(registry.ConnectOptions) (provider.Client, func(), error)
	// Recorder records events.
	Recorder events.EventRecorder
	// Gauges may be nil.
	Gauges Gauges
	// Findings are what the orphan controller finds; nil if it does not run.
	Findings *finding.Board
	// Now tells the time.
	Now func() time.Time
	// Options are the manager's settings.
	Options Options

	memories memories
}

// Reconcile makes one pass over a ProviderConfig.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	config := &computev1.ProviderConfig{}
	if err := r.APIReader.Get(ctx, request.NamespacedName, config); err != nil {
		if apierrors.IsNotFound(err) {
			r.forget(request.NamespacedName)
			return ctrl.Result{}, nil
		}
		return ctrl.Result{}, fmt.Errorf("reading the ProviderConfig: %w", err)
	}
	p := r.begin(config)
	if err := r.observe(ctx, p); err != nil {
		return failed(err)
	}
	state, decision, err := r.steps(ctx, p)
	if err != nil {
		return failed(err)
	}
	if decision.Action == decide.RemoveFinalizer || decision.Action == decide.Gone {
		r.forget(request.NamespacedName)
		return ctrl.Result{}, nil
	}
	after := r.schedule(p, decision)
	next := nextStatus(p, state, decision)
	r.showOrphans(p, &next)
	r.publish(p, state, decision, next)
	if err := r.report(ctx, p, next); err != nil {
		return failed(err)
	}
	return ctrl.Result{RequeueAfter: after}, nil
}

// steps decides and acts until a decision ends the pass.
func (r *Reconciler) steps(ctx context.Context, p *pass) (decide.State, decide.Decision, error) {
	for range maxSteps {
		state := p.state()
		decision := decide.Decide(state)
		log.FromContext(ctx).V(1).Info("decided", "action", decision.Action.String(), "reason", decision.Reason)
		if err := r.act(ctx, p, state, decision); err != nil {
			return state, decision, fmt.Errorf("%s: %w", decision.Action, err)
		}
		if decision.Action.Ends() {
			return state, decision, nil
		}
	}
	return decide.State{}, decide.Decision{}, fmt.Errorf("no end after %d steps", maxSteps)
}
