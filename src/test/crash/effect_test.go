package crash

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/example/vmoperator/src/test/interpose"
)

func TestEffectsAreNumberedByObjectAndOperation(t *testing.T) {
	object := func(verb, resource, name, subresource string) interpose.Call {
		return interpose.Call{
			Kind: interpose.Object, Mutating: verb != "get", Verb: verb, Resource: resource, Name: name, Subresource: subresource, Namespace: "a",
		}
	}
	elsewhere := object("patch", "virtualmachines", "web", "")
	elsewhere.Namespace = "b"
	calls := []interpose.Call{
		object("patch", "virtualmachines", "web", ""),
		object("get", "virtualmachines", "web", ""),
		elsewhere,
		{Kind: interpose.Lease, Mutating: true, Verb: "update", Resource: "leases", Name: "claim", Namespace: "a"},
		{Kind: interpose.Event, Mutating: true, Verb: "create", Resource: "events", Namespace: "a"},
		{Kind: interpose.Provider, Mutating: true, Verb: "create", Body: []byte(`{"name":"web"}`)},
		{Kind: interpose.Provider, Verb: "get", ID: "vm-1"},
		object("patch", "virtualmachines", "web", "status"),
		object("patch", "virtualmachines", "web", ""),
		{Kind: interpose.Provider, Mutating: true, Verb: "delete", ID: "vm-1"},
	}
	var numbering Numbering
	var names []string
	for _, call := range calls {
		if effect, is := numbering.Of(call, "a", func(string) string { return "web" }); is {
			names = append(names, effect.Name())
		}
	}
	want := []string{
		"patch-virtualmachines-web-1", "create-provider-web-1", "patch-virtualmachines-web-status-1",
		"patch-virtualmachines-web-2", "delete-provider-web-1",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
}

func TestAPlanTriesEveryEffectInEachWay(t *testing.T) {
	effects := []Effect{{Verb: "patch", Object: "virtualmachines/web", Ordinal: 1}, {Verb: "create", Object: "provider/web", Ordinal: 1}}
	names := func(points []Point) []string {
		var all []string
		for _, point := range points {
			all = append(all, point.Name())
		}
		return all
	}
	want := []string{
		"killed-before.patch-virtualmachines-web-1", "answer-lost.patch-virtualmachines-web-1",
		"killed-before.create-provider-web-1", "answer-lost.create-provider-web-1", "late.create-provider-web-1",
	}
	if diff := cmp.Diff(want, names(Plan(effects, Full, true))); diff != "" {
		t.Error(diff)
	}
	want = []string{
		"killed-before.create-provider-web-1", "killed-before.create-provider-web-1.deleted-while-it-waits",
		"answer-lost.create-provider-web-1", "answer-lost.create-provider-web-1.deleted-while-it-waits",
		"late.create-provider-web-1", "late.create-provider-web-1.deleted-while-it-waits",
	}
	if diff := cmp.Diff(want, names(Plan(effects[1:], Minimal, true))); diff != "" {
		t.Error(diff)
	}
	want = []string{
		"killed-before.patch-virtualmachines-web-1", "answer-lost.patch-virtualmachines-web-1", "refused.patch-virtualmachines-web-1",
	}
	status := Effect{Verb: "patch", Object: "virtualmachines/web/status", Ordinal: 1}
	want = append(want, "killed-before.patch-virtualmachines-web-status-1", "answer-lost.patch-virtualmachines-web-status-1")
	if diff := cmp.Diff(want, names(Plan([]Effect{effects[0], status}, None, false))); diff != "" {
		t.Error(diff)
	}
}
