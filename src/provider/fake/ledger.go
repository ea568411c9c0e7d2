package fake

import (
	"context"
	"errors"
	"fmt"

	"github.com/example/vmoperator/src/provider"
)

// Entry is one call in the ledger.
type Entry struct {
	// Seq counts calls, from 1, in the order in which they arrived.
	Seq int
	// Op is the call.
	Op provider.Operation
	// ID is the VM that it is about, once that is known.
	ID string
	// Key is the create key that it carried.
	Key string
	// Effect: it made, changed or deleted a VM.
	Effect bool
	// Class is that of the error that the caller got; 0 for none, or not yet.
	Class provider.Class
}

// Ledger returns all calls in the order in which they arrived.
func (p *Provider) Ledger() []Entry {
	p.mu.Lock()
	defer p.mu.Unlock()
	entries := make([]Entry, 0, len(p.ledger))
	for _, entry := range p.ledger {
		entries = append(entries, *entry)
	}
	return entries
}

// Counts returns how many calls of each operation arrived.
func (p *Provider) Counts() map[provider.Operation]int {
	counts := map[provider.Operation]int{}
	for _, entry := range p.Ledger() {
		counts[entry.Op]++
	}
	return counts
}

// Effects returns how many calls of each operation had an effect.
func (p *Provider) Effects() map[provider.Operation]int {
	effects := map[provider.Operation]int{}
	for _, entry := range p.Ledger() {
		if entry.Effect {
			effects[entry.Op]++
		}
	}
	return effects
}

// Reset forgets the ledger; numbers go on.
func (p *Provider) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.resetAt += len(p.ledger)
	p.ledger = nil
}

// run is one call: entered, perhaps faulted, carried out, perhaps faulted again,
// and completed. carryOut runs alone.
func run[T any](ctx context.Context, p *Provider, call Entry, carryOut func(*Entry) (T, error)) (T, error) {
	entry := p.enter(call)
	var none T
	if ctx.Err() != nil {
		// It was never sent.
		return none, p.complete(entry, &provider.Error{
			Class: provider.Transient, Err: fmt.Errorf("not sent: %w", ctx.Err()),
		})
	}
	fault, seen := p.take(entry, Before)
	if err := fault.act(ctx, seen); err != nil {
		return none, p.complete(entry, err)
	}
	p.mu.Lock()
	result, err := carryOut(entry)
	p.mu.Unlock()
	fault, seen = p.take(entry, After)
	if hidden := fault.act(ctx, seen); hidden != nil {
		return none, p.complete(entry, hidden)
	}
	return result, p.complete(entry, err)
}

func (p *Provider) enter(call Entry) *Entry {
	p.mu.Lock()
	defer p.mu.Unlock()
	call.Seq = p.resetAt + len(p.ledger) + 1
	p.ledger = append(p.ledger, &call)
	return &call
}

// complete notes what the caller gets, and returns it.
func (p *Provider) complete(entry *Entry, err error) error {
	failure, ok := errors.AsType[*provider.Error](err)
	if !ok {
		return nil
	}
	failure.Op = entry.Op
	p.mu.Lock()
	defer p.mu.Unlock()
	entry.Class = failure.Class
	return failure
}
