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
	if _, err := w.pause(ctx, o, s, resync, n, shown); err != nil {
		return result, fmt.Errorf("%s: %w", what, err)
	}
	start, err := w.now(o)
	if err != nil {
		return result, fmt.Errorf("%s: %w", what, err)
	}
	if result.Passes, err = w.pause(ctx, o, s, steadyRounds*resync, steadyRounds*n, shown); err != nil {
		return result, fmt.Errorf("%s: %w", what, err)
	}
	end, err := w.now(o)
	if err != nil {
		return result, fmt.Errorf("%s: %w", what, err)
	}
	made := end.tally.since(start.tally)
	result.Seconds, result.ResyncSeconds = end.at.Sub(start.at).Seconds(), resync.Seconds()
	result.Writes, result.Reads, result.RefusedWrites, result.Heartbeats = made.writes, made.reads, made.refused, made.heartbeats
	result.CPUSeconds = (end.cpu - start.cpu).Seconds()
	return result, nil
}

// pause returns the number of passes that were made, once a time is over and there
// were at least so many.
func (w *world) pause(ctx context.Context, o *operator, s subject, least time.Duration, wanted int, shown *progress) (passes int, err error) {
	before, err := o.passes(ctx, s.controller)
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
		now, err := o.passes(ctx, s.controller)
		passes = now - before
		return passes >= wanted, err
	})
	return passes, err
}
