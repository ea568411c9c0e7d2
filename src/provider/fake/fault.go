package fake

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/example/vmoperator/src/provider"
)

// When says on which side of the effect a fault acts.
type When int

const (
	// Before the effect: a fault with a class prevents it.
	Before When = iota
	// After the effect: a fault with a class hides it from the caller.
	After
)

// Forever is the Count of a fault that acts until ClearFaults.
const Forever = -1

// ErrScripted is in every error that a fault makes.
var ErrScripted = errors.New("a scripted fault")

// Fault is what happens to a call beside its effect. One without Class lets the
// call go on after its Hook and Block.
type Fault struct {
	// Op is the operation that it acts on; empty means every one.
	Op provider.Operation
	// Match limits it to calls with this id or create key; empty means all.
	Match string
	// When says on which side of the effect it acts.
	When When
	// Skip is how many calls pass before it acts.
	Skip int
	// Count is how many calls it acts on; 0 means one.
	Count int

	// Class, Cause and RetryAfter are those of the error that the call gets.
	Class      provider.Class
	Cause      provider.Cause
	RetryAfter time.Duration
	// Hook is called first, with the ledger's entry as it is then; it may call the
	// Provider.
	Hook func(Entry)
	// Block holds the call until it is closed or the call's context ends.
	Block <-chan struct{}
}

// Inject adds a fault. For each call and side the first that fits acts alone.
func (p *Provider) Inject(fault Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if fault.Count == 0 {
		fault.Count = 1
	}
	p.faults = append(p.faults, &fault)
}

// ClearFaults removes all faults. Calls that one blocks stay blocked.
func (p *Provider) ClearFaults() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = nil
}

// take uses the first fault that fits a call, if there is one. It returns a copy,
// which nobody else changes.
func (p *Provider) take(entry *Entry, when When) (Fault, Entry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, fault := range p.faults {
		switch {
		case !fault.fits(entry, when) || fault.Count == 0:
		case fault.Skip > 0:
			fault.Skip--
		default:
			if fault.Count > 0 {
				fault.Count--
			}
			return *fault, *entry
		}
	}
	return Fault{}, *entry
}

func (f *Fault) fits(entry *Entry, when When) bool {
	return f.When == when &&
		(f.Op == "" || f.Op == entry.Op) &&
		(f.Match == "" || f.Match == entry.ID || f.Match == entry.Key)
}

// act runs a fault and returns the error that it makes, if any.
func (f *Fault) act(ctx context.Context, entry Entry) error {
	if f.Hook != nil {
		f.Hook(entry)
	}
	if f.Block != nil {
		select {
		case <-f.Block:
		case <-ctx.Done():
			return gaveUp(ctx, entry.Op)
		}
	}
	if f.Class == 0 {
		return nil
	}
	return &provider.Error{
		Class: f.Class, Cause: f.Cause, RetryAfter: f.RetryAfter, Err: fmt.Errorf("%w: %s", ErrScripted, f.Class),
	}
}

// gaveUp is what a caller learns when its own time is over: nothing.
func gaveUp(ctx context.Context, op provider.Operation) *provider.Error {
	failure := &provider.Error{Class: provider.Transient, Err: fmt.Errorf("no answer: %w", ctx.Err())}
	switch op {
	case provider.OperationCreate, provider.OperationResize, provider.OperationDelete:
		failure.Class = provider.Ambiguous
	default:
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		failure.Cause = provider.CauseTimeout
	}
	return failure
}
