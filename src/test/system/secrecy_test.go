package system

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/test/builders"
	"github.com/example/vmoperator/src/test/system/leak"
)

const (
	// marker begins every API key in these tests.
	marker = "MARKER-7f3a9c51"
	apiKey = marker + "-first"
)

// evidence is what processes printed and measured during all tests.
type evidence struct {
	mu    sync.Mutex
	texts map[string]*text
}

type text struct {
	mu      sync.Mutex
	content bytes.Buffer
}

// Write implements io.Writer.
func (t *text) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.content.Write(p)
}

func (t *text) bytes() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.content.Bytes())
}

// of is where to write what belongs to a name, such as "the log of operator 1".
func (e *evidence) of(name string) io.Writer {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.texts[name] == nil {
		e.texts[name] = &text{}
	}
	return e.texts[name]
}

// check fails if the marker is anywhere in the evidence, in what was ever written
// to the apiserver, or in any object that is there now.
func (e *evidence) check(ctx context.Context) error {
	finder, err := leak.NewFinder(marker)
	if err != nil {
		return err
	}
	found, _, err := finder.Objects(ctx, plane.Config)
	if err != nil {
		return err
	}
	writes, err := os.ReadFile(auditLog)
	if err != nil {
		return err
	}
	if form := finder.In(writes); form != "" {
		found = append(found, "a write to the apiserver ("+form+")")
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for name, text := range e.texts {
		if form := finder.In(text.bytes()); form != "" {
			found = append(found, name+" ("+form+")")
		}
	}
	if len(found) > 0 {
		return fmt.Errorf("the API key is in:\n\t%s", strings.Join(found, "\n\t"))
	}
	return nil
}

// What check relies on is tried for every place where a key could come to light:
// a check that finds nothing must not be one that looks nowhere.
func TestAKeyThatComesToLightIsFound(t *testing.T) {
	place := namespace(t)
	// It stays where it came to light, so it must not be that of an earlier run.
	key := "another-key-of-" + place + "-only"
	finder, err := leak.NewFinder(key)
	if err != nil {
		t.Fatal(err)
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: place, Name: "holder"}, StringData: map[string]string{computev1.APIKeyKey: key}}
	create(t, secret)
	found, looked, err := finder.Objects(t.Context(), plane.Config)
	if err != nil || len(found) > 0 || looked == 0 {
		t.Fatalf("found in %v of %d objects, %v; want nothing but the Secret that holds it", found, looked, err)
	}

	secret.Annotations = map[string]string{"note": key}
	update(t, secret)
	vm := builders.VirtualMachine(place, "vm")
	create(t, vm)
	vm.Status.Conditions = []metav1.Condition{{
		Type: "Ready", Status: "False", Reason: "Leak", Message: "refused: Bearer " + key, LastTransitionTime: metav1.Now(),
	}}
	if err := kube.Status().Update(t.Context(), vm); err != nil {
		t.Fatal(err)
	}
	create(t, &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Namespace: place, Name: "event"},
		InvolvedObject: corev1.ObjectReference{Namespace: place, Name: "vm"}, Message: key,
	})
	found, _, err = finder.Objects(t.Context(), plane.Config)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"/v1, Resource=secrets " + place + "/holder", "Resource=virtualmachines " + place + "/vm",
		"/v1, Resource=events " + place + "/event", "events.k8s.io/v1, Resource=events " + place + "/event",
	} {
		if !slices.ContainsFunc(found, func(place string) bool { return strings.Contains(place, want) }) {
			t.Errorf("not found in %s, but in %v", want, found)
		}
	}
}

func TestAKeyThatIsPrintedIsFound(t *testing.T) {
	e := evidence{texts: map[string]*text{}}
	fmt.Fprint(e.of("the log of operator 1"), "nothing")
	if err := e.check(t.Context()); err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(e.of("the log of operator 1"), `{"error":"401 for Bearer `+apiKey+`"}`)
	if err := e.check(t.Context()); err == nil || !strings.Contains(err.Error(), "the log of operator 1 (plain)") {
		t.Errorf("got %v", err)
	}
}
