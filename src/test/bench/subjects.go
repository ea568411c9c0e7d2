package main

import (
	"context"
	"fmt"
	"time"
)

// subjectOf is a kind of objects, and how it is measured.
type subjectOf struct {
	// name is what -subjects calls it.
	name string
	// sizes are the numbers of objects that are measured by default.
	sizes []int
	// measure adds to the figures.
	measure func(ctx context.Context, w *world, p plan, into *figures) error
}

// subjects are all that there are.
func subjects() []*subjectOf { return []*subjectOf{appAutoscalerSubject(), vmSubject()} }

func appAutoscalerSubject() *subjectOf {
	s := &subjectOf{name: "appautoscalers", sizes: []int{100, 1000}}
	s.measure = func(ctx context.Context, w *world, p plan, into *figures) error {
		const namespace = "warm-up-autoscalers"
		if err := w.namespace(ctx, namespace); err != nil {
			return err
		}
		warm := w.appAutoscalers(namespace)
		if err := w.warm(ctx, warm.kind, warm.workers, warm.phases...); err != nil {
			return err
		}
		for _, n := range p.of(s) {
			m, err := w.measureAppAutoscalers(ctx, n, p)
			if err != nil {
				return err
			}
			into.AppAutoscalers = append(into.AppAutoscalers, m)
			into.Failures = append(into.Failures, judge(w.appAutoscalers(""), m)...)
		}
		return nil
	}
	return s
}

func vmSubject() *subjectOf {
	s := &subjectOf{name: "virtualmachines", sizes: []int{100, 1000, 10000}}
	s.measure = func(ctx context.Context, w *world, p plan, into *figures) error {
		if err := w.warmVirtualMachines(ctx, p.poll); err != nil {
			return err
		}
		for _, n := range p.of(s) {
			m, err := w.measureVirtualMachines(ctx, n, p)
			into.VirtualMachines = append(into.VirtualMachines, m)
			if err != nil {
				return err
			}
			into.Failures = append(into.Failures, judgeVMs(m)...)
		}
		return nil
	}
	return s
}

func (w *world) warmVirtualMachines(ctx context.Context, poll time.Duration) error {
	g, err := w.ground(ctx, "warm-up-vms", poll, siteOptions{})
	if err != nil {
		return err
	}
	vms, end, err := w.bareVirtualMachines(g, warmUp)
	if err != nil {
		return err
	}
	defer end()
	if err := w.warm(ctx, vmKind, vmWorkers, vms.creation(), vms.deletion()); err != nil {
		return err
	}
	if err := g.site.stop(); err != nil {
		return fmt.Errorf("after the warm-up: %w", err)
	}
	return w.clear(ctx, vms, warmUp)
}
