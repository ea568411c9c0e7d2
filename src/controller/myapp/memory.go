package myapp

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"

	"github.com/example/vmoperator/src/controller/cachelag"
	"github.com/example/vmoperator/src/controller/contention"
)

// memories are what this process remembers of one object. Forgetting them is
// always safe.
type memories struct {
	// lag is how far the cache is behind our own writes to the object.
	lag cachelag.Lag
	// failures counts the passes in a row that failed.
	failures int
	// corrections are how often something of others was put back of late, and other is
	// who had set it last.
	corrections contention.History
	other       string
	// refused is what the Kubernetes API refuses for good.
	refused *refusal
	// deployment and service are how these stand where they differ still after they were
	// written: a webhook, a policy, or a default that is not known here has the last word.
	deployment, service settlement
}

// refusal is what the Kubernetes API said of one generation.
type refusal struct {
	generation int64
	message    string
}

// settlement is how an object stands after a write for one generation of a MyApp.
type settlement struct {
	app int64
	uid types.UID
	// labels are those of the labels that the MyApp asks for.
	labels map[string]string
	// spec is the generation of a Deployment's. A Service has none, and its ports and
	// selector are compared.
	spec     int64
	ports    []corev1.ServicePort
	selector map[string]string
}

// is reports whether nothing has changed since.
func (s settlement) is(now settlement) bool {
	return s.app == now.app && s.uid == now.uid && s.spec == now.spec &&
		maps.Equal(s.labels, now.labels) && maps.Equal(s.selector, now.selector) && equality.Semantic.DeepEqual(s.ports, now.ports)
}
