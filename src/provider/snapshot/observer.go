package snapshot

import (
	"context"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/uuid"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/example/vmoperator/src/metrics"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/registry"
)

// jitter is the part by which intervals are spread, so that providers that became
// usable together are not listed together for ever.
const jitter = 0.1

// Observer lists the providers of all ProviderConfigs that are Ready and offer
// lists, each every poll interval, and every Brisk interval while so many of its VMs
// are awaited that looking at each would cost more calls. Call New.
type Observer struct {
	registry *registry.Registry
	brisk    time.Duration
	now      func() time.Time

	mu        sync.Mutex
	watched   map[types.NamespacedName]*watch
	listeners []Listener
	readers   map[types.NamespacedName]Reader
	// wake enqueues; until there is a queue, what there is to enqueue is in waiting.
	wake    func(types.NamespacedName)
	waiting map[types.NamespacedName]struct{}
}

// Listener is told of a ProviderConfig whose VMs should be compared with what is
// known of them. First is true for the first list through an entry of the registry:
// nothing is known that way yet.
type Listener func(key types.NamespacedName, first bool)

// New returns an Observer of what a registry leads to. Brisk is how often to list
// where many VMs are awaited. Somebody must call Look: see WakeBy.
func New(providers *registry.Registry, brisk time.Duration, now func() time.Time) *Observer {
	o := &Observer{registry: providers, brisk: brisk, now: now, watched: map[types.NamespacedName]*watch{}, readers: map[types.NamespacedName]Reader{}}
	o.wake, o.waiting = o.wait, map[types.NamespacedName]struct{}{}
	providers.Listen(registry.Changed, o.enqueue)
	return o
}

// enqueue lets a ProviderConfig be looked at.
func (o *Observer) enqueue(key types.NamespacedName) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.wake(key)
}

func (o *Observer) wait(key types.NamespacedName) { o.waiting[key] = struct{}{} }

// Listen registers a listener. It is called on the goroutine of whoever causes it:
// when a list is complete, when the first one through a registry entry has failed,
// and when awaited VMs are few enough again to be looked at one by one.
func (o *Observer) Listen(listener Listener) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.listeners = append(o.listeners, listener)
}

// WakeBy sets the function that lets Look be called at once for a ProviderConfig: its
// entry in the registry has changed, or its VMs are to be listed sooner than was
// planned. It is called at once for those that came before it was set.
func (o *Observer) WakeBy(wake func(types.NamespacedName)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.wake = wake
	for key := range o.waiting {
		wake(key)
	}
	o.waiting = nil
}

// Latest is the last complete list of a ProviderConfig's VMs; nil if there is none.
func (o *Observer) Latest(key types.NamespacedName) *Snapshot {
	o.mu.Lock()
	defer o.mu.Unlock()
	if w := o.watched[key]; w != nil {
		return w.latest
	}
	return nil
}

// Tried reports whether a list was made through an entry of the registry, be it
// that it failed.
func (o *Observer) Tried(key types.NamespacedName, revision int64) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	w := o.watched[key]
	return w != nil && w.revision == revision
}

// Brisk reports whether so many VMs of a ProviderConfig are awaited that they are
// seen by lists, and need not be looked at one by one.
func (o *Observer) Brisk(key types.NamespacedName) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	w := o.watched[key]
	return w != nil && w.brisk()
}

// Awaited are the VMs of a ProviderConfig that are awaited, by their callers' names.
func (o *Observer) Awaited(key types.NamespacedName) []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	w := o.watched[key]
	if w == nil {
		return nil
	}
	names := make([]string, 0, len(w.awaited))
	for name := range w.awaited {
		names = append(names, name)
	}
	return names
}

// Await says whether a VM is in transition, so that it should be seen soon.
func (o *Observer) Await(key types.NamespacedName, vm string, awaited bool) {
	o.mu.Lock()
	w := o.watched[key]
	if w == nil {
		// Nothing is listed there, or not yet: the VM will be looked at by itself.
		o.mu.Unlock()
		return
	}
	before := w.brisk()
	if awaited {
		w.awaited[vm] = struct{}{}
	} else {
		delete(w.awaited, vm)
	}
	after, left := w.brisk(), len(w.awaited)
	if after && !before {
		o.wake(key)
	}
	o.mu.Unlock()

	if before && !after && left > 0 {
		o.tell(key, false)
	}
}

