package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// measureVirtualMachines measures all operators with a number of objects, one after
// the other, and the floor. With an error, it returns what was measured before.
func (w *world) measureVirtualMachines(ctx context.Context, n int, p plan) (vmMeasurement, error) {
	m := vmMeasurement{Objects: n}
	for _, c := range p.contenders(n) {
		f, err := w.contend(ctx, c, n, p)
		m.Contenders = append(m.Contenders, f)
		if err != nil {
			return m, err
		}
		if c.name == ourName {
			for round := range p.rounds {
				if err := w.measureVMFloor(ctx, n, round+1, p, &m.Contenders[0]); err != nil {
					return m, err
				}
			}
		}
	}
	m.compare()
	if n != p.detailed() {
		return m, nil
	}
	for i, c := range p.contenders(n) {
		if err := w.detail(ctx, c, n, p, &m.Contenders[i]); err != nil {
			return m, err
		}
	}
	return m, nil
}

// compare puts all beside the floor, which is that of our counts.
func (m *vmMeasurement) compare() {
	us := m.Contenders[0]
	for i := range m.Contenders {
		f := &m.Contenders[i]
		f.Create.Floor, f.Delete.Floor = us.Create.Floor, us.Delete.Floor
		f.Create.Ratio, f.Delete.Ratio = f.Create.Operator.ratio(us.Create.Floor), f.Delete.Operator.ratio(us.Delete.Floor)
	}
}

// contend measures an operator on ground of its own.
func (w *world) contend(ctx context.Context, c *contender, n int, p plan) (f vmFigures, err error) {
	namespace := fmt.Sprintf("vms-%d-%s", n, c.name)
	f.Name = c.name
	g, err := w.ground(ctx, namespace, p.poll, siteOptions{})
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, g.site.stop()) }()
	o, err := w.launch(ctx, c, namespace, g.site.url, namespace)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, o.stop()) }()
	empty, err := o.usage()
	if err != nil {
		return f, err
	}
	f.Memory.EmptyBytes = empty.memory
	vms := w.virtualMachines(g, c.children)
	if f.Create, err = w.goThrough(ctx, o, g.site, vmKind, vms.creation(), n); err != nil {
		return f, err
	}
	if c.rounds > 0 {
		if f.Steady, err = w.idle(ctx, o, g.site, n, p.poll, c.rounds); err != nil {
			return f, err
		}
	}
	if err := f.Memory.settle(o); err != nil {
		return f, err
	}
	if o, err = w.again(ctx, c, o, g, n, p, &f); err != nil {
		return f, err
	}
	if f.Delete, err = w.goThrough(ctx, o, g.site, vmKind, vms.deletion(), n); err != nil {
		return f, err
	}
	return f, errors.Join(o.stop(), w.clear(ctx, vms, n))
}

// again starts another process in the place of one, and changes the ProviderConfig
// under it. It returns the process that runs, also with an error.
func (w *world) again(ctx context.Context, c *contender, o *operator, g *ground, n int, p plan, f *vmFigures) (*operator, error) {
	if !c.counts || c.rounds == 0 {
		// Nobody could tell when it has looked at all, or wants to know.
		return o, nil
	}
	if err := o.stop(); err != nil {
		return o, err
	}
	next, result, err := w.restart(ctx, c, g, n, p.poll)
	if err != nil {
		return o, err
	}
	f.Restart = result
	if c.name == ourName {
		f.Change, err = w.change(ctx, next, g, n, p.poll)
	}
	return next, err
}

// idle lets an operator alone for some poll intervals, after one in which what was
// begun comes to its end.
func (w *world) idle(ctx context.Context, o *operator, s *site, n int, poll time.Duration, rounds int) (*steady, error) {
	what := fmt.Sprintf("%d %s, steady state, %s", n, vmKind, o.name)
	shown := newProgress(w.progress, what)
	if _, err := w.pause(ctx, o, vmController, poll, 0, shown); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	start, err := w.now(ctx, o, s)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	passes, err := w.pause(ctx, o, vmController, time.Duration(rounds)*poll, 0, shown)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	end, err := w.now(ctx, o, s)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	result := newSteady(start, end, poll)
	result.Passes = passes
	return &result, nil
}
