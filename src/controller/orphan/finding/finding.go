// Package finding hands what the orphan controller finds to the ProviderConfig
// controller, which alone writes a ProviderConfig's status.
package finding

import (
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/example/vmoperator/src/controller/orphan/decide"
)

// Finding is what was found about one ProviderConfig's VMs.
type Finding struct {
	// ProviderConfig is the UID of the object that it is about.
	ProviderConfig types.UID
	// Complete: this process has looked often enough to know all that follow but
	// Hold and Looks.
	Complete bool
	// Orphans and Duplicates are the ids of VMs, sorted.
	Orphans, Duplicates []string
	// Retained is how many VMs were left on purpose.
	Retained int
	// Hold is why orphans are not deleted, where the ProviderConfig wants it.
	Hold decide.Hold
	// Looks is how they were looked after.
	Looks decide.Looks
}

// Board holds the findings of all ProviderConfigs, until the process ends. The
// zero value is ready for use.
type Board struct {
	mu        sync.Mutex
	findings  map[types.NamespacedName]Finding
	listeners []func(types.NamespacedName)
}

// Get returns what was found about a ProviderConfig, if anything was yet.
func (b *Board) Get(key types.NamespacedName, uid types.UID) (Finding, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	found, known := b.findings[key]
	return found, known && found.ProviderConfig == uid
}

// Set replaces a finding, and tells the listeners if it is another one.
func (b *Board) Set(key types.NamespacedName, found Finding) {
	b.mu.Lock()
	if b.findings == nil {
		b.findings = map[types.NamespacedName]Finding{}
	}
	changed := !reflect.DeepEqual(b.findings[key], found)
	b.findings[key] = found
	listeners := b.listeners
	b.mu.Unlock()
	if !changed {
		return
	}
	for _, listener := range listeners {
		listener(key)
	}
}

// Forget drops what is known of a ProviderConfig that is gone.
func (b *Board) Forget(key types.NamespacedName) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.findings, key)
}

// Listen registers a function that is called, on the goroutine of whoever causes
// it, with the ProviderConfig concerned. It must not block.
func (b *Board) Listen(listener func(types.NamespacedName)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.listeners = append(b.listeners, listener)
}