// Look lists the VMs of one ProviderConfig, when that is due, and returns when to
// look again; 0 means when it is woken. It is called for one ProviderConfig at a time.
func (o *Observer) Look(ctx context.Context, key types.NamespacedName) time.Duration {
	entry := o.registry.Get(key)
	if !o.lists(key, entry) {
		o.forget(key)
		return 0
	}
	w := o.of(key)
	if left := o.until(w, entry); left > 0 {
		return left
	}
	if w.walk == nil || w.walk.outdated(entry, o.now()) {
		w.walk.over(errOver)
		w.walk = newWalk(entry.Revision, o.now(), o.expected(w), o.takeReader(key))
	}
	turn, err := w.walk.run(withCallInfo(ctx, key), entry.Client)
	switch {
	case turn > 0:
		return turn
	case ctx.Err() != nil:
		// The operator stops, which says nothing of the list.
		return 0
	}
	o.finish(ctx, key, entry, err)
	return max(o.until(w, entry), soonest)
}

// Lists reports whether the VMs of a provider can be, and are, listed.
func Lists(entry registry.Entry) bool {
	return entry.State == registry.Ready && entry.Capabilities.Has(provider.CapabilityList)
}

// finish takes in a list that is complete, or that never will be.
func (o *Observer) finish(ctx context.Context, key types.NamespacedName, entry registry.Entry, err error) {
	o.mu.Lock()
	w := o.watched[key]
	ended := w.walk
	first := w.revision != entry.Revision
	w.revision, w.begun = entry.Revision, w.walk.snapshot.Begun
	w.due = o.now().Add(spread(entry.PollInterval))
	if err == nil {
		if w.latest != nil && w.latest.Revision == ended.snapshot.Revision {
			ended.snapshot.follow(w.latest)
		}
		w.latest, w.failed = &ended.snapshot, 0
	} else {
		w.failed++
	}
	w.walk = nil
	w.show(key)
	o.mu.Unlock()

	ended.over(err)
	if err != nil {
		logr.FromContextOrDiscard(ctx).Info("the list of VMs is not complete and proves nothing", "error", err.Error())
		if provider.ClassOf(err) == provider.Unauthorized {
			o.registry.Doubt(key)
		}
	}
	if err == nil || first {
		o.tell(key, first)
	}
}

// until is how long the next list has time.
func (o *Observer) until(w *watch, entry registry.Entry) time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	due := w.due
	if sooner := w.begun.Add(o.brisk); w.brisk() && sooner.Before(due) {
		due = sooner
	}
	if w.walk != nil || w.revision != entry.Revision {
		return 0
	}
	return max(due.Sub(o.now()), 0)
}

// expected is how many VMs a list is likely to show.
func (o *Observer) expected(w *watch) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	if w.latest == nil {
		return 0
	}
	return w.latest.Len()
}

func (o *Observer) of(key types.NamespacedName) *watch {
	o.mu.Lock()
	defer o.mu.Unlock()
	w := o.watched[key]
	if w == nil {
		w = &watch{awaited: map[string]struct{}{}}
		o.watched[key] = w
	}
	return w
}

func (o *Observer) forget(key types.NamespacedName) {
	o.mu.Lock()
	w := o.watched[key]
	delete(o.watched, key)
	o.mu.Unlock()

	if w != nil {
		metrics.ProviderConfigs{}.DeleteLists(key.Namespace, key.Name)
		w.walk.over(errOver)
	}
	if reader := o.takeReader(key); reader != nil {
		reader.Done(errOver)
	}
}

func (o *Observer) tell(key types.NamespacedName, first bool) {
	o.mu.Lock()
	listeners := o.listeners
	o.mu.Unlock()
	for _, listener := range listeners {
		listener(key, first)
	}
}

// spread is up to a tenth shorter or longer.
func spread(interval time.Duration) time.Duration {
	least := time.Duration(float64(interval) * (1 - jitter))
	return wait.Jitter(least, 2*jitter/(1-jitter))
}

// withCallInfo names the calls. The name differs from that of the ProviderConfig's
// probes and of any VM's, for a rate limit keeps one turn for each.
func withCallInfo(ctx context.Context, key types.NamespacedName) context.Context {
	info := provider.CallInfo{Caller: "list of " + key.String(), RequestID: uuid.NewString()}
	ctx = logr.NewContext(ctx, logr.FromContextOrDiscard(ctx).WithValues("requestID", info.RequestID))
	return provider.WithCallInfo(ctx, info)
}
