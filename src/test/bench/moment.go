package main

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// moment is what an operator has done and used up to a time.
type moment struct {
	at    time.Time
	tally tally
	// calls are those that its provider got.
	calls counts
	// cpu is the time of all cores together.
	cpu time.Duration
}

// now looks at an operator, and at its provider if it has one.
func (w *world) now(ctx context.Context, o *operator, s *site) (m moment, err error) {
	if m.tally, err = w.audit.of(o.contender.user); err != nil {
		return m, err
	}
	if s != nil {
		if m.calls, err = s.calls(ctx); err != nil {
			return m, err
		}
	}
	used, err := o.usage()
	m.cpu, m.at = used.cpu, time.Now()
	return m, err
}

// quiet returns once the operator makes no more writes.
func (w *world) quiet(ctx context.Context, o *operator, s *site) (moment, error) {
	ctx, cancel := context.WithTimeout(ctx, phaseTimeout)
	defer cancel()
	last, err := w.now(ctx, o, s)
	if err != nil {
		return last, err
	}
	since := last.at
	err = wait.PollUntilContextCancel(ctx, quietTick, true, func(ctx context.Context) (bool, error) {
		now, err := w.now(ctx, o, s)
		if err != nil {
			return false, err
		}
		if now.tally.writes.total() != last.tally.writes.total() {
			since = now.at
		}
		last = now
		return now.at.Sub(since) >= quietTime, o.alive()
	})
	if err != nil {
		return last, fmt.Errorf("waiting for %s to be quiet: %w", o.name, err)
	}
	return last, nil
}
