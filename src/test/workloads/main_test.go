package workloads

import (
	"context"
	"errors"
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

const (
	// startPatience is for the first run, which may build the control plane.
	startPatience = 30 * time.Minute
	crds          = "../../../charts/vmoperator/files/crds"
)

var (
	// plane collects garbage, and makes no Pods: the tests say how a Deployment's are.
	plane  *controlplane.ControlPlane
	scheme = runtime.NewScheme()
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
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), exampleappsv1.AddToScheme(scheme)); err != nil {
		return 1, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), startPatience)
	defer cancel()
	plane, err = controlplane.Start(ctx, controlplane.Options{CRDPaths: []string{crds}, ControllerManager: true})
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, plane.Stop()) }()
	return m.Run(), nil
}
