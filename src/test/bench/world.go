package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/test/controlplane"
)

const crds = "charts/vmoperator/files/crds"

// world is what all measurements share.
type world struct {
	dir      string
	progress io.Writer
	plane    *controlplane.ControlPlane
	scheme   *runtime.Scheme
	// client reads and writes at the apiserver, without a limit.
	client client.Client
	// seen is a cache of what is measured.
	seen  cache.Cache
	audit *auditLog
	// users are those of the contenders, which share nothing but the control plane.
	users map[string]*rest.Config

	end     context.CancelFunc
	ended   chan error
	outputs []io.Closer
}

// startWorld starts all but the operator, or leaves nothing. Logs go to dir.
func startWorld(ctx context.Context, dir string, progress io.Writer) (*world, error) {
	w := &world{dir: dir, progress: progress, scheme: runtime.NewScheme(), users: map[string]*rest.Config{}}
	if err := errors.Join(clientgoscheme.AddToScheme(w.scheme), exampleappsv1.AddToScheme(w.scheme), computev1.AddToScheme(w.scheme)); err != nil {
		return nil, err
	}
	for _, start := range []func(context.Context) error{w.startControlPlane, w.startCache} {
		if err := start(ctx); err != nil {
			return nil, errors.Join(err, w.stop())
		}
	}
	return w, nil
}

func (w *world) startControlPlane(ctx context.Context) error {
	if err := os.MkdirAll(w.dir, 0o750); err != nil {
		return err
	}
	path, err := filepath.Abs(filepath.Join(w.dir, "audit.log"))
	if err != nil {
		return err
	}
	// kube-apiserver appends.
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	assets, err := controlplane.Assets(ctx, w.progress)
	if err != nil {
		return err
	}
	output, err := w.output("control-plane.log")
	if err != nil {
		return err
	}
	fmt.Fprintln(w.progress, "starting etcd and kube-apiserver")
	// Who was asked for is needed, and what was sent is not: the log costs as little as
	// it can.
	w.plane, err = controlplane.Start(ctx, controlplane.Options{
		AssetsDir: assets, CRDPaths: []string{crds}, AuditLog: path, AuditAll: true, Output: output,
	})
	if err != nil {
		return err
	}
	w.audit = newAuditLog(path)
	return nil
}

func (w *world) startCache(ctx context.Context) (err error) {
	if w.client, err = client.New(w.plane.Config, client.Options{Scheme: w.scheme}); err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	w.seen, err = cache.New(w.plane.Config, cache.Options{Scheme: w.scheme, DefaultTransform: cache.TransformStripManagedFields()})
	if err != nil {
		return fmt.Errorf("making a cache: %w", err)
	}
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	w.end, w.ended = end, make(chan error, 1)
	go func() { w.ended <- w.seen.Start(life) }()
	for _, kind := range []client.Object{
		&exampleappsv1.AppAutoscaler{}, &computev1.VirtualMachine{}, &computev1.ProviderConfig{}, secretMeta(), serviceMeta(),
	} {
		if _, err := w.seen.GetInformer(ctx, kind); err != nil {
			return fmt.Errorf("watching %T: %w", kind, err)
		}
	}
	return startStandIn(life, w.client, w.seen)
}

// namespace makes one that nothing is in.
func (w *world) namespace(ctx context.Context, name string) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if err := w.client.Create(ctx, namespace); err != nil {
		return fmt.Errorf("making the namespace: %w", err)
	}
	return nil
}

func (w *world) output(name string) (*os.File, error) {
	file, err := os.Create(filepath.Join(w.dir, name))
	if err != nil {
		return nil, err
	}
	w.outputs = append(w.outputs, file)
	return file, nil
}

func (w *world) stop() error {
	var errs []error
	if w.end != nil {
		w.end()
		errs = append(errs, <-w.ended)
	}
	if w.plane != nil {
		errs = append(errs, w.plane.Stop())
	}
	for _, output := range w.outputs {
		errs = append(errs, output.Close())
	}
	return errors.Join(errs...)
}
