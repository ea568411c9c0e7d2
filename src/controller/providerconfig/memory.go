package providerconfig

import (
	"crypto/sha256"
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/example/vmoperator/src/controller/providerconfig/decide"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/guard"
)

// failuresShown is how many probes in a row must fail, in a way that may pass,
// before a provider that was fine is said not to be.
const failuresShown = 3

// memory is what the process remembers of one ProviderConfig. Forgetting it
// costs a probe. One pass at a time uses it; only doubted is touched by others.
type memory struct {
	// uid is the object's: a new one of the same name begins anew.
	uid types.UID
	// doubted: somebody learned that the last answer may be wrong.
	doubted atomic.Bool
	// way leads to the provider; nil before the first probe.
	way *way
	// retired ways are those that others may still use.
	retired []*way
	// answer is how the last probe through way went, and error the error of it.
	answer decide.Probe
	failed error
	// capabilities are those of the last probe that succeeded through way.
	capabilities provider.Capabilities
	// untried: way replaced one that worked and has not succeeded yet.
	untried bool
	// rotated: way differs from the one before in the credentials alone, and nobody
	// was told yet.
	rotated bool
	// failures counts the probes in a row that failed in a way that may pass.
	failures int
	// looks counts the looks in a row that found no usable Secret.
	looks int
	// probedAt is when the last probe ended.
	probedAt time.Time
	// due is when the next look is due.
	due time.Time
	// cause is what the last look was made for.
	cause cause
}

// cause is what makes a probe due at once when it changes.
type cause struct {
	generation                   int64
	release, allowEndpointChange string
	credentials                  fingerprint
}

// fingerprint stands for content that must not be kept.
type fingerprint [sha256.Size]byte

// fingerprintOf hashes plain values. Values that differ have fingerprints that
// differ, for JSON keeps their borders.
func fingerprintOf(values ...any) fingerprint {
	text, err := json.Marshal(values)
	if err != nil {
		// Strings, bytes and numbers always marshal.
		panic(err)
	}
	return sha256.Sum256(text)
}

// way is a client and what it was built from.
type way struct {
	client                provider.Client
	close                 func()
	circuit               *guard.Circuit
	declared, credentials fingerprint
}

// leads reports whether the way leads where these settings and credentials do:
// an answer that came through another says nothing of them.
func (w *way) leads(declared, credentials fingerprint) bool {
	return w != nil && w.declared == declared && w.credentials == credentials
}

// holdsBack reports whether calls for VMs are held back because others failed.
func (w *way) holdsBack() bool { return w != nil && w.circuit.Open() }

// memories holds those of all ProviderConfigs. The zero value is ready for use.
type memories struct {
	mu    sync.Mutex
	byKey map[types.NamespacedName]*memory
}

// of returns the memory of an object; an empty one for an object that was made
// anew under an old name.
func (m *memories) of(key types.NamespacedName, uid types.UID) *memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := m.byKey[key]
	if found == nil || found.uid != uid {
		found = &memory{uid: uid, retired: found.ways()}
		if m.byKey == nil {
			m.byKey = map[types.NamespacedName]*memory{}
		}
		m.byKey[key] = found
	}
	return found
}

// doubt notes that the last answer may be wrong.
func (m *memories) doubt(key types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if found := m.byKey[key]; found != nil {
		found.doubted.Store(true)
	}
}

// forget drops and returns the memory of an object that is gone; nil if there is
// none.
func (m *memories) forget(key types.NamespacedName) *memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := m.byKey[key]
	delete(m.byKey, key)
	return found
}

// ways are all that have not been closed.
func (m *memory) ways() []*way {
	if m == nil {
		return nil
	}
	if m.way == nil {
		return m.retired
	}
	return append(m.retired, m.way)
}
