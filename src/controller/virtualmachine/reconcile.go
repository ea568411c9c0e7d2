// Package virtualmachine makes a VM at a provider for every VirtualMachine, once,
// keeps it as declared, and deletes it with its object.
//
// One pass goes one way: observe, decide, act, and so on until there is nothing
// left to do now, then one write of the status.
package virtualmachine

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/google/uuid"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/happening"
	"github.com/example/vmoperator/src/controller/virtualmachine/childcache"
	"github.com/example/vmoperator/src/controller/virtualmachine/decide"
	"github.com/example/vmoperator/src/controller/virtualmachine/rollout"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/guard"
	"github.com/example/vmoperator/src/provider/registry"
	"github.com/example/vmoperator/src/provider/snapshot"
)

// Options are what the manager's flags set.
type Options struct {
	// MaxConcurrentReconciles is the number of workers.
	MaxConcurrentReconciles int
	// Namespaces are those to work in; none means all.
	Namespaces []string
	// LeaseDuration is how long a leader that was cut off may still believe that it
	// leads. Absence of a VM that was never seen does not count for so long.
	LeaseDuration time.Duration
	// VMAddressCIDRs are the addresses that may be published; empty means all.
	VMAddressCIDRs []netip.Prefix
	// TransitionPoll is how often a VM in transition is looked at. The zero value
	// means DefaultTransitionPoll.
	TransitionPoll time.Duration
}

// DefaultTransitionPoll is how often a VM in transition is looked at.
const DefaultTransitionPoll = 2 * time.Second

// Reconciler reconciles VirtualMachines.
type Reconciler struct {
	Options

	// Client reads from the cache and writes.
	Client client.Client
	// APIReader reads past the cache.
	APIReader client.Reader
	// Registry knows every ProviderConfig's provider.
	Registry *registry.Registry
	// Lists tell what becomes of the VMs of providers that offer lists. Without, every
	// VM is looked at by itself.
	Lists *snapshot.Observer
	// Bulkhead is the one of the Registry's clients; nil means that they have none.
	Bulkhead *guard.Bulkhead
	// Recorder sends events.
	Recorder events.EventRecorder
	// Now is the time.
	Now func() time.Time

	memory   *memory
	children *childcache.Cache
	rollouts *rollout.Rollouts
}

// maxSteps is more than any pass takes: one that takes more goes in circles.
const maxSteps = 12

// Reconcile brings one VirtualMachine closer to its spec.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	defer r.Bulkhead.Begin(req.String())()
	ctx = withCallInfo(ctx, req.NamespacedName)
	vm := &computev1.VirtualMachine{}
	if err := r.Client.Get(ctx, req.NamespacedName, vm); err != nil {
		if apierrors.IsNotFound(err) {
			return ctrl.Result{}, r.gone(ctx, req.NamespacedName)
		}
		return ctrl.Result{}, fmt.Errorf("reading the VirtualMachine: %w", err)
	}
	p := &pass{vm: vm.DeepCopy(), began: r.Now(), seen: r.memory.of(vm, r.Now())}
	if err := r.deleteAbandoned(ctx, req.NamespacedName); err != nil {
		return ctrl.Result{}, err
	}
	if p.seen.behind(vm) {
		log.FromContext(ctx).V(1).Info("the cache is behind our last write")
		return p.seen.lag.Again(), nil
	}
	if p.vm.Status.ID != "" {
		ctx = log.IntoContext(ctx, log.FromContext(ctx).WithValues("vmID", p.vm.Status.ID))
	}

	state, decision, err := r.run(ctx, p)
	if err == nil {
		r.rollouts.Report(p.providerKey(), p.provider.Revision, p.key(), verdict(p, state))
		err = r.finish(ctx, p, state, decision)
	}
	if err != nil {
		// What was done is not done again, so that this is the time to tell of it.
		happening.Tell(ctx, r.Recorder, p.vm, p.events)
	}
	if apierrors.IsConflict(err) || errors.Is(err, errStoodStill) {
		// Somebody else wrote in between, and the cache has yet to show it.
		return p.seen.lag.Again(), nil
	}
	p.seen.lag.Over()
	if err != nil {
		return ctrl.Result{}, err
	}
	r.await(p, decision)
	return r.toResult(p, decision)
}

// run observes, decides and acts until there is nothing left to do now. A VM that
// was made or found ends the pass at once: its id must be stored before anything
// else happens.
func (r *Reconciler) run(ctx context.Context, p *pass) (decide.State, decide.Decision, error) {
	for range maxSteps {
		state := r.observe(ctx, p)
		decision := decide.Decide(state)
		log.FromContext(ctx).V(1).Info("decided", "action", decision.Action.String(), "reason", decision.Reason)
		if decision.Ends() {
			return state, decision, nil
		}
		if changesVM(decision) && r.stoodStill(p) {
			return state, decision, errStoodStill
		}
		if err := r.act(ctx, p, state, decision); err != nil {
			return state, decision, err
		}
		if endsPass(p, decision) {
			return state, decision, nil
		}
	}
	return decide.State{}, decide.Decision{}, fmt.Errorf("no end after %d steps", maxSteps)
}

var errStoodStill = errors.New("the operator stood still during a pass")

// stoodStill reports whether so much time has passed since the object was read
// that another process may have taken over and finished with it: a change of its
// VM must not be made from what was read. A POST has a bound of its own.
func (r *Reconciler) stoodStill(p *pass) bool {
	return r.Now().Sub(p.began) >= r.LeaseDuration/2
}

func changesVM(d decide.Decision) bool {
	return d.Action == decide.Delete || d.Action == decide.Update
}

func endsPass(p *pass, d decide.Decision) bool {
	switch d.Action {
	case decide.Create:
		return p.machine.ID != ""
	case decide.Adopt, decide.RemoveFinalizer:
		return true
	default:
		return false
	}
}

// finish stores the status and tells what happened.
func (r *Reconciler) finish(ctx context.Context, p *pass, s decide.State, d decide.Decision) error {
	if p.vm.Status.ID == "" && p.id() != "" {
		ctx = log.IntoContext(ctx, log.FromContext(ctx).WithValues("vmID", p.id()))
	}
	before := p.vm.Status.DeepCopy()
	if d.Action != decide.RemoveFinalizer {
		next := nextStatus(p, s, d, r.VMAddressCIDRs, r.Now())
		switch err := r.writeStatus(ctx, p, next); {
		case errors.Is(err, errGone):
			return r.gone(ctx, p.key())
		case err != nil:
			return err
		}
	}
	r.tell(ctx, p, *before, p.vm.Status)
	return nil
}

// withCallInfo gives the pass a request ID that the provider and our logs share.
// A worker waits for all calls of a pass, so that they count.
func withCallInfo(ctx context.Context, key types.NamespacedName) context.Context {
	info := provider.CallInfo{Caller: key.String(), RequestID: uuid.NewString(), Worker: true}
	logger := log.FromContext(ctx).WithValues("requestID", info.RequestID)
	return log.IntoContext(provider.WithCallInfo(ctx, info), logger)
}
