package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/test/controlplane"
	"github.com/example/vmoperator/src/test/mockprovider"
)

const (
	crds = "charts/vmoperator/files/crds"
	// namespace is the one that the operator works in.
	namespace = "default"
)

// errLeft means that something may still run.
var errLeft = errors.New("not everything could be stopped")

// plan says how a world is started.
type plan struct {
	// dir gets logs and what else is written.
	dir string
	// providerPort is the mock provider's if it is free, and else another.
	providerPort int
	// providerFlags are further flags of the mock provider.
	providerFlags []string
}

// world is all that runs: control plane, mock provider and operator.
type world struct {
	plan     plan
	screen   *screen
	kubectl  kubectl
	client   client.Client
	plane    *controlplane.ControlPlane
	provider *mockprovider.Provider
	operator *operator
	logs     []io.Closer
}

// startWorld starts all, or leaves nothing.
func startWorld(ctx context.Context, screen *screen, plan plan) (*world, error) {
	w := &world{plan: plan, screen: screen}
	for _, part := range []struct {
		name  string
		start func(context.Context) error
	}{
		{"control plane", w.startControlPlane},
		{"mock provider", w.startProvider},
		{"operator", w.startOperator},
	} {
		if err := part.start(ctx); err != nil {
			return nil, errors.Join(fmt.Errorf("starting the %s: %w", part.name, err), w.stop())
		}
	}
	return w, nil
}

func (w *world) path(name string) string { return filepath.Join(w.plan.dir, name) }

func (w *world) startControlPlane(ctx context.Context) error {
	// Found or built before the clock starts: it tells of itself what it does.
	assets, err := controlplane.CompleteAssets(ctx, w.screen.out)
	if err != nil {
		return err
	}
	log, err := w.log("control-plane.log")
	if err != nil {
		return err
	}
	if err := w.screen.during(ctx, "etcd, kube-apiserver and kube-controller-manager", func(ctx context.Context) error {
		w.plane, err = controlplane.Start(ctx, controlplane.Options{
			AssetsDir: assets, CRDPaths: []string{crds}, ControllerManager: true, Workloads: true, Output: log,
		})
		return err
	}); err != nil {
		return err
	}
	w.kubectl = kubectl{
		path: w.plane.Kubectl(), kubeconfig: w.path("kubeconfig"), cacheDir: w.path("kubectl-cache"), screen: w.screen,
	}
	if err := w.plane.WriteKubeconfig(w.kubectl.kubeconfig); err != nil {
		return err
	}
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), computev1.AddToScheme(scheme), exampleappsv1.AddToScheme(scheme)); err != nil {
		return err
	}
	w.client, err = client.New(w.plane.Config, client.Options{Scheme: scheme})
	return err
}

func (w *world) startProvider(ctx context.Context) error {
	log, err := w.log("provider.log")
	if err != nil {
		return err
	}
	data := w.path("provider.db")
	// What an earlier run left is not this provider's.
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(data + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return w.screen.during(ctx, "the mock provider", func(ctx context.Context) error {
		w.provider, err = mockprovider.Start(ctx, mockprovider.Options{
			Args:   append([]string{"--data", data, "--enable-faults"}, w.plan.providerFlags...),
			Port:   portIfFree(ctx, w.plan.providerPort),
			Output: log,
		})
		return err
	})
}

func (w *world) startOperator(ctx context.Context) error {
	return w.screen.during(ctx, "the operator", func(ctx context.Context) (err error) {
		w.operator, err = startOperator(ctx, w.kubectl.kubeconfig, w.path("operator.log"))
		return err
	})
}

// stop ends what runs, the operator first: it needs the others to end in order.
func (w *world) stop() error {
	var errs []error
	if w.operator != nil {
		errs = append(errs, w.operator.stop())
	}
	if w.provider != nil {
		errs = append(errs, w.provider.Stop())
	}
	if w.plane != nil {
		errs = append(errs, w.plane.Stop())
	}
	for _, log := range w.logs {
		errs = append(errs, log.Close())
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("%w: %w", errLeft, err)
	}
	return nil
}

func (w *world) log(name string) (io.Writer, error) {
	file, err := os.Create(w.path(name))
	if err != nil {
		return nil, err
	}
	w.logs = append(w.logs, file)
	return file, nil
}

// portIfFree is 0, for any other, when somebody listens on the port.
func portIfFree(ctx context.Context, port int) int {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return 0
	}
	_ = listener.Close() // it has served its purpose
	return port
}
