// Package guard keeps a provider from more calls than it should get, and the
// operator's workers from a provider that does not answer: a Client that lets calls
// through to another one at a bounded rate, none while the provider asks for a
// pause, and few while it fails.
//
// Nobody waits here. A call that is too early fails with Throttled and the time
// until its turn, and its caller, named by provider.CallInfo, has that turn kept:
// when it comes back, it goes through, whoever else has come meanwhile. Turns are
// given out in the order of first calls, so that nobody starves and no crowd
// comes back at once.
//
// A call that finds the provider's share of the workers taken, or its circuit open,
// fails with Throttled as well. Nobody knows when it can be made, so its caller is
// parked, and woken: see Bulkhead. After several failures in a row the circuit
// opens, and a single call at a time, at growing intervals, is the trial that
// decides whether it closes.
package guard

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/example/vmoperator/src/provider"
)

const (
	// turnKept is how long a turn is kept after it came, for a caller that is late
	// or never comes again.
	turnKept = time.Minute
	// pauseJitter spreads the callers that come back after a pause.
	pauseJitter = 0.1
)

// Options bound the calls to one provider.
type Options struct {
	// QPS is how many calls per second are let through over time; 0 or less means
	// that only pauses hold calls back.
	QPS float64
	// Burst is how many calls are let through at once; less than 1 counts as 1.
	Burst int
	// Now tells the time; nil means time.Now.
	Now func() time.Time
	// Bulkhead is what all providers share; nil means that this one is alone, and that
	// nobody is parked.
	Bulkhead *Bulkhead
	// Provider is the name under which the Bulkhead counts the calls: clients that
	// replace each other have the same.
	Provider string
	// Circuit shows whether the circuit is open; nil means that nobody wants to know.
	Circuit *Circuit
}

// Client is the bounded provider.Client. Call New.
type Client struct {
	next provider.Client
	now  func() time.Time
	cell *cell

	mu      sync.Mutex
	limiter *rate.Limiter
	turns   turns
	// paused is when the provider may be called again; until then every call fails.
	paused time.Time
}

var (
	_ provider.Client   = (*Client)(nil)
	_ provider.Reserver = (*Client)(nil)
)

