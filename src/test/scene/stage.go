package scene

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/test/controlplane"
)

// root is the module's, from the folder of a package of tests.
const root = "../../.."

// Stage is what all scenes of a package share.
type Stage struct {
	// Plane is a control plane with the operator's kinds.
	Plane *controlplane.ControlPlane
	// Kube may do everything there.
	Kube client.Client
	// Executable is the path of the operator's.
	Executable string

	dir string
}

// Open builds the operator, with further flags of go build, and starts a control
// plane. The working folder is that of a package of src/test.
func Open(ctx context.Context, buildFlags ...string) (*Stage, error) {
	dir, err := os.MkdirTemp("", "vmoperator-scene-")
	if err != nil {
		return nil, err
	}
	s := &Stage{dir: dir, Executable: filepath.Join(dir, "vmoperator")}
	if err := s.open(ctx, buildFlags); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Stage) open(ctx context.Context, buildFlags []string) error {
	args := append(append([]string{"build"}, buildFlags...), "-o", s.Executable, "./src/cmd/manager")
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir = root
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("building the operator: %w\n%s", err, out)
	}
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), computev1.AddToScheme(scheme)); err != nil {
		return err
	}
	var err error
	s.Plane, err = controlplane.Start(ctx, controlplane.Options{
		CRDPaths: []string{filepath.Join(root, "charts", "vmoperator", "files", "crds")}, ControllerManager: true,
	})
	if err != nil {
		return err
	}
	s.Kube, err = client.New(s.Plane.Config, client.Options{Scheme: scheme})
	return err
}

// Close ends the control plane and removes what was built.
func (s *Stage) Close() error {
	defer os.RemoveAll(s.dir)
	if s.Plane == nil {
		return nil
	}
	return s.Plane.Stop()
}
