package conformance

import (
	"context"
	"time"

	"github.com/example/vmoperator/src/provider"
)

const (
	// turns is how often a call is made that a provider asks to make later: its rate
	// limit is no fault, and must not fail what has nothing to do with it.
	turns = 5
	// longestTurn bounds how long a provider can make a run wait for one turn.
	longestTurn = time.Minute
)

// patient is a Client that waits when it is throttled.
type patient struct{ provider.Client }

func (p patient) Capabilities(ctx context.Context) (provider.Capabilities, error) {
	return inTurn(ctx, func() (provider.Capabilities, error) { return p.Client.Capabilities(ctx) })
}

func (p patient) Create(ctx context.Context, key string, request provider.CreateRequest) (provider.Machine, error) {
	return inTurn(ctx, func() (provider.Machine, error) { return p.Client.Create(ctx, key, request) })
}

func (p patient) Get(ctx context.Context, id string) (provider.Machine, error) {
	return inTurn(ctx, func() (provider.Machine, error) { return p.Client.Get(ctx, id) })
}

func (p patient) FindByKey(ctx context.Context, key string) (provider.Machine, error) {
	return inTurn(ctx, func() (provider.Machine, error) { return p.Client.FindByKey(ctx, key) })
}

func (p patient) List(ctx context.Context, cursor string) (provider.Page, error) {
	return inTurn(ctx, func() (provider.Page, error) { return p.Client.List(ctx, cursor) })
}

func (p patient) Resize(ctx context.Context, id string, size provider.Size) (provider.Machine, error) {
	return inTurn(ctx, func() (provider.Machine, error) { return p.Client.Resize(ctx, id, size) })
}

func (p patient) Delete(ctx context.Context, id string) error {
	_, err := inTurn(ctx, func() (struct{}, error) { return struct{}{}, p.Client.Delete(ctx, id) })
	return err
}

// inTurn makes a call, again when the provider says that it would take it later.
func inTurn[T any](ctx context.Context, call func() (T, error)) (T, error) {
	for turn := 1; ; turn++ {
		value, err := call()
		if provider.ClassOf(err) != provider.Throttled || turn == turns {
			return value, err
		}
		if pause(ctx, min(provider.RetryAfterOf(err), longestTurn)) != nil {
			return value, err
		}
	}
}

// pause waits, or returns the context's error.
func pause(ctx context.Context, duration time.Duration) error {
	timer := time.NewTimer(duration)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
