package crash

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/provider"
)

// stateOf is what one run leaves: two runs differ in all that is given.
func stateOf(namespace, uid, id, address, at string, attempts, generation int64) ([]unstructured.Unstructured, []provider.Machine) {
	vm := map[string]any{
		"kind": "VirtualMachine",
		"metadata": map[string]any{
			"namespace": namespace, "name": "web", "uid": uid, "resourceVersion": at, "generation": generation, "creationTimestamp": at,
			"annotations": map[string]any{
				computev1.CreateIntentAnnotation: fmt.Sprintf(`{"key":"%s/%d","uid":%q,"object":"%s/web","attemptedAt":%q}`, uid, attempts, uid, namespace, at),
			},
		},
		"status": map[string]any{
			"id": id, "observedGeneration": generation,
			"conditions": []any{
				map[string]any{"type": "Synced", "lastTransitionTime": at, "observedGeneration": generation},
				map[string]any{"type": "Ready", "lastTransitionTime": at, "observedGeneration": generation},
			},
		},
	}
	if attempts > 1 {
		status := vm["status"].(map[string]any)
		conditions := status["conditions"].([]any)
		status["conditions"] = []any{conditions[1], conditions[0]}
	}
	secret := map[string]any{
		"kind": "Secret",
		"metadata": map[string]any{
			"name": "web-connection", "uid": "s-" + uid,
			"ownerReferences": []any{map[string]any{"kind": "VirtualMachine", "name": "web", "uid": uid, "controller": true}},
		},
		"data": map[string]any{"id": map[string]string{"vm-7": "dm0tNw==", "vm-9": "dm0tOQ=="}[id]},
	}
	orphan := map[string]any{
		"kind": "Service",
		"metadata": map[string]any{
			"name": "old", "uid": "o-" + uid,
			"ownerReferences": []any{map[string]any{"kind": "VirtualMachine", "name": "old", "uid": "gone-" + at, "controller": true}},
		},
	}
	return []unstructured.Unstructured{{Object: vm}, {Object: secret}, {Object: orphan}},
		[]provider.Machine{{ID: id, Name: "web", Addresses: []string{address}, Labels: map[string]string{"uid": uid}}}
}

func TestTwoRunsWithTheSameEndAreEqual(t *testing.T) {
	objects, live := stateOf("ns-a", "uid-a", "vm-7", "192.0.2.7", "2026-01-01", 1, 1)
	one := Normalise(map[string]string{"<namespace>": "ns-a"}, objects, live)
	objects, live = stateOf("ns-b", "uid-b", "vm-9", "192.0.2.9", "2026-02-02", 3, 2)
	other := Normalise(map[string]string{"<namespace>": "ns-b"}, objects, live)
	if diff := cmp.Diff(one, other); diff != "" {
		t.Error(diff)
	}
	if _, found := one["Service/old"]; found || len(one) != 3 {
		t.Errorf("the end is %v", one)
	}
}

func TestRunsWithAnotherEndDiffer(t *testing.T) {
	end := func(change func(vm map[string]any, live *provider.Machine)) End {
		objects, live := stateOf("ns", "uid", "vm-7", "192.0.2.7", "2026-01-01", 1, 1)
		change(objects[0].Object, &live[0])
		return Normalise(map[string]string{"<namespace>": "ns"}, objects, live)
	}
	reference := end(func(map[string]any, *provider.Machine) {})
	for name, change := range map[string]func(map[string]any, *provider.Machine){
		"a status that names another VM": func(vm map[string]any, _ *provider.Machine) {
			vm["status"].(map[string]any)["id"] = "vm-8"
		},
		"a status of an older generation": func(vm map[string]any, _ *provider.Machine) {
			vm["status"].(map[string]any)["observedGeneration"] = int64(0)
		},
		"a finalizer": func(vm map[string]any, _ *provider.Machine) {
			vm["metadata"].(map[string]any)["finalizers"] = []any{"x"}
		},
		"an object that is being deleted": func(vm map[string]any, _ *provider.Machine) {
			vm["metadata"].(map[string]any)["deletionTimestamp"] = "2026-01-01T00:00:00Z"
		},
		"a key of another object": func(vm map[string]any, _ *provider.Machine) {
			vm["metadata"].(map[string]any)["annotations"] = map[string]any{computev1.CreateIntentAnnotation: `{"key":"another/1"}`}
		},
		"a VM of another size": func(_ map[string]any, live *provider.Machine) { live.CPU = 8 },
	} {
		t.Run(name, func(t *testing.T) {
			if cmp.Equal(reference, end(change)) {
				t.Error("they are taken for equal")
			}
		})
	}
}
