package quiet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/fake"
	"github.com/example/vmoperator/src/provider/fake/wire"
	"github.com/example/vmoperator/src/test/operator"
)

const (
	patience = 2 * time.Minute
	interval = 200 * time.Millisecond
	// argoCD is the field manager of Argo CD's server-side applies.
	argoCD = "argocd-controller"
)

func TestWhatTheOperatorWritesIsNoDifferenceToArgoCD(t *testing.T) {
	objects := deliver(t)
	for _, object := range objects {
		t.Run(object.GetKind()+" "+object.GetName(), func(t *testing.T) {
			waitFor(t, func(ctx context.Context) string { return unfinished(ctx, object) })
			waitFor(t, func(ctx context.Context) string { return difference(ctx, object) })
		})
	}
}

// With managedFieldsManagers, Argo CD ignores what the operator has set last, and
// this must be all that it is to leave alone.
func TestTheOperatorOwnsOfADeploymentInGitWhatItsAppAutoscalerDeclares(t *testing.T) {
	objects := deliver(t)
	deployment := objects[slices.IndexFunc(objects, func(o *unstructured.Unstructured) bool { return o.GetKind() == "Deployment" })]
	waitFor(t, func(ctx context.Context) string {
		live, err := read(ctx, deployment)
		if err != nil {
			return err.Error()
		}
		for _, entry := range live.GetManagedFields() {
			if entry.Manager == "vmoperator" && entry.Subresource == "" {
				return cmp.Diff(`{"f:spec":{"f:replicas":{}}}`, entry.FieldsV1.GetRawString())
			}
		}
		return "the operator owns nothing"
	})
}

// It is what ignoreDifferences is for.
func TestAFieldThatGitAndAnAppAutoscalerDeclareIsADifference(t *testing.T) {
	objects := deliver(t)
	deployment := objects[slices.IndexFunc(objects, func(o *unstructured.Unstructured) bool { return o.GetKind() == "Deployment" })]
	waitFor(t, func(ctx context.Context) string { return unfinished(ctx, deployment) })
	if err := unstructured.SetNestedField(deployment.Object, int64(1), "spec", "replicas"); err != nil {
		t.Fatal(err)
	}
	if found := difference(t.Context(), deployment); !strings.Contains(found, "replicas") {
		t.Errorf("the difference is %q", found)
	}
}

// deliver starts an operator in a namespace of its own, and applies the objects of
// the environment dev there, in their waves.
func deliver(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "quiet-"}}
	if err := kube.Create(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	vms := httptest.NewServer(wire.Handler(fake.New(fake.Options{Capabilities: fake.Full(), Phase: provider.PhaseRunning})))
	t.Cleanup(vms.Close)
	operator.Start(t, operator.Options{Executable: executable, Config: plane.Config, Args: []string{
		"--watch-namespaces=" + namespace.Name, "--allow-endpoint-cidrs=127.0.0.0/8",
	}})
	objects := inGit(t)
	slices.SortStableFunc(objects, func(a, b *unstructured.Unstructured) int { return strings.Compare(wave(a), wave(b)) })
	for _, object := range objects {
		object.SetNamespace(namespace.Name)
		if object.GetKind() == "ProviderConfig" {
			if err := unstructured.SetNestedField(object.Object, vms.URL, "spec", "endpoint"); err != nil {
				t.Fatal(err)
			}
		}
		if err := apply(t.Context(), object.DeepCopy()); err != nil {
			t.Fatal(err)
		}
	}
	return objects
}

func wave(object *unstructured.Unstructured) string {
	return object.GetAnnotations()["argocd.argoproj.io/sync-wave"]
}

// inGit are the objects of the environment dev.
func inGit(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "gitops", "environments", "dev", "objects", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("files %v, error %v", files, err)
	}
	var all []*unstructured.Unstructured
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096)
		for {
			object := &unstructured.Unstructured{}
			if err := decoder.Decode(&object.Object); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			all = append(all, object)
		}
	}
	return all
}

// apply applies an object as Argo CD does, and makes it what was applied.
func apply(ctx context.Context, object *unstructured.Unstructured, options ...client.ApplyOption) error {
	options = append(options, client.FieldOwner(argoCD), client.ForceOwnership)
	return kube.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), options...)
}

func read(ctx context.Context, object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(object.GroupVersionKind())
	err := kube.Get(ctx, client.ObjectKeyFromObject(object), live)
	return live, err
}

// unfinished says what the operator has yet to do to an object.
func unfinished(ctx context.Context, object *unstructured.Unstructured) string {
	live, err := read(ctx, object)
	if err != nil {
		return err.Error()
	}
	switch object.GetKind() {
	case "Secret":
		if len(live.GetFinalizers()) == 0 {
			return "the Secret is not used yet"
		}
	case "Deployment":
		if replicas, _, err := unstructured.NestedInt64(live.Object, "spec", "replicas"); err != nil || replicas != 2 {
			return fmt.Sprintf("%d replicas, error %v", replicas, err)
		}
	default:
		conditions, _, err := unstructured.NestedSlice(live.Object, "status", "conditions")
		if err != nil {
			return err.Error()
		}
		for _, each := range conditions {
			condition := each.(map[string]any)
			if condition["type"] == "Synced" && condition["status"] == "True" {
				return ""
			}
		}
		return fmt.Sprintf("not Synced: %v", conditions)
	}
	return ""
}

// difference is what another apply would change, by a dry run: Argo CD calls an
// object OutOfSync for it.
func difference(ctx context.Context, object *unstructured.Unstructured) string {
	live, err := read(ctx, object)
	if err != nil {
		return err.Error()
	}
	predicted := object.DeepCopy()
	if err := apply(ctx, predicted, client.DryRunAll); err != nil {
		return err.Error()
	}
	for _, each := range []*unstructured.Unstructured{live, predicted} {
		each.SetManagedFields(nil)
		each.SetResourceVersion("")
		delete(each.Object, "status")
	}
	return cmp.Diff(live.Object, predicted.Object)
}

func waitFor(t *testing.T, missing func(context.Context) string) {
	t.Helper()
	last := ""
	err := wait.PollUntilContextTimeout(t.Context(), interval, patience, true, func(ctx context.Context) (bool, error) {
		last = missing(ctx)
		return last == "", nil
	})
	if err != nil {
		t.Fatalf("%v: %s", err, last)
	}
}
