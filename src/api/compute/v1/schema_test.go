package v1_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
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
	if kube, err = newClient(config); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

func newClient(config *rest.Config) (client.WithWatch, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{computev1.AddToScheme, apiextensionsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	return client.NewWithWatch(config, client.Options{Scheme: scheme})
}

// rule is one rule or bound of a schema with a value on either side of it.
type rule struct {
	// schema is the rule's place as rulesOf names it: the field's path, then the
	// keyword.
	schema string
	// accepted and refused are values of the field.
	accepted, refused any
	// message is what a user who gave the refused value reads.
	message string
	// at is where the values go. Empty means the path in schema, or the list that
	// it leads into.
	at string
	// from is what the field held before, if the rule is about a change.
	from any
}

// try is a rule about a new object.
func try(schema string, accepted, refused any, message string) rule {
	return rule{schema: schema, accepted: accepted, refused: refused, message: message}
}

// in puts the values into another field than the one that the rule is about.
func (r rule) in(field string) rule {
	r.at = field
	return r
}

// after makes the rule one about a change.
func (r rule) after(value any) rule {
	r.from = value
	return r
}

// absent as a value leaves the field out.
type absent struct{}

// with returns a copy of an object that has the value in the rule's field.
func (r rule) with(t *testing.T, object *unstructured.Unstructured, value any) *unstructured.Unstructured {
	t.Helper()
	path := r.at
	if path == "" {
		path, _, _ = strings.Cut(r.schema, " ")
		path, _, _ = strings.Cut(path, "[]")
	}
	field := strings.Split(path, ".")
	object = object.DeepCopy()
	if _, without := value.(absent); without {
		unstructured.RemoveNestedField(object.Object, field...)
		return object
	}
	if err := unstructured.SetNestedField(object.Object, value, field...); err != nil {
		t.Fatal(err)
	}
	return object
}

// check tries both values. Neither is stored.
func (r rule) check(t *testing.T, object *unstructured.Unstructured) {
	t.Helper()
	dryRun := []string{metav1.DryRunAll}
	send := func(object *unstructured.Unstructured) error {
		return kube.Create(t.Context(), object, client.DryRunAll)
	}
	switch {
	case r.from != nil:
		object = create(t, r.with(t, object, r.from))
		send = func(object *unstructured.Unstructured) error {
			return kube.Update(t.Context(), object, client.DryRunAll)
		}
	case strings.HasPrefix(r.schema, "status."):
		object = create(t, object)
		send = func(object *unstructured.Unstructured) error {
			options := client.SubResourceUpdateOptions{UpdateOptions: client.UpdateOptions{DryRun: dryRun}}
			return kube.Status().Update(t.Context(), object, &options)
		}
	}
	if err := send(r.with(t, object, r.accepted)); err != nil {
		t.Errorf("%v was refused: %v", brief(r.accepted), err)
	}
	wantRefusal(t, send(r.with(t, object, r.refused)), r.message)
}

func wantRefusal(t *testing.T, err error, message string) {
	t.Helper()
	switch {
	case err == nil:
		t.Errorf("was accepted; want a refusal that says %q", message)
	case !strings.Contains(err.Error(), message):
		t.Errorf("the user reads %q; want %q", err, message)
	case strings.Contains(err.Error(), "no such overload"), strings.Contains(err.Error(), "evaluation error"):
		t.Errorf("the user reads of a rule that failed, not of the value: %v", err)
	}
}

func brief(value any) string {
	if text := fmt.Sprint(value); len(text) < 100 {
		return text
	}
	return "a long value"
}

func object(kind string, spec map[string]any) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	u.SetGroupVersionKind(computev1.GroupVersion.WithKind(kind))
	u.SetNamespace("default")
	u.SetGenerateName("schema-")
	return u
}

// create stores an object until the test ends.
func create(t *testing.T, object *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	stored := object.DeepCopy()
	if err := kube.Create(t.Context(), stored); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := kube.Delete(context.WithoutCancel(t.Context()), stored); err != nil {
			t.Error(err)
		}
	})
	return stored
}

// nested returns a field's value, or nil.
func nested(t *testing.T, object *unstructured.Unstructured, path string) any {
	t.Helper()
	value, _, err := unstructured.NestedFieldNoCopy(object.Object, strings.Split(path, ".")...)
	if err != nil {
		t.Fatal(err)
	}
	return value
}
