package appautoscaler_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	"github.com/example/vmoperator/src/test/controlplane"
)

// startPatience is for a loaded machine, and for the first run that builds the
// control plane's executables.
const startPatience = 30 * time.Minute

var (
	plane  *controlplane.ControlPlane
	scheme = runtime.NewScheme()
)

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, exampleappsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			panic(err)
		}
	}
	ctrl.SetLogger(zap.New(zap.WriteTo(os.Stderr), zap.UseDevMode(os.Getenv("VERBOSE") != "")))
	flag.Parse()
	if !controlplane.Needed() {
		return m.Run()
	}
	ctx, cancel := context.WithTimeout(context.Background(), startPatience)
	defer cancel()
	var err error
	// The controller manager makes ReplicaSets and Pods of Deployments, and collects
	// what has lost its owner.
	plane, err = controlplane.Start(ctx, controlplane.Options{
		CRDPaths:          []string{"../../../charts/vmoperator/files/crds"},
		ControllerManager: true,
		Workloads:         true,
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() {
		if err := plane.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}()
	return m.Run()
}
