package childcache

import (
	"fmt"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// shelf holds the children of one kind in one namespace, or in all. A reflector
// keeps it as the apiserver has them.
type shelf struct {
	content func(client.Object) Digest
	// changed is told the owners of what was changed or is gone.
	changed func(namespace, owner string)

	mu       sync.Mutex
	synced   chan struct{}
	children map[types.NamespacedName]Child
}

var (
	_ toolscache.ReflectorStore    = (*shelf)(nil)
	_ toolscache.TransformingStore = (*shelf)(nil)
)

func newShelf(content func(client.Object) Digest, changed func(namespace, owner string)) *shelf {
	return &shelf{content: content, changed: changed, synced: make(chan struct{}), children: map[types.NamespacedName]Child{}}
}

// item is an object on its way to the shelf. A reflector gathers those that are
// there at its start: as items, they are small.
type item struct {
	// Embedded for what nobody asks an item for.
	*metav1.ObjectMeta

	key     types.NamespacedName
	version string
	child   Child
}

// noMeta is the metadata of all items.
var noMeta = &metav1.ObjectMeta{}

func (i *item) GetNamespace() string       { return i.key.Namespace }
func (i *item) GetName() string            { return i.key.Name }
func (i *item) GetResourceVersion() string { return i.version }

// Transformer makes items of objects before a reflector gathers them.
func (s *shelf) Transformer() toolscache.TransformFunc {
	return func(object any) (any, error) { return s.item(object) }
}

func (s *shelf) item(given any) (*item, error) {
	switch object := given.(type) {
	case *item:
		return object, nil
	case client.Object:
		key, child := kept(object, s.content)
		return &item{ObjectMeta: noMeta, key: key, version: object.GetResourceVersion(), child: child}, nil
	default:
		return nil, fmt.Errorf("%T is no child", given)
	}
}

// get returns what is known of an object, and whether there is one.
func (s *shelf) get(key types.NamespacedName) (Child, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	child, found := s.children[key]
	return child, found
}

// Add takes in an object that appeared.
func (s *shelf) Add(object any) error { return s.Update(object) }

// Update takes in an object that changed. One that appears is our own doing, and
// nobody is told.
func (s *shelf) Update(object any) error {
	item, err := s.item(object)
	if err != nil {
		return err
	}
	s.mu.Lock()
	before, known := s.children[item.key]
	s.children[item.key] = item.child
	s.mu.Unlock()
	if known {
		s.tell(item.key.Namespace, before, item.child)
	}
	return nil
}

// Delete takes in that an object is gone.
func (s *shelf) Delete(object any) error {
	item, err := s.item(object)
	if err != nil {
		return err
	}
	s.mu.Lock()
	delete(s.children, item.key)
	s.mu.Unlock()
	s.tell(item.key.Namespace, item.child, Child{})
	return nil
}

// Replace takes in all objects that there are. After the first time, which comes
// before anybody works with them, it compares: a watch that was interrupted has told
// nothing of what changed meanwhile.
func (s *shelf) Replace(objects []any, _ string) error {
	next := make(map[types.NamespacedName]Child, len(objects))
	for _, object := range objects {
		item, err := s.item(object)
		if err != nil {
			return err
		}
		next[item.key] = item.child
	}
	s.mu.Lock()
	before := s.children
	s.children = next
	s.mu.Unlock()
	for key, was := range before {
		s.tell(key.Namespace, was, next[key])
	}
	select {
	case <-s.synced:
	default:
		close(s.synced)
	}
	return nil
}

// Resync does nothing: what is as it should be needs no second look.
func (*shelf) Resync() error { return nil }

// tell tells the owners of an object, of before and of now, where it changed.
func (s *shelf) tell(namespace string, before, now Child) {
	if before == now {
		return
	}
	if before.Owner != "" {
		s.changed(namespace, before.Owner)
	}
	if now.Owner != "" && now.Owner != before.Owner {
		s.changed(namespace, now.Owner)
	}
}
