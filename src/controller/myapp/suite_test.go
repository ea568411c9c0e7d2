package myapp_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	"github.com/example/vmoperator/src/test/controlplane"
)

// startPatience is for a loaded machine, and for the first run that builds the
// control plane's executables.
const startPatience = 30 * time.Minute

var (
	// plane is the one control plane of this package. It collects garbage, and makes no
	// Pods: the tests say how a Deployment's are.
	plane  *controlplane.ControlPlane
	scheme = runtime.NewScheme()
)

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	ctrl.SetLogger(logr.Discard())
	flag.Parse()
	if !controlplane.Needed() {
		return m.Run()
	}
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, exampleappsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), startPatience)
	defer cancel()
	var err error
	plane, err = controlplane.Start(ctx, controlplane.Options{
		CRDPaths: []string{"../../../charts/vmoperator/files/crds"}, ControllerManager: true,
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
