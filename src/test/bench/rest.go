package main

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// rest lets the operator alone with what is settled, for three resyncs: until that
// time is over and every object was looked at three times on average. A resync
// goes by before, in which the phases' last looks are made.
func (w *world) rest(ctx context.Context, o *operator, s subject, n int, resync time.Duration) (result steady, err error) {
	ctx, cancel := context.WithTimeout(ctx, phaseTimeout)
	defer cancel()
	what := fmt.Sprintf("%d %s, steady state, operator", n, s.kind)
	shown := newProgress(w.progress, what)
	if _, err := w.pause(ctx, o, s.controller, resync, n, shown); err != nil {
		return result, fmt.Errorf("%s: %w", what, err)
	}
	start, err := w.now(ctx, o, nil)
	if err != nil {
		return result, fmt.Errorf("%s: %w", what, err)
	}
	if result.Passes, err = w.pause(ctx, o, s.controller, steadyRounds*resync, steadyRounds*n, shown); err != nil {
		return result, fmt.Errorf("%s: %w", what, err)
	}
	end, err := w.now(ctx, o, nil)
	if err != nil {
		return result, fmt.Errorf("%s: %w", what, err)
	}
	passes := result.Passes
	result = newSteady(start, end, resync)
	result.Passes = passes
	return result, nil
}

// newSteady is what was done between two moments.
func newSteady(start, end moment, interval time.Duration) steady {
	made := end.tally.since(start.tally)
	return steady{
		Seconds: end.at.Sub(start.at).Seconds(), IntervalSeconds: interval.Seconds(), CPUSeconds: (end.cpu - start.cpu).Seconds(),
		Writes: made.writes, Reads: made.reads, RefusedWrites: made.refused, Heartbeats: made.heartbeats, Calls: end.calls.without(start.calls),
	}
}

// pause returns the number of passes that were made, once a time is over and there
// were at least so many.
func (w *world) pause(ctx context.Context, o *operator, controller string, least time.Duration, wanted int, shown *progress) (passes int, err error) {
	before, err := o.passes(ctx, controller)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	err = wait.PollUntilContextCancel(ctx, steadyTick, true, func(ctx context.Context) (bool, error) {
		if err := o.alive(); err != nil {
			return false, err
		}
		shown.tick("waiting for %s to pass, and for %d looks", least, wanted)
		// Each scrape is work for the operator: none is made before its time.
		if time.Since(began) < least {
			return false, nil
		}
		now, err := o.passes(ctx, controller)
		passes = now - before
		return passes >= wanted, err
	})
	return passes, err
}
