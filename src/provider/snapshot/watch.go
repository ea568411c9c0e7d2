package snapshot

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/example/vmoperator/src/metrics"
)

// watch is what is known of one ProviderConfig's VMs. One worker at a time uses walk,
// due and begun; the rest is guarded by the Observer's lock.
type watch struct {
	// walk is a list that is not complete yet; nil between lists.
	walk *walk
	// due is when to list next, unless brisk, and begun when the last list was begun.
	due, begun time.Time
	// revision is that of the registry's entry that was last listed through, with
	// success or without.
	revision int64
	latest   *Snapshot
	// failed counts the lists since latest.
	failed  int
	awaited map[string]struct{}
}

// brisk: a list costs a call for each page, a look at each VM one for each.
func (w *watch) brisk() bool {
	return w.latest != nil && len(w.awaited) > 0 && len(w.awaited) >= w.latest.Pages
}

// show tells how old what is known is.
func (w *watch) show(key types.NamespacedName) {
	var complete time.Time
	if w.latest != nil {
		complete = w.latest.Begun
	}
	metrics.ProviderConfigs{}.SetLists(key.Namespace, key.Name, complete, w.failed)
}
