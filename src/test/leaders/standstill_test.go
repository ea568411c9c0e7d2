package leaders

import (
	"testing"
	"time"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/test/interpose"
)

// standstill is long enough for a loaded machine to renew in time.
var standstill = timing{lease: 10 * time.Second, renew: 8 * time.Second, retry: time.Second}

// story is what happens to one object while the leader stands still.
type story struct {
	// timeout of a call to the provider. By it, absence is certain or not.
	timeout time.Duration
	// begin brings the first leader to where it is stopped.
	begin func(*scene)
	// stopped happens while the first stands still and nobody leads.
	stopped func(*scene)
	// taken happens under the second.
	taken func(*scene)
	// resumed happens once the first has gone on, and ended.
	resumed func(*scene)
}

func stories() map[string]story {
	return map[string]story{
		"a POST that is answered meanwhile":                       postAnsweredMeanwhile(),
		"a POST that arrives under the next leader":               postOnItsWay(),
		"a POST that arrives when its object is being deleted":    postAfterDeletion(),
		"a POST to be sent for an object that goes meanwhile":     postForNobody(),
		"a POST to be sent for a VM that another makes meanwhile": postForAnothersVM(),
		"a DELETE that arrives when the name is another object's": deleteOnItsWay(),
		"a status that arrives when its VM is replaced":           statusOnItsWay(),
	}
}

func TestALeaderThatStandsStillDoesNoHarmWhenItGoesOn(t *testing.T) {
	t.Parallel()
	scenes := stage(t)
	phase := func(name string, do func(*scene)) {
		t.Run(name, func(t *testing.T) {
			for _, scene := range scenes {
				t.Run(scene.name, func(t *testing.T) {
					t.Parallel()
					scene.t = t
					scene.showLogs()
					do(scene)
				})
			}
		})
		if t.Failed() {
			t.FailNow()
		}
	}
	pair := scenes[0].pair
	phase("the first is in the middle of", func(s *scene) {
		s.ready()
		s.story.begin(s)
		s.arrived()
	})
	leader := pair.wantLeader(t)
	pair.first.Suspend()
	phase("it stands still in", func(s *scene) { s.story.stopped(s) })
	pair.succeeded(t, leader)
	phase("the second leads after", func(s *scene) { s.story.taken(s) })
	pair.first.Resume()
	if status := pair.first.ExitStatus(); status == 0 {
		t.Error("a leader that lost its lease ended as if all was well")
	}
	phase("the first has gone on with", func(s *scene) {
		s.story.resumed(s)
		s.wantOneAtATime()
	})
}

// stage makes a scene for each story and kind of provider, all under one pair of
// operators: the leader is stopped in the middle of all of them at once.
func stage(t *testing.T) []*scene {
	t.Helper()
	full, minimal := startProvider(t), startProvider(t, "--minimal")
	var scenes []*scene
	var namespaces []string
	for name, story := range stories() {
		for _, s := range []*scene{
			{name: name + ", full", story: story, provider: full},
			{name: name + ", minimal", story: story, provider: minimal, asks: true},
		} {
			s.prepare(t)
			scenes, namespaces = append(scenes, s), append(namespaces, s.namespace)
		}
	}
	pair := startPair(t, standstill, namespaces...)
	for _, s := range scenes {
		s.pair = pair
	}
	return scenes
}

func nothing(*scene) {}

// settledAndDeleted is how most stories end.
func settledAndDeleted(s *scene) {
	s.t.Helper()
	s.running()
	s.awaitMachines(1)
	s.wantCalm()
	s.delete()
	s.gone()
	s.awaitMachines(0)
}

// posting brings the first leader to a POST that is on its way.
func posting(s *scene) {
	s.holdCall(provider.OperationCreate)
	s.make()
}

func postAnsweredMeanwhile() story {
	return story{
		timeout: held,
		begin:   posting,
		stopped: func(s *scene) {
			s.open()
			s.awaitMachines(1)
		},
		taken: func(s *scene) {
			if s.asks {
				// The first, when it goes on, knows the answer.
				s.asked()
				return
			}
			s.running()
		},
		resumed: settledAndDeleted,
	}
}

