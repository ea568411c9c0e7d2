package orphan

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/example/vmoperator/src/controller/owner"
	"github.com/example/vmoperator/src/provider"
)

const (
	// maxPages keeps a provider that never ends its list from holding a worker, and
	// the memory, for ever.
	maxPages = 10_000
	// maxWalk is how old the first page of a list may be when the last one comes.
	maxWalk = 10 * time.Minute
)

// walk is the way through the pages of one list.
type walk struct {
	// revision is the registry entry that the pages came through.
	revision int64
	begun    time.Time
	cursor   string
	cursors  map[string]bool
	// ids are all VMs that were listed.
	ids map[string]bool
	// ours are those with this ProviderConfig's labels, in the order of the list.
	ours []kin
}

// kin is a VM with this ProviderConfig's labels.
type kin struct {
	id    string
	owner owner.Owner
	phase provider.Phase
}

// list reads the pages that are left of the present list. It returns the list once
// it is complete, and how long to wait for the turn of the next page where it is
// not. An error means that this list will never be complete.
func (r *Reconciler) list(ctx context.Context, p *pass) (*walk, time.Duration, error) {
	w := p.memory.walk
	if w == nil || w.revision != p.entry.Revision || p.now.Sub(w.begun) > maxWalk {
		w = &walk{revision: p.entry.Revision, begun: p.now, cursors: map[string]bool{}, ids: map[string]bool{}}
	}
	p.memory.walk = w
	for range maxPages {
		page, err := p.entry.Client.List(ctx, w.cursor)
		if provider.ClassOf(err) == provider.Throttled {
			return nil, max(provider.RetryAfterOf(err), soonest), nil
		}
		if err != nil {
			return nil, 0, err
		}
		last, err := w.take(p, page)
		if err != nil || last {
			p.memory.walk = nil
			return w, 0, err
		}
	}
	return nil, 0, fmt.Errorf("the list has not ended after %d pages", maxPages)
}

// take adds a page, and reports whether it is the last. What the provider says must
// make sense as a whole: pages that overlap were not taken of one state.
func (w *walk) take(p *pass, page provider.Page) (bool, error) {
	for i := range page.Items {
		machine := &page.Items[i]
		if w.ids[machine.ID] {
			return false, errors.New("a VM is listed twice")
		}
		w.ids[machine.ID] = true
		from, labelled := owner.Of(machine.Labels)
		if labelled && from.ProviderConfig == p.config.UID && from.Object.Namespace == p.config.Namespace {
			w.ours = append(w.ours, kin{id: machine.ID, owner: from, phase: machine.Phase})
		}
	}
	if page.Next == "" {
		return true, nil
	}
	if w.cursors[page.Next] {
		return false, errors.New("the list leads back to a page that was read before")
	}
	w.cursors[page.Next] = true
	w.cursor = page.Next
	return false, nil
}

// failed forgets a list that cannot be completed: it proves nothing.
func (r *Reconciler) failed(ctx context.Context, p *pass, err error) {
	p.memory.walk = nil
	p.memory.due = p.now.Add(wait.Jitter(min(recheck, r.interval()), jitter))
	log.FromContext(ctx).Info("the list of VMs is not complete and proves nothing", "error", err.Error())
	if provider.ClassOf(err) == provider.Unauthorized {
		r.Registry.Doubt(client.ObjectKeyFromObject(p.config))
	}
}
