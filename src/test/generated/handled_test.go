package generated

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/provider/fake"
)

// trial is one object that was sent.
type trial struct {
	what    string
	object  client.ObjectKey
	refused error
}

// Every value of every field is sent in an object of its own. What is refused must
// be explained; what is accepted must be handled, all of it at once.
func TestEveryGeneratedObjectIsHandledOrRefusedWithAReason(t *testing.T) {
	t.Parallel()
	for _, k := range []kind{virtualMachine, providerConfig} {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, fake.Options{Capabilities: fake.Full()})
			if k.name == virtualMachine.name {
				s.providerConfig(t, computev1.DefaultProviderConfig)
			}
			startOperator(t, s)
			trials := sendAll(t, k, s.namespace)
			checks := map[string]func(context.Context) string{}
			for _, each := range trials {
				if each.refused == nil {
					checks[each.what] = func(ctx context.Context) string { return handled(ctx, k.typed(), each.object) }
				}
			}
			t.Logf("seed %d: %d objects sent, %d accepted, %d refused", seed, len(trials), len(checks), len(trials)-len(checks))
			settle(t, checks)
		})
	}
}

// sendAll sends an object for each value of each field, and for odd values of the
// annotations that the operator reads.
func sendAll(t *testing.T, k kind, namespace string) []trial {
	t.Helper()
	var trials []trial
	to := wire(t)
	send := func(f *field, c candidate, d document) {
		name := fmt.Sprintf("%s-%d", "object", len(trials))
		body := k.encode(t, d, name)
		each := trial{
			what:   fmt.Sprintf("%s: %s", f.name(), c.what),
			object: client.ObjectKey{Namespace: namespace, Name: name}, refused: k.create(t, to, namespace, body),
		}
		trials = append(trials, each)
		if each.refused != nil {
			t.Run(each.what, func(t *testing.T) { wantHelpful(t, each.refused, body, f, k.schema()) })
		} else if !allowedBySchema(k.schema(), body) && !hasNull(body) {
			t.Errorf("%s: accepted, though the schema forbids it", each.what)
		}
	}
	for i, f := range k.fields() {
		for _, c := range candidatesOf(&f.schema, seed+i) {
			send(&f, c, k.minimal().with(f.path, c.json))
		}
	}
	for _, annotation := range annotations {
		f := field{path: []string{"metadata", "annotations", annotation}}
		for _, c := range notes {
			send(&f, c, k.minimal().with(f.path, c.json))
		}
	}
	return trials
}

// annotations are those that users and the operator write.
var annotations = []string{
	computev1.PausedAnnotation, computev1.TakeOverIDAnnotation, computev1.ConfirmNotCreatedAnnotation, computev1.RestoredAnnotation,
	computev1.ReleaseAnnotation, computev1.AllowEndpointChangeAnnotation, computev1.CreateIntentAnnotation,
}

var notes = []candidate{
	text("an empty string", ""), text("true", "true"), text("capitals", "TRUE"), text("NUL", "\x00"), text("right to left", "\u202e"),
	text("a path", "../../vms"), text("an id", "vm-1"), text("no record", "{}"), text("half a record", `{"key":`),
	text("a key", "5f0c/1"), text("a value that a person would try", "MakeNew"), text("a record of another object", `{"object":"a/b","key":"c/1"}`),
}

// hasNull reports whether a null stands in an object: one in a field that has a
// default is taken for an absent field.
func hasNull(body []byte) bool {
	var has func(any) bool
	has = func(value any) bool {
		switch value := value.(type) {
		case nil:
			return true
		case map[string]any:
			return slices.ContainsFunc(slices.Collect(maps.Values(value)), has)
		case []any:
			return slices.ContainsFunc(value, has)
		}
		return false
	}
	var object any
	return json.Unmarshal(body, &object) == nil && has(object)
}

// handled says what is missing until the controllers have said, for the present
// spec, how an object is, in conditions that a user can read.
func handled(ctx context.Context, object client.Object, key client.ObjectKey) string {
	if err := kube.Get(ctx, key, object); err != nil {
		return shortly(err)
	}
	conditions, verdict := conditionsOf(object)
	got := meta.FindStatusCondition(conditions, verdict)
	switch {
	case got == nil:
		return "has no condition " + verdict
	case got.ObservedGeneration != object.GetGeneration():
		return fmt.Sprintf("%s is of generation %d", verdict, got.ObservedGeneration)
	case got.Reason == computev1.ReasonProbing, got.Reason == computev1.ReasonCreating:
		return "is still being worked on: " + got.Reason
	}
	return ""
}

// conditionsOf are an object's conditions, and the one that says how it is.
func conditionsOf(object client.Object) (conditions []metav1.Condition, verdict string) {
	switch object := object.(type) {
	case *computev1.VirtualMachine:
		return object.Status.Conditions, computev1.ConditionSynced
	case *computev1.ProviderConfig:
		return object.Status.Conditions, computev1.ConditionReady
	}
	return nil, ""
}
