package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// time does the work of a phase, and returns what it took until all objects had
// settled.
func (w *world) time(ctx context.Context, what string, p phase, n int, alive func() error, do func(context.Context) error) (spent, error) {
	ctx, cancel := context.WithTimeout(ctx, phaseTimeout)
	defer cancel()
	shown := newProgress(w.progress, what)
	before, err := work()
	if err != nil {
		return spent{}, err
	}
	began, did := time.Now(), make(chan error, 1)
	go func() {
		err := do(ctx)
		if err != nil {
			// Nobody waits for what will not come.
			cancel()
		}
		did <- err
	}()
	settled, waitErr := untilSettled(ctx, p, n, alive, shown)
	took := time.Since(began)
	if waitErr != nil {
		cancel()
	}
	// What ended the wait may be that the work failed.
	if err := <-did; err != nil && !errors.Is(err, context.Canceled) {
		return spent{}, fmt.Errorf("%s: %w", what, err)
	}
	if waitErr != nil {
		return spent{}, fmt.Errorf("%s: %d of %d objects have settled: %w", what, settled, n, waitErr)
	}
	after, err := work()
	return spent{took.Seconds(), (after - before).Seconds()}, err
}

// untilSettled waits for one object after the other, and returns how many had
// settled.
func untilSettled(ctx context.Context, p phase, n int, alive func() error, shown *progress) (settled int, err error) {
	err = wait.PollUntilContextCancel(ctx, lookInterval, true, func(ctx context.Context) (bool, error) {
		for ; settled < n; settled++ {
			done, err := p.settled(ctx, settled)
			if err != nil {
				return false, err
			}
			if !done {
				shown.tick("the first %d of %d have settled", settled, n)
				return false, alive()
			}
		}
		return true, nil
	})
	return settled, err
}
