package fieldmanager

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

func TestWhoSetAFieldIsReadFromManagedFields(t *testing.T) {
	t.Parallel()
	at := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	earlier := metav1.NewTime(at.Add(-time.Hour))
	fields := metav1.NewFieldsV1
	object := &metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{
		{Manager: "helm", Time: &earlier, FieldsV1: fields(`{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"main\"}":{".":{},"f:image":{}}}}}}}`)},
		{Manager: "kubectl", Subresource: "scale", FieldsV1: fields(`{"f:spec":{"f:replicas":{}}}`)},
		{Manager: "kubectl-edit", Time: &at, FieldsV1: fields(
			`{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"main\"}":{"f:image":{},"f:resources":{"f:limits":{"f:cpu":{}}}}}}}}}`)},
		{Manager: "empty"},
		{Manager: "kubectl-patch", Time: &at, FieldsV1: fields(`{"f:spec":{"f:behavior":{"f:scaleDown":{"f:policies":{}}}}}`)},
		{Manager: "vmoperator", Time: &at, FieldsV1: fields(`{"f:spec":{"f:behavior":{"f:scaleDown":{"f:selectPolicy":{}}}}}`)},
	}}
	for name, test := range map[string]struct {
		entry func() (Entry, error)
		want  string
	}{
		"a subresource is named, and has no time": {
			func() (Entry, error) { return Of(object, Replicas()) }, "kubectl via scale",
		},
		"of two, the one that wrote last": {
			func() (Entry, error) { return Of(object, Container("main", "image")) }, "kubectl-edit at 2026-01-02T03:04:05Z",
		},
		"a field that holds others": {
			func() (Entry, error) { return Of(object, Container("main", "resources", "limits")) }, "kubectl-edit at 2026-01-02T03:04:05Z",
		},
		"of two within the same second, the one that is not this operator": {
			func() (Entry, error) { return Of(object, fieldpath.MakePathOrDie("spec", "behavior")) }, "kubectl-patch at 2026-01-02T03:04:05Z",
		},
		"nobody": {
			func() (Entry, error) { return Of(object, Container("proxy", "image")) }, "an unknown manager",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := test.entry()
			if err != nil {
				t.Fatal(err)
			}
			if got.String() != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestAManagersNameStaysOnOneLine(t *testing.T) {
	t.Parallel()
	if got := (Entry{Manager: "kubectl\nWarning: all is lost\xff"}).Name(); got != "kubectl Warning: all is lost" {
		t.Errorf("the name is %q", got)
	}
}

func TestManagedFieldsThatCannotBeReadAreAnError(t *testing.T) {
	t.Parallel()
	object := &metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "odd", FieldsV1: metav1.NewFieldsV1(`{"x":1}`)}}}
	if _, err := Of(object, Replicas()); err == nil {
		t.Error("no error")
	}
}
