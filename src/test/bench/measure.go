package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	// phaseTimeout is many times what a phase takes.
	phaseTimeout = 30 * time.Minute
	// quietTime without a write is the end of what a phase has led to: events come
	// after the status.
	quietTime    = 2 * time.Second
	quietTick    = 200 * time.Millisecond
	steadyRounds = 3
	steadyTick   = time.Second
)

// measureAppAutoscalers measures the operator with a number of objects, and then the
// floor.
func (w *world) measureAppAutoscalers(ctx context.Context, n int, p plan) (m measurement, err error) {
	namespace := fmt.Sprintf("autoscalers-%d", n)
	if err := w.namespace(ctx, namespace); err != nil {
		return m, err
	}
	o, err := w.launch(ctx, autoscaling(p.resync), namespace, "", namespace)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, o.stop()) }()
	s := w.appAutoscalers(namespace)
	m = measurement{Kind: s.kind, Objects: n}
	if err := w.measureOperator(ctx, o, s, p.resync, &m); err != nil {
		return m, err
	}
	// It must not take from the floor's time.
	if err := o.stop(); err != nil {
		return m, err
	}
	for round := range p.rounds {
		if err := w.measureFloor(ctx, fmt.Sprintf("%s-floor-%d", namespace, round+1), &m); err != nil {
			return m, err
		}
	}
	return m, nil
}

func (w *world) appAutoscalers(namespace string) subject {
	return (&appAutoscalers{client: w.client, seen: w.seen, namespace: namespace}).subject()
}

func (w *world) measureOperator(ctx context.Context, o *operator, s subject, resync time.Duration, m *measurement) error {
	empty, err := o.usage()
	if err != nil {
		return err
	}
	m.Memory.EmptyBytes = empty.memory
	for _, p := range s.phases {
		cost, err := w.goThrough(ctx, o, nil, s.kind, p, m.Objects)
		if err != nil {
			return err
		}
		m.Phases = append(m.Phases, cost)
	}
	if m.Steady, err = w.rest(ctx, o, s, m.Objects, resync); err != nil {
		return err
	}
	return m.Memory.settle(o)
}

// settle takes down what the operator has now.
func (m *memory) settle(o *operator) error {
	settled, err := o.usage()
	m.PeakBytes, m.SettledBytes, m.SettledAnonymous = settled.peak, settled.memory, settled.anonymous
	return err
}

// goThrough goes through a phase with an operator, until it is quiet again.
func (w *world) goThrough(ctx context.Context, o *operator, s *site, kind string, p phase, n int) (timed, error) {
	before, err := w.quiet(ctx, o, s)
	if err != nil {
		return timed{}, err
	}
	took, err := w.time(ctx, fmt.Sprintf("%d %s, %s, %s", n, kind, p.name, o.name), p, n, o.alive,
		func(ctx context.Context) error { return begin(ctx, p, n, nil) })
	if err != nil {
		return timed{}, err
	}
	after, err := w.quiet(ctx, o, s)
	if err != nil {
		return timed{}, err
	}
	made := after.tally.since(before.tally)
	return timed{
		Name: p.name, Until: p.until, Operator: took, CPUSeconds: (after.cpu - before.cpu).Seconds(), Seconds: after.at.Sub(before.at).Seconds(),
		Writes: made.writes, RefusedWrites: made.refused, Reads: made.reads, Calls: after.calls.without(before.calls),
	}, nil
}

// measureFloor goes through the same phases without an operator. The least of
// several rounds counts: the floor is what is possible.
func (w *world) measureFloor(ctx context.Context, namespace string, m *measurement) error {
	if err := w.namespace(ctx, namespace); err != nil {
		return err
	}
	s := w.appAutoscalers(namespace)
	for i, p := range s.phases {
		if err := w.floorOf(ctx, s.kind, p, m.Objects, s.workers, &m.Phases[i]); err != nil {
			return err
		}
	}
	return nil
}

// floorOf goes through a phase without an operator, and compares what the operator
// took with that.
func (w *world) floorOf(ctx context.Context, kind string, p phase, n, workers int, result *timed) error {
	what := fmt.Sprintf("%d %s, %s, floor", n, kind, p.name)
	took, err := w.time(ctx, what, p, n, func() error { return nil }, func(ctx context.Context) error {
		return floor(ctx, p, n, workers, result.made())
	})
	if err != nil {
		return err
	}
	result.Floor = result.Floor.least(took)
	result.Ratio = result.Operator.ratio(result.Floor)
	return nil
}
