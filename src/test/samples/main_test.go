package samples

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-logr/logr"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/test/controlplane"
)

const (
	// startPatience is for the first run, which may build the control plane.
	startPatience = 30 * time.Minute

	root    = "../../.."
	crds    = root + "/charts/vmoperator/files/crds"
	samples = root + "/docs/samples"

	// namespace is the one that the samples name.
	namespace = "default"
)

var (
	// plane has the controllers that make Pods; that these run, the tests say.
	plane      *controlplane.ControlPlane
	kube       client.Client
	executable string
)

func TestMain(m *testing.M) {
	flag.Parse()
	ctrl.SetLogger(logr.Discard())
	status, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		status = 1
	}
	os.Exit(status)
}

func runTests(m *testing.M) (status int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), startPatience)
	defer cancel()
	dir, err := os.MkdirTemp("", "vmoperator-samples-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	executable = filepath.Join(dir, "vmoperator")
	build := exec.CommandContext(ctx, "go", "build", "-o", executable, "./src/cmd/manager")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return 1, fmt.Errorf("building the operator: %w\n%s", err, out)
	}
	plane, err = controlplane.Start(ctx, controlplane.Options{CRDPaths: []string{crds}, ControllerManager: true, Workloads: true})
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, plane.Stop()) }()
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), apiextensionsv1.AddToScheme(scheme),
		computev1.AddToScheme(scheme), exampleappsv1.AddToScheme(scheme)); err != nil {
		return 1, err
	}
	if kube, err = client.New(plane.Config, client.Options{Scheme: scheme}); err != nil {
		return 1, err
	}
	return m.Run(), nil
}
