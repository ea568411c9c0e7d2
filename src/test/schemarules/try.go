// Package schemarules tries the rules of a CRD's schema against a real apiserver:
// each with a value that is accepted, one that is refused, and what the user reads.
package schemarules

import (
	"context"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Rule is one rule or bound of a schema with a value on either side of it.
type Rule struct {
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

// Try is a rule about a new object: its place in the schema, a value on either
// side of it, and what a user who gave the refused one reads.
func Try(schema string, accepted, refused any, message string) Rule {
	return Rule{schema: schema, accepted: accepted, refused: refused, message: message}
}

// In puts the values into another field than the one that the rule is about.
func (r Rule) In(field string) Rule {
	r.at = field
	return r
}

// After makes the rule one about a change: value is what the field held before.
func (r Rule) After(value any) Rule {
	r.from = value
	return r
}

// Absent as a value leaves the field out.
type Absent struct{}

// With returns a copy of an object that has the value in the rule's field.
func (r Rule) With(t *testing.T, object *unstructured.Unstructured, value any) *unstructured.Unstructured {
	t.Helper()
	path := r.at
	if path == "" {
		path, _, _ = strings.Cut(r.schema, " ")
		path, _, _ = strings.Cut(path, "[]")
	}
	field := strings.Split(path, ".")
	object = object.DeepCopy()
	if _, without := value.(Absent); without {
		unstructured.RemoveNestedField(object.Object, field...)
		return object
	}
	if err := unstructured.SetNestedField(object.Object, value, field...); err != nil {
		t.Fatal(err)
	}
	return object
}

// check tries both values. Neither is stored.
func (r Rule) check(t *testing.T, kube client.Client, object *unstructured.Unstructured) {
	t.Helper()
	dryRun := []string{metav1.DryRunAll}
	send := func(object *unstructured.Unstructured) error {
		return kube.Create(t.Context(), object, client.DryRunAll)
	}
	switch {
	case r.from != nil:
		object = Create(t, kube, r.With(t, object, r.from))
		send = func(object *unstructured.Unstructured) error {
			return kube.Update(t.Context(), object, client.DryRunAll)
		}
	case strings.HasPrefix(r.schema, "status."):
		object = Create(t, kube, object)
		send = func(object *unstructured.Unstructured) error {
			options := client.SubResourceUpdateOptions{UpdateOptions: client.UpdateOptions{DryRun: dryRun}}
			return kube.Status().Update(t.Context(), object, &options)
		}
	}
	if err := send(r.With(t, object, r.accepted)); err != nil {
		t.Errorf("%v was refused: %v", brief(r.accepted), err)
	}
	WantRefusal(t, send(r.With(t, object, r.refused)), r.message)
}

// WantRefusal checks what a user reads of an object that was refused.
func WantRefusal(t *testing.T, err error, message string) {
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

// Create stores an object until the test ends.
func Create(t *testing.T, kube client.Client, object *unstructured.Unstructured) *unstructured.Unstructured {
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
