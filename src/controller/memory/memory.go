// Package memory keeps what this process remembers of objects between two looks at
// them. Forgetting it must always be safe, for every new process does.
package memory

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Of holds what is remembered of all objects of a kind. The zero value is ready
// for use. An object is worked on by one worker at a time, so that what is
// remembered of it needs no lock of its own.
type Of[T any] struct {
	mu  sync.Mutex
	all map[types.NamespacedName]entry[T]
}

type entry[T any] struct {
	uid        types.UID
	remembered *T
}

// Recall returns what is remembered of an object. One that is seen for the first
// time, or was made anew under an old name, begins with what begin returns.
func (m *Of[T]) Recall(object client.Object, begin func() *T) *T {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := client.ObjectKeyFromObject(object)
	found, known := m.all[key]
	if !known || found.uid != object.GetUID() {
		found = entry[T]{uid: object.GetUID(), remembered: begin()}
		if m.all == nil {
			m.all = map[types.NamespacedName]entry[T]{}
		}
		m.all[key] = found
	}
	return found.remembered
}

// Forget drops what is remembered of an object that is gone.
func (m *Of[T]) Forget(key types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.all, key)
}
