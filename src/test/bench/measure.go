package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	// phaseTimeout is many times what a phase takes.
	phaseTimeout = 15 * time.Minute
	// quietTime without a write is the end of what a phase has led to: events come
	// after the status.
	quietTime    = 2 * time.Second
	quietTick    = 200 * time.Millisecond
	steadyRounds = 3
	steadyTick   = time.Second
)

// measure measures the operator with a number of objects, and then the floor.
func (w *world) measure(ctx context.Context, n int, p plan) (m measurement, err error) {
	ours := fmt.Sprintf("operator-%d", n)
	if err := w.namespace(ctx, ours); err != nil {
		return m, err
	}
	o, err := w.startOperator(ctx, ours, p.resync)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, o.stop()) }()
	s := w.appAutoscalers(ours)
	m = measurement{Kind: s.kind, Objects: n}
	if err := w.measureOperator(ctx, o, s, p.resync, &m); err != nil {
		return m, err
	}
	// It must not take from the floor's time.
	if err := o.stop(); err != nil {
		return m, err
	}
	for round := range p.rounds {
		if err := w.measureFloor(ctx, fmt.Sprintf("floor-%d-%d", n, round+1), &m); err != nil {
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
		before, err := w.quiet(ctx, o)
		if err != nil {
			return err
		}
		took, err := w.time(ctx, fmt.Sprintf("%d %s, %s, operator", m.Objects, s.kind, p.name), p, m.Objects, o.alive,
			func(ctx context.Context) error { return begin(ctx, p, m.Objects, nil) })
		if err != nil {
			return err
		}
		after, err := w.quiet(ctx, o)
		if err != nil {
			return err
		}
		made := after.tally.since(before.tally)
		m.Phases = append(m.Phases, timed{
			Name: p.name, Until: p.until, Operator: took, CPUSeconds: (after.cpu - before.cpu).Seconds(),
			Writes: made.writes, RefusedWrites: made.refused, Reads: made.reads,
		})
	}
	if m.Steady, err = w.rest(ctx, o, s, m.Objects, resync); err != nil {
		return err
	}
	settled, err := o.usage()
	m.Memory.PeakBytes, m.Memory.SettledBytes = settled.peak, settled.memory
	return err
}

// measureFloor goes through the same phases without an operator. The least of
// several rounds counts: the floor is what is possible.
func (w *world) measureFloor(ctx context.Context, namespace string, m *measurement) error {
	if err := w.namespace(ctx, namespace); err != nil {
		return err
	}
	s := w.appAutoscalers(namespace)
	for i, p := range s.phases {
		result := &m.Phases[i]
		what := fmt.Sprintf("%d %s, %s, floor", m.Objects, s.kind, p.name)
		took, err := w.time(ctx, what, p, m.Objects, func() error { return nil }, func(ctx context.Context) error {
			return floor(ctx, p, m.Objects, s.workers, result.Writes)
		})
		if err != nil {
			return err
		}
		result.Floor = result.Floor.least(took)
		result.Ratio = result.Operator.ratio(result.Floor)
	}
	return nil
}
