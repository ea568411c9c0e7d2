package gitops

import (
	"fmt"
	"testing"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// kinds are ours, with their group and version.
var kinds = []struct{ apiVersion, kind string }{
	{"apps.example.io/v1", "AppAutoscaler"},
	{"apps.example.io/v1", "MyApp"},
	{"compute.example.com/v1", "ProviderConfig"},
	{"compute.example.com/v1", "VirtualMachine"},
}

// shape is all of an object that its health depends on.
type shape struct {
	generation, observed int64
	deleting, paused     bool
	ready                string
	reconciling, stalled bool
}

// shapes are all there can be: whatever the controllers write is one of them.
func shapes() []shape {
	var all []shape
	for _, observed := range []int64{-1, 1, 2} {
		for bits := range 16 {
			for _, ready := range []string{"", "True", "False", "Unknown"} {
				all = append(all, shape{
					generation: 2, observed: observed, ready: ready,
					deleting: bits&1 > 0, paused: bits&2 > 0, reconciling: bits&4 > 0, stalled: bits&8 > 0,
				})
			}
		}
	}
	return all
}

// object is an object of the shape.
func (s shape) object(apiVersion, kind string) map[string]any {
	metadata := map[string]any{"name": "it", "namespace": "vms", "generation": s.generation}
	if s.deleting {
		metadata["deletionTimestamp"] = "2026-01-31T12:00:00Z"
	}
	conditions := []any{}
	add := func(name, value, reason string) {
		conditions = append(conditions, map[string]any{"type": name, "status": value, "reason": reason, "message": "a message"})
	}
	if s.ready != "" {
		add("Ready", s.ready, "AReason")
	}
	if s.paused {
		add("Synced", "Unknown", "Paused")
	}
	if s.stalled {
		add("Stalled", "True", "AReason")
	}
	if s.reconciling {
		add("Reconciling", "True", "AReason")
	}
	return map[string]any{
		"apiVersion": apiVersion, "kind": kind, "metadata": metadata,
		"status": map[string]any{"observedGeneration": s.observed, "conditions": conditions},
	}
}

func TestArgoCDSaysWhatKstatusSaysOfEveryShapeOfAnObject(t *testing.T) {
	of := map[status.Status]string{
		status.CurrentStatus: healthy, status.InProgressStatus: progressing, status.FailedStatus: degraded, status.TerminatingStatus: progressing,
	}
	for _, kind := range kinds {
		t.Run(kind.kind, func(t *testing.T) {
			for _, shape := range shapes() {
				object := shape.object(kind.apiVersion, kind.kind)
				computed, err := status.Compute(&unstructured.Unstructured{Object: object})
				if err != nil {
					t.Fatal(err)
				}
				want := of[computed.Status]
				switch {
				case shape.observed != shape.generation:
					want = progressing
				case shape.deleting && shape.stalled:
					// kstatus says Terminating, whatever keeps it.
					want = degraded
				case shape.paused && !shape.stalled && !shape.deleting:
					// Whatever it is, it stays so.
					want = healthy
				case shape.ready == "" && !shape.stalled:
					// kstatus takes what tells nothing for done.
					want = progressing
				}
				if got := healthOf(t, object); got.Status != want {
					t.Errorf("%+v: %s, want %s", shape, got.Status, want)
				}
			}
		})
	}
}

func TestAnObjectThatNobodyHasSeenIsProgressing(t *testing.T) {
	for _, kind := range kinds {
		object := shape{}.object(kind.apiVersion, kind.kind)
		delete(object, "status")
		if got := healthOf(t, object).Status; got != progressing {
			t.Errorf("%s: %s", kind.kind, got)
		}
	}
}

func TestHealthIsToldInTheWordsOfTheCondition(t *testing.T) {
	object := shape{generation: 1, observed: 1, ready: "False", stalled: true}.object("compute.example.com/v1", "VirtualMachine")
	if diff := cmp.Diff(health{degraded, "AReason: a message"}, healthOf(t, object)); diff != "" {
		t.Error(diff)
	}
}

func TestAnApplicationIsAsHealthyAsItsResources(t *testing.T) {
	application := func(status any) map[string]any {
		return map[string]any{"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "status": status}
	}
	for _, test := range []struct {
		status any
		want   string
	}{
		{nil, progressing},
		{map[string]any{}, progressing},
		{map[string]any{"health": map[string]any{}}, progressing},
		{map[string]any{"health": map[string]any{"status": healthy}}, healthy},
		{map[string]any{"health": map[string]any{"status": degraded}}, degraded},
		{map[string]any{"health": map[string]any{"status": "Missing"}}, "Missing"},
	} {
		t.Run(fmt.Sprint(test.status), func(t *testing.T) {
			if got := healthOf(t, application(test.status)).Status; got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}
