// Package controllers runs controllers in a test as the operator's manager does,
// with a clock that the test moves and a ledger of their writes.
package controllers

import (
	"context"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// Options say what runs.
type Options struct {
	// Config leads to the apiserver.
	Config *rest.Config
	Scheme *runtime.Scheme
	// Namespace is the only one that is watched.
	Namespace string
	// Ledger gets the writes. Nil means that nobody counts them.
	Ledger *Ledger
	// SetUp adds controllers and indexes to the manager.
	SetUp func(context.Context, ctrl.Manager) error
}

// Run runs controllers with cold caches and nothing remembered, as a new process
// does, until stop is called or the test ends.
func Run(t *testing.T, o Options) (stop func()) {
	t.Helper()
	mgr, err := ctrl.NewManager(o.Config, ctrl.Options{
		Scheme:     o.Scheme,
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: new(true)},
		Cache: cache.Options{
			DefaultNamespaces: map[string]cache.Config{o.Namespace: {}},
			DefaultTransform:  cache.TransformStripManagedFields(),
		},
		NewClient: func(cfg *rest.Config, options client.Options) (client.Client, error) {
			base, err := client.NewWithWatch(cfg, options)
			if err != nil || o.Ledger == nil {
				return base, err
			}
			return interceptor.NewClient(base, o.Ledger.funcs()), nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	// What the test leaves to clean up may need the controllers.
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	if err := o.SetUp(ctx, mgr); err != nil {
		cancel()
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("manager: %v", err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// Clock is the time, and what a test has moved it ahead by. The zero value is
// ready for use.
type Clock struct {
	mu    sync.Mutex
	ahead time.Duration
}

// Now is the controllers' time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.ahead)
}

// Step moves the clock ahead.
func (c *Clock) Step(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += by
}
