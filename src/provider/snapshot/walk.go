package snapshot

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/registry"
)

const (
	// maxPages keeps a provider that never ends its list from holding a worker, and
	// the memory, for ever.
	maxPages = 10_000
	// maxWalk is how old the first page of a list may be when the last one comes.
	maxWalk = 10 * time.Minute
	// soonest is the least wait for a turn.
	soonest = time.Millisecond
)

// walk is the way through the pages of one list.
type walk struct {
	snapshot Snapshot
	cursor   string
	cursors  map[string]bool
	// reader takes in the pages as well; nil if nobody does.
	reader Reader
}

func newWalk(revision int64, now time.Time, expected int, reader Reader) *walk {
	return &walk{
		reader:   reader,
		snapshot: Snapshot{Revision: revision, Begun: now, machines: make(map[string]provider.Machine, expected)},
		cursors:  map[string]bool{},
	}
}

// over tells the reader that no page will follow.
func (w *walk) over(err error) {
	if w != nil && w.reader != nil {
		w.reader.Done(err)
	}
}

// outdated reports whether a walk must begin anew: its pages came another way, or
// too long ago to be of one state.
func (w *walk) outdated(entry registry.Entry, now time.Time) bool {
	return w.snapshot.Revision != entry.Revision || now.Sub(w.snapshot.Begun) > maxWalk
}

// run reads the pages that are left. It returns how long to wait for the turn of the
// next page; 0 when the list is complete. An error means that it never will be.
func (w *walk) run(ctx context.Context, client provider.Client) (time.Duration, error) {
	for range maxPages {
		page, err := client.List(ctx, w.cursor)
		if provider.ClassOf(err) == provider.Throttled {
			return max(provider.RetryAfterOf(err), soonest), nil
		}
		if err != nil {
			return 0, err
		}
		last, err := w.take(page)
		if err != nil || last {
			return 0, err
		}
	}
	return 0, fmt.Errorf("the list has not ended after %d pages", maxPages)
}

// take adds a page, and reports whether it is the last. What the provider says must
// make sense as a whole: pages that overlap were not taken of one state.
func (w *walk) take(page provider.Page) (last bool, err error) {
	w.snapshot.Pages++
	if w.reader != nil {
		w.reader.Page(page.Items)
	}
	for i := range page.Items {
		machine := Observed(page.Items[i])
		if _, twice := w.snapshot.machines[machine.ID]; twice {
			return false, errors.New("a VM is listed twice")
		}
		w.snapshot.machines[machine.ID] = machine
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
