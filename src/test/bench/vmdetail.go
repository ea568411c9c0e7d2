package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	// hangProbes is how many new VirtualMachines are waited for, one after the other.
	hangProbes = 20
	// late is how long one may take: many times what it should.
	late = 10 * time.Second
	// hangingProvider is the name of the ProviderConfig that leads to nobody.
	hangingProvider = "hanging"
)

// detail measures what needs a provider of its own, and is measured at one size.
func (w *world) detail(ctx context.Context, c *contender, n int, p plan, f *vmFigures) error {
	if !c.children {
		return nil
	}
	var err error
	if f.Life, err = w.live(ctx, c, n, p); err != nil {
		return err
	}
	f.Hang, err = w.hang(ctx, c, n, p)
	return err
}

// live takes VirtualMachines through a life in which a VM takes its time to be made.
func (w *world) live(ctx context.Context, c *contender, n int, p plan) (result *life, err error) {
	namespace := fmt.Sprintf("life-%d-%s", n, c.name)
	g, err := w.ground(ctx, namespace, p.poll, siteOptions{provision: p.provision})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, g.site.stop()) }()
	o, err := w.launch(ctx, c, namespace, g.site.url, namespace)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, o.stop()) }()
	vms := w.virtualMachines(g, c.children)
	kind := fmt.Sprintf("%s that take %s", vmKind, p.provision)
	result = &life{ProvisionSeconds: p.provision.Seconds()}
	if result.Create, err = w.goThrough(ctx, o, g.site, kind, vms.creation(), n); err != nil {
		return nil, err
	}
	if result.Delete, err = w.goThrough(ctx, o, g.site, kind, vms.deletion(), n); err != nil {
		return nil, err
	}
	if result.Calls, err = g.site.calls(ctx); err != nil {
		return nil, err
	}
	return result, errors.Join(o.stop(), w.clear(ctx, vms, n))
}

// hang makes VirtualMachines at one provider, at first alone, and then while another
// provider answers nothing about any of its own.
func (w *world) hang(ctx context.Context, c *contender, n int, p plan) (result *hang, err error) {
	namespace := fmt.Sprintf("hang-%d-%s", n, c.name)
	g, err := w.ground(ctx, namespace, p.poll, siteOptions{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, g.site.stop()) }()
	o, err := w.launch(ctx, c, namespace, g.site.url, namespace)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, o.stop()) }()
	fmt.Fprintf(w.progress, "%d %s at a provider that hangs, %s\n", n, vmKind, c.name)
	result = &hang{Hanging: n}
	// The first one of all waits for the ProviderConfig to be probed, and does not count.
	if _, err = w.oneByOne(ctx, o, g, "first", 1); err != nil {
		return nil, err
	}
	if result.Alone, err = w.oneByOne(ctx, o, g, "alone", hangProbes); err != nil {
		return nil, err
	}
	hanging, err := g.addProvider(ctx, w, hangingProvider, p.poll, siteOptions{hangs: true})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, hanging.stop()) }()
	if err := w.occupy(ctx, o, g, hanging, n); err != nil {
		return nil, err
	}
	// That there are so many new objects is not what is measured.
	if err := w.lull(ctx, o); err != nil {
		return nil, err
	}
	if result.Beside, err = w.oneByOne(ctx, o, g, "beside", hangProbes); err != nil {
		return nil, err
	}
	if result.Beside.Late == 0 && result.Alone.MedianSeconds > 0 {
		result.Ratio = result.Beside.MedianSeconds / result.Alone.MedianSeconds
	}
	return result, o.stop()
}

// occupy makes VirtualMachines at the provider that hangs, and returns once the
// operator waits for it.
func (w *world) occupy(ctx context.Context, o *operator, g *ground, hanging *site, n int) error {
	vms := w.virtualMachines(g, false)
	vms.prefix, vms.providerConfig = hangingProvider, hangingProvider
	if err := begin(ctx, phase{begin: vms.create}, n, nil); err != nil {
		return fmt.Errorf("making VirtualMachines at the provider that hangs: %w", err)
	}
	err := wait.PollUntilContextTimeout(ctx, lookedTick, readyTimeout, true, func(ctx context.Context) (bool, error) {
		calls, err := hanging.calls(ctx)
		return calls["create"] > 0, errors.Join(err, o.alive())
	})
	if err != nil {
		return fmt.Errorf("waiting for %s to call the provider that hangs: %w", o.name, err)
	}
	return nil
}

// lull returns once the operator makes no more writes, or after a minute: one that
// keeps trying may never cease.
func (w *world) lull(ctx context.Context, o *operator) error {
	limited, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	_, err := w.quiet(limited, o, nil)
	if limited.Err() != nil && ctx.Err() == nil {
		return o.alive()
	}
	return err
}

// oneByOne makes VirtualMachines at the provider that works, each once the one before
// runs, and ends with the first that does not in time.
func (w *world) oneByOne(ctx context.Context, o *operator, g *ground, prefix string, n int) (latencies, error) {
	vms := w.virtualMachines(g, false)
	vms.prefix = prefix
	var took []float64
	for i := range n {
		began := time.Now()
		if err := vms.create(ctx, i); err != nil {
			return latencies{}, err
		}
		err := wait.PollUntilContextTimeout(ctx, lookInterval, late, true, func(ctx context.Context) (bool, error) {
			done, err := vms.running(ctx, i)
			return done, errors.Join(err, o.alive())
		})
		if wait.Interrupted(err) && ctx.Err() == nil {
			return newLatencies(took, 1), nil
		}
		if err != nil {
			return latencies{}, fmt.Errorf("waiting for a VirtualMachine to run: %w", err)
		}
		took = append(took, time.Since(began).Seconds())
	}
	return newLatencies(took, 0), nil
}
