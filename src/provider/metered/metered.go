// Package metered measures and logs every call to a provider.
//
// It stands outside of the guard and tells apart what the guard held back: such a
// call was not made, so it is counted and not timed.
package metered

import (
	"context"
	"time"

	"github.com/go-logr/logr"

	"github.com/example/vmoperator/src/metrics"
	"github.com/example/vmoperator/src/provider"
)

// OutcomeHeldBack is what the log calls a call that was not made.
const OutcomeHeldBack = "held_back"

// Client is the measured provider.Client. Call New.
type Client struct {
	next provider.Client
	now  func() time.Time
}

var (
	_ provider.Client   = (*Client)(nil)
	_ provider.Reserver = (*Client)(nil)
)

// New returns a Client that makes its calls through next and measures them by a
// clock; nil means time.Now.
func New(next provider.Client, now func() time.Time) *Client {
	if now == nil {
		now = time.Now
	}
	return &Client{next: next, now: now}
}

func call[T any](
	ctx context.Context, c *Client, op provider.Operation, next func(context.Context) (T, error),
) (T, error) {
	// Here, so that the log line has the ID that the provider gets.
	ctx, requestID := provider.WithRequestID(ctx)
	start := c.now()
	result, err := next(ctx)
	duration := c.now().Sub(start)
	outcome := record(op, err, duration)
	logr.FromContextOrDiscard(ctx).V(1).Info("Called the provider",
		"operation", op, "outcome", outcome, "duration", duration, "requestID", requestID)
	return result, err
}

// record updates the metrics and returns the outcome.
func record(op provider.Operation, err error, duration time.Duration) string {
	if reason := heldBackBy(provider.CauseOf(err)); reason != "" {
		metrics.ProviderThrottled.WithLabelValues(reason).Inc()
		return OutcomeHeldBack
	}
	outcome := metrics.OutcomeOK
	if class := provider.ClassOf(err); class != 0 {
		outcome = class.String()
		if class == provider.Throttled {
			metrics.ProviderThrottled.WithLabelValues(metrics.ThrottledByProvider).Inc()
		}
	}
	metrics.ProviderCallDuration.WithLabelValues(string(op), outcome).Observe(duration.Seconds())
	return outcome
}

// Reserve implements provider.Reserver.
func (c *Client) Reserve(ctx context.Context, op provider.Operation) error {
	err := provider.Reserve(ctx, c.next, op)
	if reason := heldBackBy(provider.CauseOf(err)); reason != "" {
		metrics.ProviderThrottled.WithLabelValues(reason).Inc()
	}
	return err
}

// heldBackBy is why the guard did not make a call; empty if it did.
func heldBackBy(cause provider.Cause) string {
	switch cause {
	case provider.CauseLocalLimit:
		return metrics.ThrottledByLimit
	case provider.CausePaused:
		return metrics.ThrottledByPause
	case provider.CauseBulkhead:
		return metrics.ThrottledByBulkhead
	case provider.CauseCircuit:
		return metrics.ThrottledByCircuit
	default:
		return ""
	}
}

// Capabilities implements provider.Client.
func (c *Client) Capabilities(ctx context.Context) (provider.Capabilities, error) {
	return call(ctx, c, provider.OperationCapabilities, c.next.Capabilities)
}

// Create implements provider.Client.
func (c *Client) Create(ctx context.Context, key string, request provider.CreateRequest) (provider.Machine, error) {
	return call(ctx, c, provider.OperationCreate, func(ctx context.Context) (provider.Machine, error) {
		return c.next.Create(ctx, key, request)
	})
}

// Get implements provider.Client.
func (c *Client) Get(ctx context.Context, id string) (provider.Machine, error) {
	return call(ctx, c, provider.OperationGet, func(ctx context.Context) (provider.Machine, error) {
		return c.next.Get(ctx, id)
	})
}

// FindByKey implements provider.Client.
func (c *Client) FindByKey(ctx context.Context, key string) (provider.Machine, error) {
	return call(ctx, c, provider.OperationFind, func(ctx context.Context) (provider.Machine, error) {
		return c.next.FindByKey(ctx, key)
	})
}

// List implements provider.Client.
func (c *Client) List(ctx context.Context, cursor string) (provider.Page, error) {
	return call(ctx, c, provider.OperationList, func(ctx context.Context) (provider.Page, error) {
		return c.next.List(ctx, cursor)
	})
}

// Resize implements provider.Client.
func (c *Client) Resize(ctx context.Context, id string, size provider.Size) (provider.Machine, error) {
	return call(ctx, c, provider.OperationResize, func(ctx context.Context) (provider.Machine, error) {
		return c.next.Resize(ctx, id, size)
	})
}

// Delete implements provider.Client.
func (c *Client) Delete(ctx context.Context, id string) error {
	_, err := call(ctx, c, provider.OperationDelete, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, c.next.Delete(ctx, id)
	})
	return err
}
