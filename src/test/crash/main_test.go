package crash

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
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/test/controlplane"
)

const (
	// startPatience is for the first run, which may build the control plane.
	startPatience = 30 * time.Minute
	// parallel points mostly wait, so a machine carries more of them than it has cores.
	parallel = "16"

	root = "../../.."
	crds = root + "/charts/vmoperator/files/crds"
)

// everything is set by make crash.
var everything = flag.Bool("crash.all", false, "try the points of every scenario, and the planted faults")

// What all points share.
var (
	plane *controlplane.ControlPlane
	kube  client.WithWatch
	// executable is the operator as it is.
	executable string
	// buildDir has the executables.
	buildDir string
)

func TestMain(m *testing.M) {
	flag.Parse()
	// What happened is in the calls; what a client of the tests' own logs is noise.
	ctrl.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	if err := flag.Set("test.parallel", parallel); err != nil {
		panic(err)
	}
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
	if buildDir, err = os.MkdirTemp("", "vmoperator-crash-"); err != nil {
		return 1, err
	}
	defer os.RemoveAll(buildDir)
	executable = filepath.Join(buildDir, "vmoperator")
	if err := build(ctx, executable); err != nil {
		return 1, err
	}
	plane, err = controlplane.Start(ctx, controlplane.Options{CRDPaths: []string{crds}, ControllerManager: true})
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, plane.Stop()) }()
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), computev1.AddToScheme(scheme), exampleappsv1.AddToScheme(scheme)); err != nil {
		return 1, err
	}
	if kube, err = client.NewWithWatch(plane.Config, client.Options{Scheme: scheme}); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

// build makes the operator, without the race detector: hundreds of processes of it
// are started.
func build(ctx context.Context, path string, flags ...string) error {
	args := append(append([]string{"build"}, flags...), "-o", path, "./src/cmd/manager")
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir = root
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("building the operator: %w\n%s", err, out)
	}
	return nil
}
