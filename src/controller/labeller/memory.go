package labeller

import (
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/example/vmoperator/src/controller/contention"
)

// memory is how often each Deployment was labelled of late. It does not outlast the
// process: a new one begins with the few fast corrections that are allowed to all.
type memory struct {
	mu        sync.Mutex
	histories map[types.NamespacedName]*contention.History
	// pruned is when those that are long ago were forgotten last.
	pruned time.Time
}

// wait is how long a Deployment's label must be left as it is.
func (m *memory) wait(key types.NamespacedName, now time.Time) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	if history := m.histories[key]; history != nil {
		return history.Wait(now)
	}
	return 0
}

// corrected records that the label was set, and forgets what is long ago. It
// reports whether the label is contended, and whether that begins now.
func (m *memory) corrected(key types.NamespacedName, now time.Time) (contended, began bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.histories == nil {
		m.histories = map[types.NamespacedName]*contention.History{}
	}
	if now.Sub(m.pruned) >= contention.Window {
		maps.DeleteFunc(m.histories, func(_ types.NamespacedName, history *contention.History) bool { return history.Over(now) })
		m.pruned = now
	}
	if m.histories[key] == nil {
		m.histories[key] = &contention.History{}
	}
	began = m.histories[key].Corrected(now)
	return m.histories[key].Contended(now), began
}

func (m *memory) forget(key types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.histories, key)
}
