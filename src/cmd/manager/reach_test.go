package main

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/rest"
)

func TestAnAPIServerThatIsOutOfReachIsWaitedFor(t *testing.T) {
	place := namespace(t)
	front := newFront(t)
	o := startOperator(t, front.config(), "--watch-namespaces="+place)
	o.WantLine("the Kubernetes API is out of reach", "asking the Kubernetes API which kinds it serves")
	o.WantProbe("/healthz", http.StatusOK)
	o.WantProbe("/readyz", http.StatusServiceUnavailable)
	front.open()
	o.WantProbe("/readyz", http.StatusOK)
	o.Terminate()
	o.WantEnd()
}

func TestWhoWaitsForTheAPIServerCanBeEnded(t *testing.T) {
	o := startOperator(t, newFront(t).config())
	o.WantLine("the Kubernetes API is out of reach")
	o.Terminate()
	o.WantEnd()
}

func TestAnAPIServerThatIsNotToBeTrustedEndsTheOperator(t *testing.T) {
	other := *plane.Config
	other.CAData = nil
	status, stderr := runOperator(t, &other)
	if status != exitFailed || !strings.Contains(stderr, "certificate") || strings.Contains(stderr, "out of reach") {
		t.Errorf("exit status %d, said %s", status, stderr)
	}
}

// front is an address of the control plane where, until it is opened, every
// connection ends at once.
type front struct {
	t        *testing.T
	listener net.Listener
	opened   chan struct{}
}

func newFront(t *testing.T) *front {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &front{t: t, listener: listener, opened: make(chan struct{})}
	var served sync.WaitGroup
	served.Go(func() {
		for {
			connection, err := listener.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err == nil {
				served.Go(func() { f.serve(connection) })
			}
		}
	})
	t.Cleanup(func() {
		listener.Close()
		served.Wait()
	})
	return f
}

func (f *front) config() *rest.Config {
	config := rest.CopyConfig(plane.Config)
	config.Host = "https://" + f.listener.Addr().String()
	return config
}

func (f *front) open() { close(f.opened) }

func (f *front) serve(connection net.Conn) {
	defer connection.Close()
	select {
	case <-f.opened:
	default:
		return
	}
	ctx, cancel := context.WithCancel(f.t.Context())
	defer cancel()
	url, _, err := rest.DefaultServerUrlFor(plane.Config)
	if err != nil {
		f.t.Error(err)
		return
	}
	api, err := (&net.Dialer{}).DialContext(ctx, "tcp", url.Host)
	if err != nil {
		f.t.Log(err)
		return
	}
	// The end of one direction is the end of both.
	context.AfterFunc(ctx, func() { connection.Close(); api.Close() })
	go func() {
		defer cancel()
		_, _ = io.Copy(api, connection) // ends with an error when the other direction has ended
	}()
	_, _ = io.Copy(connection, api) // as above
}
