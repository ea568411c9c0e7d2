package leaders

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

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/test/controlplane"
	"github.com/example/vmoperator/src/test/mockprovider"
)

const (
	// startPatience is for the first run, which may build the control plane.
	startPatience = 30 * time.Minute
	// parallel tests mostly wait, so a machine carries more of them than it has cores.
	parallel = "30"

	root = "../../.."
	crds = root + "/charts/vmoperator/files/crds"
)

// What all tests share.
var (
	plane      *controlplane.ControlPlane
	kube       client.Client
	executable string
)

func TestMain(m *testing.M) {
	flag.Parse()
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
	dir, err := os.MkdirTemp("", "vmoperator-leaders-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	if err := build(ctx, dir); err != nil {
		return 1, err
	}
	plane, err = controlplane.Start(ctx, controlplane.Options{CRDPaths: []string{crds}, ControllerManager: true})
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, plane.Stop()) }()
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), computev1.AddToScheme(scheme)); err != nil {
		return 1, err
	}
	if kube, err = client.New(plane.Config, client.Options{Scheme: scheme}); err != nil {
		return 1, err
	}
	return m.Run(), figures.write()
}

// build makes the operator, once for all tests.
func build(ctx context.Context, dir string) error {
	executable = filepath.Join(dir, "vmoperator")
	args := append(append([]string{"build"}, buildFlags...), "-o", executable, "./src/cmd/manager")
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir = root
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("building the operator: %w\n%s", err, out)
	}
	return nil
}

func namespace(t *testing.T) string {
	t.Helper()
	made := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "leaders-"}}
	create(t, made)
	return made.Name
}

func create(t *testing.T, object client.Object) {
	t.Helper()
	if err := kube.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
}

func startProvider(t *testing.T, args ...string) *mockprovider.Provider {
	t.Helper()
	p, err := mockprovider.Start(t.Context(), mockprovider.Options{
		Args: append([]string{"--enable-faults", "--provision-seconds=0"}, args...),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
	})
	return p
}
