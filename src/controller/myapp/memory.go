package myapp

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	"github.com/example/vmoperator/src/controller/contention"
)

// memories are what this process remembers of one object. Forgetting them is
// always safe.
type memories struct {
	uid types.UID
	// version is the resourceVersion of our own last write to the object.
	version string
	// lags counts the passes in a row that found the cache behind.
	lags int
	// failures counts the passes in a row that failed.
	failures int
	// corrections are how often something of others was put back of late, and other is
	// who had set it last.
	corrections contention.History
	other       string
	// refused is what the Kubernetes API refuses for good.
	refused *refusal
	// settled is a Deployment that differs still after it was written: a webhook, or a
	// default that is not known here, has the last word.
	settled settlement
}

// refusal is what the Kubernetes API said of one generation.
type refusal struct {
	generation int64
	message    string
}

// settlement is one generation of a MyApp and of its Deployment.
type settlement struct {
	app, deployment int64
	uid             types.UID
}

// behind reports whether an object read from the cache is older than our own
// last write to it.
func (m *memories) behind(app *exampleappsv1.MyApp) bool {
	if m.version == "" {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(app.ResourceVersion, m.version)
	return err == nil && order < 0
}

// memory is what this process remembers of all objects. A key is worked on by one
// worker at a time, so that its memories need no lock of their own.
type memory struct {
	mu  sync.Mutex
	all map[types.NamespacedName]*memories
}

// of returns the memories of an object, empty ones for an object that is new under
// its name.
func (m *memory) of(app *exampleappsv1.MyApp) *memories {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.all == nil {
		m.all = map[types.NamespacedName]*memories{}
	}
	key := types.NamespacedName{Namespace: app.Namespace, Name: app.Name}
	if found := m.all[key]; found != nil && found.uid == app.UID {
		return found
	}
	m.all[key] = &memories{uid: app.UID}
	return m.all[key]
}

func (m *memory) forget(key types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.all, key)
}
