package v1_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/go-logr/logr"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	"github.com/example/vmoperator/src/test/controlplane"
)

// startPatience is for a loaded machine, and for the first run that builds the
// control plane's executables.
const startPatience = 30 * time.Minute

var (
	// config is an administrator's, for the one control plane of this package.
	config *rest.Config
	// kube is a client that may do everything.
	kube client.WithWatch
)

func TestMain(m *testing.M) {
	// What a client of the tests' own logs is noise, and a logger that is missing is more of it.
	ctrl.SetLogger(logr.Discard())
	os.Exit(run(m))
}

func run(m *testing.M) int {
	ctx, cancel := context.WithTimeout(context.Background(), startPatience)
	defer cancel()
	plane, err := controlplane.Start(ctx, controlplane.Options{
		CRDPaths: []string{"../../../../charts/vmoperator/files/crds"},
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
	config = plane.Config
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{exampleappsv1.AddToScheme, apiextensionsv1.AddToScheme, autoscalingv1.AddToScheme} {
		if err := add(scheme); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	if kube, err = client.NewWithWatch(config, client.Options{Scheme: scheme}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// object is a new object of one of the group's kinds.
func object(kind string, spec map[string]any) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	u.SetGroupVersionKind(exampleappsv1.GroupVersion.WithKind(kind))
	u.SetNamespace("default")
	u.SetGenerateName("schema-")
	return u
}
