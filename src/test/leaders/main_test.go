package leaders

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/vmoperator/src/test/controlplane"
	"github.com/example/vmoperator/src/test/scene"
)

const (
	// startPatience is for the first run, which may build the control plane.
	startPatience = 30 * time.Minute
	// parallel tests mostly wait, so a machine carries more of them than it has cores.
	parallel = "30"

	root = "../../.."
)

// What all tests share.
var (
	plane      *controlplane.ControlPlane
	kube       client.Client
	executable string
)

func TestMain(m *testing.M) {
	flag.Parse()
	// What a client of the tests' own logs is noise, and a logger that is missing is more of it.
	ctrl.SetLogger(logr.Discard())
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
	stage, err := scene.Open(ctx, buildFlags...)
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, stage.Close()) }()
	plane, kube, executable = stage.Plane, stage.Kube, stage.Executable
	return m.Run(), figures.write()
}
