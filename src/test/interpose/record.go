package interpose

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// Entry is a call and what became of it.
type Entry struct {
	Call

	// Fate is what the hook decided.
	Fate Fate
	// Status is the HTTP status of the answer, whether or not the caller got it; 0
	// if there is none yet.
	Status int
	// Done is whether the call is over. A watch is over when it is closed.
	Done bool
}

// Took reports whether the call reached its target and was not refused there.
func (e Entry) Took() bool { return e.Status >= 200 && e.Status <= 299 }

// String is the entry in one line.
func (e Entry) String() string {
	return fmt.Sprintf("%s: %s %d", e.Call, e.Fate, e.Status)
}

// Record keeps the calls of one proxy or several, in the order in which they came.
type Record struct {
	mu      sync.Mutex
	entries []Entry
	changed chan struct{}
}

// NewRecord returns an empty record.
func NewRecord() *Record { return &Record{changed: make(chan struct{})} }

// Entries are the calls so far.
func (r *Record) Entries() []Entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.entries)
}

// Await waits until condition holds of the calls so far, and looks at every
// change. It returns the error of the context if that ends before.
func (r *Record) Await(ctx context.Context, condition func([]Entry) bool) error {
	for {
		r.mu.Lock()
		entries, changed := slices.Clone(r.entries), r.changed
		r.mu.Unlock()
		if condition(entries) {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (r *Record) add(call Call) Call {
	r.mu.Lock()
	defer r.mu.Unlock()
	call.Number = len(r.entries) + 1
	r.entries = append(r.entries, Entry{Call: call, Fate: Undecided})
	r.tell()
	return call
}

func (r *Record) change(number int, edit func(*Entry)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	edit(&r.entries[number-1])
	r.tell()
}

func (r *Record) tell() {
	close(r.changed)
	r.changed = make(chan struct{})
}