func postOnItsWay() story {
	return story{
		timeout: held,
		begin:   posting,
		stopped: nothing,
		taken: func(s *scene) {
			if s.asks {
				s.asked()
				s.open()
				s.named()
				s.running()
				return
			}
			s.running()
			s.open()
			s.awaitAnswered(provider.OperationCreate, 2)
		},
		resumed: settledAndDeleted,
	}
}

func postAfterDeletion() story {
	return story{
		timeout: held,
		begin:   posting,
		stopped: func(s *scene) { s.delete() },
		taken: func(s *scene) {
			if s.asks {
				s.asked()
				s.open()
				s.named()
			} else {
				s.awaitAnswered(provider.OperationFind, 1)
				s.open()
			}
			s.gone()
		},
		resumed: func(s *scene) {
			s.awaitMachines(0)
			s.wantPOSTs(1)
		},
	}
}

// aboutToPost brings the first leader to where it has stored that it will POST,
// and has not heard yet that this is stored.
func aboutToPost(s *scene) {
	s.gate = s.pair.answers.hold(func(call interpose.Call) bool {
		return call.Namespace == s.namespace && call.Verb == "patch" && call.Resource == "virtualmachines" && call.Subresource == ""
	})
	s.make()
}

func postForNobody() story {
	return story{
		timeout: brief,
		begin:   aboutToPost,
		stopped: func(s *scene) {
			s.open()
			s.delete()
		},
		taken: func(s *scene) {
			if s.asks {
				s.answer(computev1.ConfirmNotCreatedAnnotation, s.asked())
			}
			s.gone()
		},
		resumed: func(s *scene) {
			s.wantPOSTs(0)
			s.awaitMachines(0)
		},
	}
}

func postForAnothersVM() story {
	return story{
		timeout: brief,
		begin:   aboutToPost,
		stopped: func(s *scene) { s.open() },
		taken: func(s *scene) {
			if s.asks {
				s.answer(computev1.ConfirmNotCreatedAnnotation, s.asked())
			}
			s.running()
		},
		resumed: func(s *scene) {
			s.wantPOSTs(1)
			settledAndDeleted(s)
		},
	}
}

func deleteOnItsWay() story {
	return story{
		timeout: held,
		begin: func(s *scene) {
			s.make()
			s.running()
			s.holdCall(provider.OperationDelete)
			s.delete()
		},
		stopped: nothing,
		taken: func(s *scene) {
			s.gone()
			s.make()
			s.running()
			s.open()
			s.awaitCalls(s.door, "both DELETEs", 2, func(call interpose.Call) bool { return call.Is(provider.OperationDelete) })
		},
		resumed: settledAndDeleted,
	}
}

func statusOnItsWay() story {
	return story{
		timeout: held,
		begin: func(s *scene) {
			s.gate = s.pair.requests.hold(s.isStatusPatch)
			s.make()
		},
		stopped: nothing,
		taken: func(s *scene) {
			if s.asks {
				s.asked()
				s.named()
			}
			first := s.running().Status.ID
			// Absence counts at once only for a VM that a read has shown.
			s.awaitLooks(1)
			s.lose(first)
			second := s.awaits("another VM", func(vm *computev1.VirtualMachine) bool { return vm.Status.ID != first && isRunning(vm) }).Status.ID
			s.open()
			s.awaitCalls(s.pair.front, "the late status", 1, s.isStatusPatch)
			if vm := s.running(); vm.Status.ID != second {
				s.t.Errorf("the status names VM %q, not %q which replaced it", vm.Status.ID, second)
			}
		},
		resumed: settledAndDeleted,
	}
}

// isStatusPatch reports whether a call writes the object's status.
func (s *scene) isStatusPatch(call interpose.Call) bool {
	return call.Namespace == s.namespace && call.Verb == "patch" && call.Resource == "virtualmachines" && call.Subresource == "status"
}
