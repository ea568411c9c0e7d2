package orphan_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/test/controlplane"
)

const (
	// startPatience is for a loaded machine, and for the first run that builds the
	// control plane's executables.
	startPatience = 30 * time.Minute
	// patience is the same for a step; no test that passes waits for it.
	patience = time.Minute
)

var (
	// first is the cluster of all tests.
	first  *cluster
	scheme = runtime.NewScheme()
)

// cluster is an apiserver.
type cluster struct {
	config *rest.Config
	// kube reads and writes past every cache, as a user does.
	kube client.Client
	stop func() error
}

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	logs := io.Discard
	if os.Getenv("VERBOSE") != "" {
		logs = os.Stderr
	}
	ctrl.SetLogger(zap.New(zap.WriteTo(logs)))
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, computev1.AddToScheme, corev1.AddToScheme} {
		if err := add(scheme); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	var err error
	if first, err = startCluster(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() {
		if err := first.stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}()
	return m.Run()
}

func startCluster() (*cluster, error) {
	ctx, cancel := context.WithTimeout(context.Background(), startPatience)
	defer cancel()
	plane, err := controlplane.Start(ctx, controlplane.Options{CRDPaths: []string{"../../../charts/vmoperator/files/crds"}})
	if err != nil {
		return nil, err
	}
	kube, err := client.New(plane.Config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, err
	}
	return &cluster{config: plane.Config, kube: kube, stop: plane.Stop}, nil
}
