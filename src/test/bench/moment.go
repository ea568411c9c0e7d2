package main

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// moment is what the operator has done and used up to a time.
type moment struct {
	at    time.Time
	tally tally
	// cpu is the time of all cores together.
	cpu time.Duration
}

func (w *world) now(o *operator) (m moment, err error) {
	if m.tally, err = w.audit.read(); err != nil {
		return m, err
	}
	used, err := o.usage()
	m.cpu, m.at = used.cpu, time.Now()
	return m, err
}

// quiet returns once the operator makes no more writes.
func (w *world) quiet(ctx context.Context, o *operator) (moment, error) {
	ctx, cancel := context.WithTimeout(ctx, phaseTimeout)
	defer cancel()
	last, err := w.now(o)
	if err != nil {
		return last, err
	}
	since := last.at
	err = wait.PollUntilContextCancel(ctx, quietTick, true, func(context.Context) (bool, error) {
		now, err := w.now(o)
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
		return last, fmt.Errorf("waiting for the operator to be quiet: %w", err)
	}
	return last, nil
}
