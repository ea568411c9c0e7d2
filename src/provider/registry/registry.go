// Package registry holds the composed client of every ProviderConfig. The
// ProviderConfig controller fills it once an endpoint and its credentials were
// tried; the other controllers read it and are woken when an entry changes.
package registry

import (
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/example/vmoperator/src/provider"
)

// State says whether a provider may be called.
type State int

const (
	// Unprobed means that this process has not tried the provider yet: nothing is
	// known, and nothing that was known before is wrong.
	Unprobed State = iota
	// NotReady means that the provider cannot be used; the entry's Reason and
	// Message say why.
	NotReady
	// Held means that the provider may be read, but that nothing may be made or
	// deleted there until a person releases it.
	Held
	// Idle means that the provider answers, and that no VirtualMachine refers to the
	// ProviderConfig: it may go at any time, so nothing may be made there yet.
	Idle
	// Ready means that the provider may be used.
	Ready
)

// Entry is what is known of one ProviderConfig's provider.
type Entry struct {
	// State says whether the provider may be called.
	State State
	// Reason and Message are those of the ProviderConfig's condition, unless Ready.
	Reason, Message string
	// Client is set when State is Held, Idle or Ready.
	Client provider.Client
	// Capabilities are what the provider offered when it was last probed.
	Capabilities provider.Capabilities
	// Identities are those that a VM may have been made under: the present one
	// first, then former ones that a release superseded.
	Identities []string
	// UID is the ProviderConfig's.
	UID types.UID
	// PollInterval is how often a settled VM is looked at.
	PollInterval time.Duration
	// Timeout is that of one call.
	Timeout time.Duration
	// ReleasedAt is when a mass disappearance was last released.
	ReleasedAt time.Time
	// Close releases the client's idle connections once it has been replaced; calls
	// under way end by themselves.
	Close func()
	// Lost is set by Lose: the provider has lost the VMs that it was tried with.
	Lost bool
	// Revision is set by Set. It grows whenever the way to the provider changes, so
	// that observations made through the old one can be told apart.
	Revision int64
}

// Open reports whether nothing speaks against calling the provider.
func (e Entry) Open() bool { return e.State == Idle || e.State == Ready }

// sameProvider reports whether observations made through one entry hold for the
// other.
func (e Entry) sameProvider(other Entry) bool {
	return e.Client == other.Client && e.State == other.State
}

// SameMeaning reports whether VMs have nothing to look again for where one entry
// is replaced by the other: both are the same way, and say the same of it.
func (e Entry) SameMeaning(other Entry) bool {
	return e.Revision == other.Revision && e.Reason == other.Reason &&
		slices.Equal(e.Identities, other.Identities) && e.ReleasedAt.Equal(other.ReleasedAt)
}

// Registry maps a ProviderConfig to its Entry. Call New.
type Registry struct {
	mu        sync.RWMutex
	entries   map[types.NamespacedName]Entry
	revision  int64
	listeners map[Topic][]func(types.NamespacedName)
}

// Topic is what a listener wants to hear of.
type Topic int

const (
	// Changed is told when an entry was set or forgotten with another meaning than
	// before: every VM of the ProviderConfig should look again.
	Changed Topic = iota
	// Doubted is told when a caller learned that an entry may be wrong, such as
	// from a 401: the ProviderConfig should be probed again.
	Doubted
)

// New returns an empty Registry.
func New() *Registry {
	return &Registry{
		entries:   map[types.NamespacedName]Entry{},
		listeners: map[Topic][]func(types.NamespacedName){},
	}
}

// Get returns the entry of a ProviderConfig; its State is Unprobed if there is
// none.
func (r *Registry) Get(key types.NamespacedName) Entry {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.entries[key]
}

// Set replaces an entry. Listeners to Changed are told if State, Reason, Client,
// Identities or ReleasedAt differ from before.
func (r *Registry) Set(key types.NamespacedName, entry Entry) {
	r.mu.Lock()
	old := r.entries[key]
	entry.Revision, entry.Lost = old.Revision, old.Lost
	if !entry.sameProvider(old) {
		r.revision++
		entry.Revision, entry.Lost = r.revision, false
	}
	r.entries[key] = entry
	r.mu.Unlock()

	if old.Client != nil && old.Client != entry.Client && old.Close != nil {
		old.Close()
	}
	if !entry.SameMeaning(old) {
		r.tell(Changed, key)
	}
}

// Forget drops the entry of a ProviderConfig that is gone.
func (r *Registry) Forget(key types.NamespacedName) {
	r.mu.Lock()
	old, known := r.entries[key]
	delete(r.entries, key)
	r.mu.Unlock()

	if old.Close != nil {
		old.Close()
	}
	if known {
		r.tell(Changed, key)
	}
}

// Lose says that a way to the provider, that of this revision, shows none of the
// VMs that it was tried with. It holds until the way changes; the ProviderConfig is
// doubted.
func (r *Registry) Lose(key types.NamespacedName, revision int64) {
	r.mu.Lock()
	entry := r.entries[key]
	news := entry.Revision == revision && !entry.Lost
	if news {
		entry.Lost = true
		r.entries[key] = entry
	}
	r.mu.Unlock()
	if news {
		r.tell(Doubted, key)
	}
}

// Doubt says that the entry may be wrong. The entry stays as it is until the
// ProviderConfig has been probed again.
func (r *Registry) Doubt(key types.NamespacedName) { r.tell(Doubted, key) }

// Listen registers a function that is called, on the goroutine of whoever causes
// it, with the ProviderConfig concerned. It must not block.
func (r *Registry) Listen(topic Topic, listener func(types.NamespacedName)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.listeners[topic] = append(r.listeners[topic], listener)
}

func (r *Registry) tell(topic Topic, key types.NamespacedName) {
	r.mu.RLock()
	listeners := r.listeners[topic]
	r.mu.RUnlock()
	for _, listener := range listeners {
		listener(key)
	}
}
