package stale

import (
	"net/http"
	"testing"

	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/test/interpose"
	"github.com/example/vmoperator/src/test/mockprovider"
	"github.com/example/vmoperator/src/test/operator"
	"github.com/example/vmoperator/src/test/scene"
)

// keep notes what a list of the object says now.
func (s *play) keep() { s.eyes.lens.Keep(s.T.Context(), s.vms()) }

// awaitConflict waits until the apiserver has refused a write that was made from an
// old version of the object.
func (s *play) awaitConflict() {
	s.T.Helper()
	s.AwaitEntry(s.eyes.front, "a refused write", func(entry interpose.Entry) bool {
		return entry.Namespace == s.Namespace && entry.Resource == "virtualmachines" && entry.Mutating && entry.Status == http.StatusConflict
	})
}

// awaitOldLooks waits until the operator has looked for a VM that is gone, twice: its
// absence counts.
func (s *play) awaitOldLooks() {
	s.T.Helper()
	s.AwaitFurther("looks at a VM of old", 2, func(call interpose.Call) bool { return call.Is(provider.OperationGet) })
}

// past is a story of an operator that ends, and whose successor's first list is
// older than its end.
type past struct {
	// before leads to the moment whose list is kept, and keeps it; after goes on from
	// there, under the operator that ends.
	before, after func(*play)
	// misled waits until the successor has acted on what is not so any more.
	misled func(*play)
	// posts is how many POSTs there may be in all; gone, whether the object is, in the
	// end.
	posts int
	gone  bool
}

var pasts = map[string]past{
	"of an object without finalizer": {
		before: func(s *play) {
			gate := s.recording()
			s.Make()
			s.Arrived(gate)
			s.keep()
			gate.Open(interpose.Pass())
		},
		after:  func(s *play) { s.Running() },
		misled: func(s *play) { s.awaitConflict() },
		posts:  1,
	},
	"of an object that is gone": {
		before: func(s *play) {
			s.Make()
			s.current()
			s.keep()
		},
		after: func(s *play) {
			s.Delete()
			s.Gone()
		},
		misled: func(s *play) { s.awaitOldLooks() },
		posts:  1,
		gone:   true,
	},
	"of an object whose name is another's by now": {
		before: func(s *play) {
			s.Make()
			s.current()
			s.keep()
		},
		after: func(s *play) {
			s.Delete()
			s.Gone()
			s.Make()
			s.current()
		},
		misled: func(s *play) { s.awaitOldLooks() },
		posts:  2,
	},
}

func TestAnOperatorThatStartsWithAnOldListMakesOneVM(t *testing.T) {
	t.Parallel()
	e := newEyes(t)
	namespaces := []string{scene.Namespace(t, kube)}
	var plays []*play
	for kind, p := range map[string]*mockprovider.Provider{"full": scene.Provider(t), "minimal": scene.Provider(t, "--minimal")} {
		for name := range pasts {
			s := newPlay(t, e, scene.Options{Provider: p, Asks: kind == "minimal"}, name)
			t.Log(s.Namespace, name, kind)
			plays, namespaces = append(plays, s), append(namespaces, s.Namespace)
		}
	}
	first := e.start(t, namespaces)
	for _, s := range plays {
		s.Ready()
		pasts[s.name].before(s)
	}
	for _, s := range plays {
		pasts[s.name].after(s)
	}
	first.Kill()
	for _, s := range plays {
		s.eyes.lens.Recall(s.vms())
	}
	second := e.start(t, namespaces)
	for _, s := range plays {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.T = t
			s.ShowLogs(map[string]*operator.Operator{"first": first, "second": second})
			told := pasts[s.name]
			told.misled(s)
			s.eyes.lens.Thaw(s.vms())
			if !told.gone {
				s.current()
				s.AwaitMachines(1)
				s.WantCalm()
				s.Delete()
			}
			s.Gone()
			s.AwaitMachines(0)
			s.WantPOSTs(told.posts)
			s.WantOneAtATime()
		})
	}
}