// New returns a Client that makes its calls through next. Close it once it is
// replaced.
func New(next provider.Client, options Options) *Client {
	limit := rate.Limit(options.QPS)
	if options.QPS <= 0 {
		limit = rate.Inf
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.Bulkhead == nil {
		options.Bulkhead = NewBulkhead(0, options.Now)
	}
	if options.Circuit == nil {
		options.Circuit = NewCircuit(nil)
	}
	return &Client{
		next: next, now: options.Now,
		cell:    newCell(options.Bulkhead, options.Provider, options.Circuit),
		limiter: rate.NewLimiter(limit, max(options.Burst, 1)),
		turns:   turns{byCaller: map[string]*turn{}},
	}
}

// Close says that the client is not to be used any more. Whoever is parked is
// woken. Calls under way go on.
func (c *Client) Close() { c.cell.bulkhead.leave(c.cell) }

// admit lets a call through, or says why not.
func (c *Client) admit(ctx context.Context, op provider.Operation) (*flight, error) {
	defer c.cell.bulkhead.tell()
	c.mu.Lock()
	defer c.mu.Unlock()
	now, info := c.now(), provider.CallInfoFrom(ctx)
	if err := c.untilPaused(op, now); err != nil {
		return nil, err
	}
	// Before the limit, for a turn that is used and not needed is lost.
	f, err := c.cell.enter(op, info, now)
	if err != nil {
		return nil, err
	}
	if remaining := c.untilTurn(info.Caller, now, false); remaining > 0 {
		c.cell.withdraw(f, now)
		return nil, limited(op, remaining)
	}
	c.turns.use(info.Caller)
	return f, nil
}

// Reserve implements provider.Reserver.
func (c *Client) Reserve(ctx context.Context, op provider.Operation) error {
	defer c.cell.bulkhead.tell()
	c.mu.Lock()
	defer c.mu.Unlock()
	now, info := c.now(), provider.CallInfoFrom(ctx)
	if err := c.untilPaused(op, now); err != nil {
		return err
	}
	if err := c.cell.reserve(op, info, now); err != nil {
		return err
	}
	if remaining := c.untilTurn(info.Caller, now, true); remaining > 0 {
		c.cell.release(info.Caller, now)
		return limited(op, remaining)
	}
	return nil
}

// untilPaused fails while the provider wants no calls.
func (c *Client) untilPaused(op provider.Operation, now time.Time) error {
	remaining := c.paused.Sub(now)
	if remaining <= 0 {
		return nil
	}
	return &provider.Error{
		Op: op, Class: provider.Throttled, Cause: provider.CausePaused,
		RetryAfter: wait.Jitter(remaining, pauseJitter),
		Err:        errors.New("the provider asked for a pause"),
	}
}

func limited(op provider.Operation, remaining time.Duration) error {
	return &provider.Error{
		Op: op, Class: provider.Throttled, Cause: provider.CauseLocalLimit, RetryAfter: remaining,
		Err: errors.New("the rate limit of this provider is reached"),
	}
}

// untilTurn returns how long a caller has yet to wait for its turn, which is kept
// until it is used; if it is now, only where keep says that it is used later.
func (c *Client) untilTurn(caller string, now time.Time, keep bool) time.Duration {
	if c.limiter.Limit() == rate.Inf {
		return 0
	}
	c.turns.forget(now)
	if kept := c.turns.of(caller); kept != nil {
		return kept.at.Sub(now)
	}
	reservation := c.limiter.ReserveN(now, 1)
	remaining := max(reservation.DelayFrom(now), 0)
	switch {
	case caller == "" && remaining > 0:
		// Nobody would come back for it.
		reservation.CancelAt(now)
	case caller != "" && (remaining > 0 || keep):
		c.turns.keep(caller, now.Add(remaining), reservation)
	}
	return remaining
}

// finish takes in how a call ended.
func (c *Client) finish(f *flight, err error) {
	// The pause comes first: a permit that is free wakes somebody.
	c.observe(err)
	changed := c.cell.exit(f, err, c.now())
	c.cell.bulkhead.tell()
	if changed {
		c.cell.circuit.changed()
	}
}

// observe starts a pause if the provider asked for one.
func (c *Client) observe(err error) {
	asked := provider.RetryAfterOf(err)
	if asked <= 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	if until := now.Add(asked); until.After(c.paused) {
		c.paused = until
		// Turns that come during the pause would all be used at its end, at once.
		c.turns.cancel(now)
	}
}

func call[T any](
	ctx context.Context, c *Client, op provider.Operation, next func() (T, error),
) (result T, err error) {
	f, err := c.admit(ctx, op)
	if err != nil {
		return result, err
	}
	// Deferred, for a call that panics gives its permit back as well.
	err = errUnfinished
	defer func() { c.finish(f, err) }()
	result, err = next()
	return result, err
}

// Capabilities implements provider.Client.
func (c *Client) Capabilities(ctx context.Context) (provider.Capabilities, error) {
	return call(ctx, c, provider.OperationCapabilities, func() (provider.Capabilities, error) {
		return c.next.Capabilities(ctx)
	})
}

// Create implements provider.Client.
func (c *Client) Create(ctx context.Context, key string, request provider.CreateRequest) (provider.Machine, error) {
	return call(ctx, c, provider.OperationCreate, func() (provider.Machine, error) {
		return c.next.Create(ctx, key, request)
	})
}

// Get implements provider.Client.
func (c *Client) Get(ctx context.Context, id string) (provider.Machine, error) {
	return call(ctx, c, provider.OperationGet, func() (provider.Machine, error) { return c.next.Get(ctx, id) })
}

// FindByKey implements provider.Client.
func (c *Client) FindByKey(ctx context.Context, key string) (provider.Machine, error) {
	return call(ctx, c, provider.OperationFind, func() (provider.Machine, error) { return c.next.FindByKey(ctx, key) })
}

// List implements provider.Client.
func (c *Client) List(ctx context.Context, cursor string) (provider.Page, error) {
	return call(ctx, c, provider.OperationList, func() (provider.Page, error) { return c.next.List(ctx, cursor) })
}

// Resize implements provider.Client.
func (c *Client) Resize(ctx context.Context, id string, size provider.Size) (provider.Machine, error) {
	return call(ctx, c, provider.OperationResize, func() (provider.Machine, error) { return c.next.Resize(ctx, id, size) })
}

// Delete implements provider.Client.
func (c *Client) Delete(ctx context.Context, id string) error {
	_, err := call(ctx, c, provider.OperationDelete, func() (struct{}, error) { return struct{}{}, c.next.Delete(ctx, id) })
	return err
}
