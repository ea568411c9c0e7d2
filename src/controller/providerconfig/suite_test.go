package providerconfig_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/test/controlplane"
)

// startPatience is for a loaded machine, and for the first run that builds the
// control plane's executables.
const startPatience = 30 * time.Minute

var (
	// restConfig is an administrator's, for the one control plane of this package.
	restConfig *rest.Config
	scheme     = runtime.NewScheme()
	// kube reads and writes past every cache, as a user does.
	kube client.Client
	// commonLogs is what speaks for no manager in particular.
	commonLogs = &buffer{}
)

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	ctrl.SetLogger(zap.New(zap.WriteTo(commonLogs), zap.Level(zapAll)))
	flag.Parse()
	if !controlplane.Needed() {
		return m.Run()
	}
	ctx, cancel := context.WithTimeout(context.Background(), startPatience)
	defer cancel()
	for _, add := range []func(*runtime.Scheme) error{computev1.AddToScheme, corev1.AddToScheme, eventsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	plane, err := controlplane.Start(ctx, controlplane.Options{CRDPaths: []string{"../../../charts/vmoperator/files/crds"}})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() {
		if err := plane.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}()
	restConfig = plane.Config
	if kube, err = client.New(restConfig, client.Options{Scheme: scheme}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}
