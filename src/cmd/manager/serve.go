package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/go-logr/logr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/example/vmoperator/src/scope"
)

// setUpLogging makes one logger that all libraries use as well.
func setUpLogging(options *zap.Options, out io.Writer) logr.Logger {
	logger := zap.New(zap.UseFlagOptions(options), zap.WriteTo(out))
	ctrl.SetLogger(logger)
	klog.SetLogger(logger.WithName("client-go"))
	return logger.WithName("vmoperator")
}

// heapGrowth is by how many percent the heap may grow before it is looked through for
// garbage. Most of it are caches, which live as long as their objects: Go's 100 costs
// a third more memory, and saves a twentieth of the processor time.
const heapGrowth = 50

// boundHeap keeps the heap small, unless GOGC says how much it may grow.
func boundHeap() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(heapGrowth)
	}
}

// serve works until ctx ends, or until the process must be started again to work
// in other namespaces than it does.
func serve(ctx context.Context, o options, where place, logger logr.Logger) error {
	boundHeap()
	logger.Info("starting", "version", version, "release", where.release, "namespaces", where.namespaces)
	probes, err := startProbes(ctx, o.probeAddress, logger)
	if err != nil {
		return err
	}
	defer probes.stop()

	config, err := kubeConfig(o)
	if err != nil {
		return err
	}
	switch err := awaitKinds(ctx, config, o, logger); {
	case ctx.Err() != nil:
		// Nothing was begun.
		return nil
	case err != nil:
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("connecting to the Kubernetes API: %w", err)
	}
	// The claims must outlast the work that is still under way when ctx ends.
	namespaces := scope.Start(context.WithoutCancel(ctx), scopeOptions(o, where, client, logger))
	defer namespaces.Stop()
	settled, err := namespaces.Settle(ctx)
	if err != nil {
		// Only ctx ends it: nothing was begun.
		return nil
	}
	mgr, err := newManager(config, o, where, settled)
	if err != nil {
		return err
	}
	caches, err := setUp(ctx, mgr, o, settled)
	if err != nil {
		return err
	}
	probes.watch(caches)
	return work(ctx, mgr, namespaces, settled, logger)
}

// work runs the manager until ctx ends or the namespaces change.
func work(ctx context.Context, mgr ctrl.Manager, namespaces *scope.Scope, settled []string, logger logr.Logger) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	change := make(chan error, 1)
	go func() {
		change <- namespaces.Watch(ctx, settled)
		cancel()
	}()
	if err := mgr.Start(ctx); err != nil {
		return fmt.Errorf("running the controllers: %w", err)
	}
	cancel()
	err := <-change
	if errors.Is(err, scope.ErrGained) {
		logger.Info("ending, to be started again with one more namespace", "reason", err.Error())
		return nil
	}
	return err
}

func kubeConfig(o options) (*rest.Config, error) {
	config, err := ctrl.GetConfig()
	if err != nil {
		return nil, fmt.Errorf("finding the Kubernetes API: set --kubeconfig or KUBECONFIG, or run in a cluster: %w", err)
	}
	config.UserAgent = userAgent()
	if o.kubeQPS > 0 {
		config.QPS, config.Burst = float32(o.kubeQPS), max(o.kubeBurst, 1)
	}
	return config, nil
}

// userAgent introduces the operator to the Kubernetes API and to providers.
func userAgent() string { return "vmoperator/" + version }
