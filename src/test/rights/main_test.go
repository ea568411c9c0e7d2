package rights

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

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/test/controlplane"
)

// startPatience is for the first run, which may build the control plane.
const startPatience = 30 * time.Minute

// What all tests share.
var (
	plane      *controlplane.ControlPlane
	kube       client.Client
	executable string
	auditLog   string
)

func TestMain(m *testing.M) {
	flag.Parse()
	// What a client of the tests' own logs is noise, and a logger that is missing is more of it.
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
	dir, err := os.MkdirTemp("", "vmoperator-rights-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	executable, auditLog = filepath.Join(dir, "vmoperator"), filepath.Join(dir, "audit")
	command := exec.CommandContext(ctx, "go", "build", "-o", executable, "./src/cmd/manager")
	command.Dir = root
	if out, err := command.CombinedOutput(); err != nil {
		return 1, fmt.Errorf("building the operator: %w\n%s", err, out)
	}
	crds := filepath.Join(root, "charts", "vmoperator", "files", "crds")
	plane, err = controlplane.Start(ctx, controlplane.Options{
		CRDPaths: []string{crds}, ControllerManager: true, Workloads: true, AuditLog: auditLog, AuditAll: true,
	})
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, plane.Stop()) }()
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), computev1.AddToScheme(scheme), exampleappsv1.AddToScheme(scheme)); err != nil {
		return 1, err
	}
	if kube, err = client.New(plane.Config, client.Options{Scheme: scheme}); err != nil {
		return 1, err
	}
	return m.Run(), nil
}
