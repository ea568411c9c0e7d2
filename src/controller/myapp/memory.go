package myapp

import (
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
