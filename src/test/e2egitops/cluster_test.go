//go:build e2e

package e2egitops

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	computev1 "github.com/example/vmoperator/src/api/compute/v1"
)

const (
	// patience is how long anything may take on a loaded machine.
	patience = 10 * time.Minute
	interval = 500 * time.Millisecond

	argoCD            = "argocd"
	operatorNamespace = "vmoperator-system"
	namespace         = "vms"
	images            = "registry.example.com/"
	version           = "v0.1.0"
	// applicationImage stands in for those of the applications.
	applicationImage = images + "order-service:1.2.0"
)

var applicationKind = schema.GroupVersionKind{Group: "argoproj.io", Version: "v1alpha1", Kind: "Application"}

// connect is a client of the cluster of KUBECONFIG.
func connect(t *testing.T) client.Client {
	t.Helper()
	log.SetLogger(zap.New())
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		t.Fatalf("KUBECONFIG must name a cluster for tests: see make e2e-gitops: %v", err)
	}
	kinds := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, computev1.AddToScheme, exampleappsv1.AddToScheme} {
		if err := add(kinds); err != nil {
			t.Fatal(err)
		}
	}
	kube, err := client.New(config, client.Options{Scheme: kinds})
	if err != nil {
		t.Fatal(err)
	}
	return kube
}

// buildImages builds the images of the operator, of the mock provider and of the
// applications, and brings them to the nodes.
func buildImages(t *testing.T) {
	t.Helper()
	command := strings.Fields(os.Getenv("E2E_IMAGE"))
	if len(command) == 0 {
		t.Fatal("E2E_IMAGE must be a command that builds an image and loads it into the cluster: see make e2e-gitops")
	}
	for image, dir := range map[string]string{
		images + "vmoperator:" + version:               root,
		images + "vmoperator-mock-provider:" + version: root + "/mockprovider",
		applicationImage:                               root + "/src/test/e2e/orderservice",
	} {
		run(t, "", command[0], append(command[1:], image, absolute(t, dir))...)
	}
}

// waitFor waits until missing returns an empty string: it says what is missing.
func waitFor(ctx context.Context, t *testing.T, missing func(context.Context) string) {
	t.Helper()
	last := ""
	err := wait.PollUntilContextTimeout(ctx, interval, patience, true, func(ctx context.Context) (bool, error) {
		last = missing(ctx)
		return last == "", nil
	})
	if err != nil {
		t.Fatalf("%v: %s", err, last)
	}
}

// application reads an Application; nil if there is none.
func application(ctx context.Context, kube client.Client, name string) (*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(applicationKind)
	err := kube.Get(ctx, client.ObjectKey{Namespace: argoCD, Name: name}, object)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading the Application %s: %w", name, err)
	}
	return object, nil
}

// unsettled says what an Application lacks to be Synced at a revision, and Healthy.
func unsettled(ctx context.Context, kube client.Client, name, revision string) string {
	object, err := application(ctx, kube, name)
	if err != nil {
		return err.Error()
	}
	if object == nil {
		return "there is no Application " + name
	}
	text := func(fields ...string) string {
		value, _, err := unstructured.NestedString(object.Object, append([]string{"status"}, fields...)...)
		if err != nil {
			return err.Error()
		}
		return value
	}
	if text("sync", "status") == "Synced" && text("health", "status") == "Healthy" && text("sync", "revision") == revision {
		return ""
	}
	conditions, _, err := unstructured.NestedSlice(object.Object, "status", "conditions")
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("Application %s is %s and %s at %s, not at %s: %s %v", name, text("sync", "status"), text("health", "status"),
		text("sync", "revision"), revision, text("operationState", "message"), conditions)
}
