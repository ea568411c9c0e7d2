// Package orphan looks for VMs at providers that were made for a VirtualMachine
// which does not exist, tells of them, and deletes them where a ProviderConfig
// wants that and nothing speaks against it.
//
// A VM counts only if its labels name the ProviderConfig by its UID: what another
// cluster, namespace or ProviderConfig has made at the same account is never
// looked at twice. The provider is listed before the cluster is read, and a list
// counts only when it is complete.
//
// What is found goes to a finding.Board; the ProviderConfig controller shows it.
package orphan

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/orphan/finding"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/registry"
	"github.com/example/vmoperator/src/provider/snapshot"
)

const (
	// DefaultInterval is how often a provider is listed.
	DefaultInterval = 10 * time.Minute
	// recheck is when to list again where that is sooner: a VM seen for the first time
	// without an object may be one whose deletion just ends, and a list that failed
	// may succeed.
	recheck = time.Minute
	// leastBreak is how long nobody must have looked, at least, before that is a
	// reason for doubt: longer than the operator takes to move or to be upgraded.
	leastBreak = 30 * time.Minute
	// breakIntervals is the same in intervals, for long ones.
	breakIntervals = 3
	// jitter is the part by which intervals are spread.
	jitter = 0.1
	// soonest is the next look after one that is due already.
	soonest = time.Millisecond
)

// Options are what the manager's flags set.
type Options struct {
	// Interval is how often a provider is listed; 0 means DefaultInterval.
	Interval time.Duration
	// MaxConcurrentReconciles is how many providers are listed at once.
	MaxConcurrentReconciles int
}

// Reconciler looks after the orphans of ProviderConfigs. All fields but Options
// are needed.
type Reconciler struct {
	Options

	// Client reads from the cache.
	Client client.Reader
	// APIReader reads past the cache.
	APIReader client.Reader
	// Registry knows every ProviderConfig's provider.
	Registry *registry.Registry
	// Lists are those that the VirtualMachines are observed by.
	Lists *snapshot.Observer
	// Findings is told what is found.
	Findings *finding.Board
	// Recorder sends events.
	Recorder events.EventRecorder
	// Now tells the time.
	Now func() time.Time

	memories memories
	queue    func(types.NamespacedName)
}

// pass is what one Reconcile knows.
type pass struct {
	config *computev1.ProviderConfig
	entry  registry.Entry
	memory *memory
	now    time.Time
}

func (p *pass) deletes() bool {
	orphans := p.config.Spec.Orphans
	return orphans != nil && orphans.Policy == computev1.OrphanPolicyDelete
}

// Reconcile looks after one ProviderConfig's orphans, when that is due.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	config := &computev1.ProviderConfig{}
	if err := r.Client.Get(ctx, request.NamespacedName, config); err != nil {
		if apierrors.IsNotFound(err) {
			r.memories.forget(request.NamespacedName)
			r.Findings.Forget(request.NamespacedName)
			return ctrl.Result{}, nil
		}
		return ctrl.Result{}, fmt.Errorf("reading the ProviderConfig: %w", err)
	}
	p := &pass{
		config: config, entry: r.Registry.Get(request.NamespacedName), memory: r.memories.of(config), now: r.wallClock(),
	}
	return ctrl.Result{RequeueAfter: r.run(withCallInfo(ctx, request), p)}, nil
}

// run returns when to go on. What goes wrong proves nothing, and is tried again
// with the next look.
func (r *Reconciler) run(ctx context.Context, p *pass) time.Duration {
	defer r.publish(p)
	if !r.usable(p) {
		p.memory.interrupt()
		r.pulse(p)
		return r.until(p, r.interval())
	}
	if cause := causeOf(p.config); cause != p.memory.cause {
		p.memory.cause, p.memory.due = cause, p.now
	}
	if !p.now.Before(p.memory.due) {
		r.pulse(p)
		if !r.look(ctx, p) {
			// The end of the list wakes us.
			return wait.Jitter(recheck, jitter)
		}
	}
	if turn := r.collect(ctx, p); turn > 0 {
		return turn
	}
	return max(p.memory.due.Sub(p.now), soonest)
}

// usable reports whether the provider can be asked, by this ProviderConfig and not
// by an earlier one of its name. Where it cannot tell owners, there is nothing to
// find.
func (r *Reconciler) usable(p *pass) bool {
	if !p.entry.Open() || p.entry.UID != p.config.UID {
		return false
	}
	capabilities := p.entry.Capabilities
	if capabilities.Has(provider.CapabilityList) && capabilities.Has(provider.CapabilityOwner) {
		return true
	}
	p.memory.nothing()
	return false
}

func (r *Reconciler) interval() time.Duration {
	if r.Interval > 0 {
		return r.Interval
	}
	return DefaultInterval
}

// until is how long to wait when there is nothing to list.
func (*Reconciler) until(p *pass, interval time.Duration) time.Duration {
	p.memory.due = p.now
	return wait.Jitter(interval, jitter)
}

// wallClock leaves out the monotonic clock, which stands still while a machine is
// suspended: a break must be seen as one.
func (r *Reconciler) wallClock() time.Time { return r.Now().Round(0) }

// withCallInfo names the calls. The name differs from that of the ProviderConfig's
// probes and of any VM's, for a rate limit keeps one turn for each.
func withCallInfo(ctx context.Context, request ctrl.Request) context.Context {
	info := provider.CallInfo{Caller: "orphans of " + request.String(), RequestID: uuid.NewString()}
	ctx = log.IntoContext(ctx, log.FromContext(ctx).WithValues("requestID", info.RequestID))
	return provider.WithCallInfo(ctx, info)
}
