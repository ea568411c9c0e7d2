package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
)

const (
	// lookedTime without a pass is the end of a look at all objects.
	lookedTime = 3 * time.Second
	lookedTick = 250 * time.Millisecond
	// changedTimeout is another than any ProviderConfig has here.
	changedTimeout = 11 * time.Second
)

// restart starts a process that finds settled objects, and returns it once it has
// looked at all.
func (w *world) restart(ctx context.Context, c *contender, g *ground, n int, poll time.Duration) (*operator, *restart, error) {
	what := fmt.Sprintf("%d %s, restart, %s", n, vmKind, c.name)
	shown := newProgress(w.progress, what)
	var before moment
	var err error
	if before.tally, err = w.audit.of(c.user); err != nil {
		return nil, nil, err
	}
	if before.calls, err = g.site.calls(ctx); err != nil {
		return nil, nil, err
	}
	o, err := w.launch(ctx, c, g.namespace, g.site.url, g.namespace+"-again")
	if err != nil {
		return nil, nil, err
	}
	result := &restart{ReadySeconds: time.Since(o.began).Seconds()}
	before.at = o.began
	if result.reached, err = w.look(ctx, o, g.site, before, 0, n, poll, shown); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("%s: %w", what, err), o.stop())
	}
	used, err := o.usage()
	result.SettledBytes, result.SettledAnonymous = used.memory, used.anonymous
	return o, result, err
}

// change gives the ProviderConfig another timeout, so that every VM is reached in
// another way, and returns once the operator has done what it does about that.
func (w *world) change(ctx context.Context, o *operator, g *ground, n int, poll time.Duration) (*reached, error) {
	what := fmt.Sprintf("%d %s, change of the ProviderConfig, %s", n, vmKind, o.name)
	shown := newProgress(w.progress, what)
	before, err := w.quiet(ctx, o, g.site)
	if err != nil {
		return nil, err
	}
	passes, err := o.passes(ctx, vmController)
	if err != nil {
		return nil, err
	}
	before.at = time.Now()
	config := &computev1.ProviderConfig{}
	key := client.ObjectKey{Namespace: g.namespace, Name: computev1.DefaultProviderConfig}
	if err := w.client.Get(ctx, key, config); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	config.Spec.Timeout = &metav1.Duration{Duration: changedTimeout}
	if err := w.client.Update(ctx, config); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	err = wait.PollUntilContextTimeout(ctx, lookInterval, phaseTimeout, true, func(ctx context.Context) (bool, error) {
		seen := &computev1.ProviderConfig{}
		err := w.seen.Get(ctx, key, seen)
		return seen.Status.ObservedGeneration == config.Generation, errors.Join(err, o.alive())
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	result, err := w.look(ctx, o, g.site, before, passes, 0, poll, shown)
	return &result, err
}

// look returns once an operator has made so many passes and makes no more. Where
// passes never cease, a poll interval is as long as a look can be.
func (w *world) look(
	ctx context.Context, o *operator, s *site, before moment, passesBefore, wanted int, poll time.Duration, shown *progress,
) (result reached, err error) {
	ctx, cancel := context.WithTimeout(ctx, phaseTimeout)
	defer cancel()
	last := time.Now()
	began := last
	err = wait.PollUntilContextCancel(ctx, lookedTick, true, func(ctx context.Context) (bool, error) {
		now, err := o.passes(ctx, vmController)
		if err != nil {
			return false, errors.Join(err, o.alive())
		}
		if made := now - passesBefore; made != result.Passes {
			result.Passes, last = made, time.Now()
		}
		shown.tick("%d looks", result.Passes)
		return result.Passes >= wanted && (time.Since(last) >= lookedTime || time.Since(began) >= max(poll, lookedTime)), nil
	})
	if err != nil {
		return result, err
	}
	after, err := w.now(ctx, o, s)
	made := after.tally.since(before.tally)
	result.Seconds, result.CPUSeconds = last.Sub(before.at).Seconds(), (after.cpu - before.cpu).Seconds()
	result.CountedSeconds, result.IntervalSeconds = after.at.Sub(before.at).Seconds(), poll.Seconds()
	result.Writes, result.RefusedWrites, result.Reads = made.writes, made.refused, made.reads
	result.Calls = after.calls.without(before.calls)
	return result, err
}
