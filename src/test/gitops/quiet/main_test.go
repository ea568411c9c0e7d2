package quiet

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
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/vmoperator/src/test/controlplane"
)

const (
	// root is the repository's, from this package's folder.
	root = "../../../.."
	// startPatience is for the first run, which may build the control plane.
	startPatience = 30 * time.Minute
)

// What all tests share.
var (
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
	dir, err := os.MkdirTemp("", "vmoperator-quiet-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	executable = filepath.Join(dir, "vmoperator")
	command := exec.CommandContext(ctx, "go", "build", "-o", executable, "./src/cmd/manager")
	command.Dir = root
	if out, err := command.CombinedOutput(); err != nil {
		return 1, fmt.Errorf("building the operator: %w\n%s", err, out)
	}
	plane, err = controlplane.Start(ctx, controlplane.Options{
		CRDPaths: []string{filepath.Join(root, "charts", "vmoperator", "files", "crds")}, ControllerManager: true, Workloads: true,
	})
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, plane.Stop()) }()
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return 1, err
	}
	if kube, err = client.New(plane.Config, client.Options{Scheme: scheme}); err != nil {
		return 1, err
	}
	return m.Run(), nil
}
