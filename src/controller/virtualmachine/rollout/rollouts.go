package rollout

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/example/vmoperator/src/controller/disappearance"
	"github.com/example/vmoperator/src/provider/registry"
	"github.com/example/vmoperator/src/provider/snapshot"
)

// gatherAgain is when members that could not be read are read again.
const gatherAgain = time.Second

// Options are what Rollouts work with.
type Options struct {
	// Registry tells what changes.
	Registry *registry.Registry
	// Members reads the VirtualMachines of a ProviderConfig. It may be called for one
	// that does not exist any more.
	Members func(ctx context.Context, config types.NamespacedName) (Members, error)
	// Listed reports whether the VMs of a ProviderConfig were listed through the way of
	// this revision, be it that it failed: such a list shows them all for the price of
	// a few looks. Wake must be called when that becomes true. Nil means that VMs are
	// never listed.
	Listed func(config types.NamespacedName, revision int64) bool
	// Now is the time.
	Now func() time.Time
}

// Rollouts are the present rollouts of all ProviderConfigs. Call New.
type Rollouts struct {
	options Options
	wake    chan struct{}

	mu     sync.Mutex
	active map[types.NamespacedName]*running
}

// running is the rollout of what an entry means.
type running struct {
	*Rollout

	entry registry.Entry
}

// New returns Rollouts that begin once their Source is started.
func New(options Options) *Rollouts {
	return &Rollouts{options: options, wake: make(chan struct{}, 1), active: map[types.NamespacedName]*running{}}
}

// Source enqueues exactly the VirtualMachines of a ProviderConfig whose registry
// entry has changed, as they are let in.
func (r *Rollouts) Source() source.Source {
	return source.Func(func(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		r.options.Registry.Listen(registry.Changed, func(config types.NamespacedName) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.meet(config)
		})
		go r.drive(ctx, queue)
		return nil
	})
}

// Admits reports whether a VirtualMachine may go through the entry of its
// ProviderConfig now. One that may not is enqueued when it may.
func (r *Rollouts) Admits(config types.NamespacedName, entry registry.Entry, vm types.NamespacedName) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	current, known := r.active[config]
	if !known || current.entry.Revision < entry.Revision {
		// The pass was faster than the listener, or the entry is older than the source.
		current = r.meet(config)
	}
	// An entry that is replaced by now leads nowhere: the rollout of its successor
	// has, or will have, this one among its members.
	return current.entry.Revision == entry.Revision && current.Admits(vm)
}

// Report says how the pass of a VirtualMachine went that was made through the
// entry of its ProviderConfig with this revision.
func (r *Rollouts) Report(config types.NamespacedName, revision int64, vm types.NamespacedName, verdict Verdict) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if current, known := r.active[config]; known && !current.Over() {
		current.Report(vm, revision, verdict)
		if current.Lost() {
			r.options.Registry.Lose(config, revision)
		}
		r.Wake()
	}
}

// Gone says that a VirtualMachine is no more.
func (r *Rollouts) Gone(vm types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, current := range r.active {
		if !current.Over() {
			current.Gone(vm)
			r.Wake()
		}
	}
}

// Trusts reports whether the way to a provider has led to its VMs. Before, what it
// does not show need not be gone.
func (r *Rollouts) Trusts(config types.NamespacedName) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	current, known := r.active[config]
	return known && current.Trusted()
}

// Trying reports whether all VirtualMachines of a ProviderConfig but those that try
// its way are held back.
func (r *Rollouts) Trying(config types.NamespacedName) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	current, known := r.active[config]
	return known && current.Trying()
}

// Wake makes all rollouts go on as far as they can. It does not block.
func (r *Rollouts) Wake() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// meet returns the rollout of what the registry says of a ProviderConfig, which
// it begins if it is a new one.
func (r *Rollouts) meet(config types.NamespacedName) *running {
	entry := r.options.Registry.Get(config)
	current, known := r.active[config]
	if known && current.entry.SameMeaning(entry) {
		return current
	}
	current = &running{Rollout: Begin(r.change(entry)), entry: entry}
	r.active[config] = current
	r.Wake()
	return current
}

func (r *Rollouts) change(entry registry.Entry) Change {
	return Change{
		Revision: entry.Revision,
		// Whether the provider is to be believed that VMs are gone is what a person who
		// releases a mass disappearance has said.
		Gated:      entry.State == registry.Ready && !r.released(entry),
		AwaitsList: r.options.Listed != nil && snapshot.Lists(entry),
		Interval:   max(entry.PollInterval, gatherAgain),
	}
}

func (r *Rollouts) released(entry registry.Entry) bool {
	return !entry.ReleasedAt.IsZero() && r.options.Now().Before(entry.ReleasedAt.Add(disappearance.Intervals*entry.PollInterval))
}
