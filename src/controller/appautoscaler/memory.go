package appautoscaler

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	"github.com/example/vmoperator/src/controller/contention"
	"github.com/example/vmoperator/src/controller/fieldmanager"
)

// The fields that are put back.
const (
	fieldReplicas = "replicas"
	fieldImage    = "image"
)

// memories are what this process remembers of one object. Forgetting them is
// always safe.
type memories struct {
	// version is the resourceVersion of our own last write to the object.
	version string
	// lags counts the passes in a row that found the cache behind.
	lags int
	// failures counts the passes in a row that failed.
	failures int
	// corrections are how often each field was put back of late.
	corrections map[string]*corrections
}

// corrections are how often a field was put back, and after whom.
type corrections struct {
	*contention.History

	// other is who had set it last.
	other fieldmanager.Entry
}

// of returns the corrections of a field.
func (m *memories) of(field string) *corrections {
	if m.corrections[field] == nil {
		m.corrections[field] = &corrections{History: &contention.History{}}
	}
	return m.corrections[field]
}

// behind reports whether an object read from the cache is older than our own
// last write to it.
func (m *memories) behind(autoscaler *exampleappsv1.AppAutoscaler) bool {
	if m.version == "" {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(autoscaler.ResourceVersion, m.version)
	return err == nil && order < 0
}

// memory holds the memories of all objects. Objects are reconciled one at a time,
// so memories themselves need no lock.
type memory struct {
	mu  sync.Mutex
	all map[types.NamespacedName]entry
}

type entry struct {
	uid types.UID
	*memories
}

func newMemory() *memory { return &memory{all: map[types.NamespacedName]entry{}} }

// of returns the memories of an object; one that was made anew under an old name
// begins with empty ones. A fight that the status tells of goes on, although this
// process has not seen its beginning.
func (m *memory) of(autoscaler *exampleappsv1.AppAutoscaler, now time.Time) *memories {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := types.NamespacedName{Namespace: autoscaler.Namespace, Name: autoscaler.Name}
	found, known := m.all[key]
	if !known || found.uid != autoscaler.UID {
		found = entry{uid: autoscaler.UID, memories: &memories{corrections: map[string]*corrections{}}}
		if meta.IsStatusConditionTrue(autoscaler.Status.Conditions, exampleappsv1.ConditionContended) {
			for _, field := range []string{fieldReplicas, fieldImage} {
				found.corrections[field] = &corrections{History: contention.Resumed(now)}
			}
		}
		m.all[key] = found
	}
	return found.memories
}

// forget drops what is known of an object that is gone.
func (m *memory) forget(key types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.all, key)
}
