package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
)

// probes serves /healthz and /readyz. The manager could, but only once it is
// built: while no namespace can be worked in yet, the process is alive and not
// ready, and must not be killed for want of an answer.
type probes struct {
	server *http.Server
	caches atomic.Pointer[[]syncing]
}

// syncing is a cache that holds, at some time, all that there is.
type syncing interface{ HasSynced() bool }

// startProbes serves until stop is called. An address of 0 serves nothing.
func startProbes(ctx context.Context, address string, logger logr.Logger) (*probes, error) {
	p := &probes{}
	if address == "0" {
		return p, nil
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("--health-probe-bind-address: %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, nil) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) { answer(w, p.ready()) })
	p.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 1 << 14}
	logger.Info("serving probes", "address", listener.Addr().String())
	go func() { _ = p.server.Serve(listener) }() // ends with stop
	return p, nil
}

func (p *probes) stop() {
	if p.server != nil {
		_ = p.server.Close() // nobody needs an answer from a process that ends
	}
}

// watch makes the process ready once caches have synced.
func (p *probes) watch(caches []syncing) { p.caches.Store(&caches) }

func answer(w http.ResponseWriter, why error) {
	if why != nil {
		http.Error(w, why.Error(), http.StatusServiceUnavailable)
		return
	}
	fmt.Fprint(w, "ok")
}

func (p *probes) ready() error {
	caches := p.caches.Load()
	if caches == nil {
		return errors.New("no namespace can be worked in yet")
	}
	for _, each := range *caches {
		if !each.HasSynced() {
			return errors.New("caches are not synced")
		}
	}
	return nil
}
