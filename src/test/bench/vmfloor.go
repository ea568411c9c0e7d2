package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/example/vmoperator/src/provider/httpapi"
	"github.com/example/vmoperator/src/provider/httpapi/dial"
)

// measureVMFloor goes through creation and deletion without an operator: the calls to
// the provider are made as well.
func (w *world) measureVMFloor(ctx context.Context, n, round int, p plan, f *vmFigures) (err error) {
	g, err := w.ground(ctx, fmt.Sprintf("vms-%d-floor-%d", n, round), p.poll, siteOptions{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.site.stop()) }()
	vms, end, err := w.bareVirtualMachines(g, n)
	if err != nil {
		return err
	}
	defer end()
	if err := w.floorOf(ctx, vmKind, vms.creation(), n, vmWorkers, &f.Create); err != nil {
		return err
	}
	if err := w.floorOf(ctx, vmKind, vms.deletion(), n, vmWorkers, &f.Delete); err != nil {
		return err
	}
	return w.clear(ctx, vms, n)
}

// bareVirtualMachines are those that the floor makes all writes and calls for. The
// function that it returns closes the connections to the provider.
func (w *world) bareVirtualMachines(g *ground, n int) (*virtualMachines, func(), error) {
	loopback, err := dial.ParsePolicy([]string{"127.0.0.0/8"})
	if err != nil {
		return nil, nil, err
	}
	bare, err := httpapi.New(httpapi.Options{Endpoint: g.site.url, Dial: loopback})
	if err != nil {
		return nil, nil, fmt.Errorf("connecting to the provider: %w", err)
	}
	vms := w.virtualMachines(g, true)
	vms.bare, vms.ids = bare, make([]string, n)
	return vms, bare.Close, nil
}
