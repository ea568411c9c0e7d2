package childcache

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	discoveryv1client "k8s.io/client-go/kubernetes/typed/discovery/v1"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// Options say what is held.
type Options struct {
	// Cluster leads to the apiserver.
	Cluster cluster.Cluster
	// Namespaces are those to watch; none means all.
	Namespaces []string
	// Selector selects the objects.
	Selector labels.Selector
	// Content is the digest of what of an object is ours.
	Content func(client.Object) Digest
}

// Cache is what a manager runs and a controller reads.
type Cache struct {
	reflectors []*toolscache.Reflector
	// shelves are by namespace; "" stands for all.
	shelves map[Kind]map[string]*shelf

	mu    sync.Mutex
	queue workqueue.TypedRateLimitingInterface[reconcile.Request]
}

// New returns a Cache that holds nothing until it is started.
func New(options Options) (*Cache, error) {
	// Objects of Kubernetes' own kinds are smaller so, on the wire and when decoded.
	config := rest.CopyConfig(options.Cluster.GetConfig())
	config.ContentType = runtime.ContentTypeProtobuf
	core, err := corev1client.NewForConfigAndClient(config, options.Cluster.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("making a client for Secrets and Services: %w", err)
	}
	discovery, err := discoveryv1client.NewForConfigAndClient(config, options.Cluster.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("making a client for EndpointSlices: %w", err)
	}
	namespaces := options.Namespaces
	if len(namespaces) == 0 {
		namespaces = []string{metav1.NamespaceAll}
	}
	c := &Cache{shelves: map[Kind]map[string]*shelf{Secrets: {}, Services: {}, EndpointSlices: {}}}
	for _, namespace := range namespaces {
		c.add(options, Secrets, core.RESTClient(), &corev1.Secret{}, "secrets", namespace)
		c.add(options, Services, core.RESTClient(), &corev1.Service{}, "services", namespace)
		c.add(options, EndpointSlices, discovery.RESTClient(), &discoveryv1.EndpointSlice{}, "endpointslices", namespace)
	}
	return c, nil
}

func (c *Cache) add(options Options, kind Kind, getter toolscache.Getter, object client.Object, resource, namespace string) {
	shelf := newShelf(options.Content, c.changed)
	selected := toolscache.NewFilteredListWatchFromClient(getter, resource, namespace, func(list *metav1.ListOptions) {
		list.LabelSelector = options.Selector.String()
	})
	c.shelves[kind][namespace] = shelf
	c.reflectors = append(c.reflectors, toolscache.NewReflectorWithOptions(
		toolscache.ToListWatcherWithWatchListSemantics(selected, getter), object, shelf, toolscache.ReflectorOptions{Name: "children: " + resource},
	))
}

// Get returns what is known of an object, and whether there is one. Before HasSynced
// it says nothing of what there is.
func (c *Cache) Get(kind Kind, key types.NamespacedName) (Child, bool) {
	for _, namespace := range []string{key.Namespace, metav1.NamespaceAll} {
		if shelf, watched := c.shelves[kind][namespace]; watched {
			return shelf.get(key)
		}
	}
	return Child{}, false
}

// Start watches until ctx ends.
func (c *Cache) Start(ctx context.Context) error {
	var all sync.WaitGroup
	for _, reflector := range c.reflectors {
		all.Go(func() { reflector.RunWithContext(ctx) })
	}
	all.Wait()
	return nil
}

// NeedLeaderElection is false: a standby's caches are warm.
func (*Cache) NeedLeaderElection() bool { return false }

// HasSynced reports whether all that there is has been seen.
func (c *Cache) HasSynced() bool {
	for _, shelves := range c.shelves {
		for _, shelf := range shelves {
			select {
			case <-shelf.synced:
			default:
				return false
			}
		}
	}
	return true
}

// WaitForSync returns once all that there is has been seen, or with the error of a
// context that ends before.
func (c *Cache) WaitForSync(ctx context.Context) error {
	for _, shelves := range c.shelves {
		for _, shelf := range shelves {
			select {
			case <-shelf.synced:
			case <-ctx.Done():
				return fmt.Errorf("waiting for the children: %w", ctx.Err())
			}
		}
	}
	return nil
}

// changed enqueues an owner. Before there is a queue nobody has worked from what is
// held.
func (c *Cache) changed(namespace, owner string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.queue != nil {
		c.queue.Add(reconcile.Request{NamespacedName: types.NamespacedName{Namespace: namespace, Name: owner}})
	}
}

// Source enqueues the owner of each object that is changed, or deleted, by whomever.
func (c *Cache) Source() source.SyncingSource { return owners{c} }

type owners struct{ *Cache }

// Start enqueues to queue from now on.
func (o owners) Start(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.queue = queue
	return nil
}
