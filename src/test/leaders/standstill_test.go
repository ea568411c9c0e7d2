package leaders

import (
	"testing"
	"time"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/test/interpose"
	"github.com/example/vmoperator/src/test/scene"
)

// standstill is long enough for a loaded machine to renew in time.
var standstill = timing{lease: 10 * time.Second, renew: 8 * time.Second, retry: time.Second}

// story is what happens to one object while the leader stands still.
type story struct {
	// timeout of a call to the provider. By it, absence is certain or not.
	timeout time.Duration
	// begin brings the first leader to where it is stopped.
	begin func(*play)
	// stopped happens while the first stands still and nobody leads.
	stopped func(*play)
	// taken happens under the second.
	taken func(*play)
	// resumed happens once the first has gone on, and ended.
	resumed func(*play)
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
	plays := stage(t)
	phase := func(name string, do func(*play)) {
		t.Run(name, func(t *testing.T) {
			for _, s := range plays {
				t.Run(s.name, func(t *testing.T) {
					t.Parallel()
					s.T = t
					s.showLogs()
					do(s)
				})
			}
		})
		if t.Failed() {
			t.FailNow()
		}
	}
	pair := plays[0].pair
	phase("the first is in the middle of", func(s *play) {
		s.Ready()
		s.story.begin(s)
		s.Arrived(s.gate)
	})
	leader := pair.wantLeader(t)
	pair.first.Suspend()
	phase("it stands still in", func(s *play) { s.story.stopped(s) })
	pair.succeeded(t, leader)
	phase("the second leads after", func(s *play) { s.story.taken(s) })
	pair.first.Resume()
	if status := pair.first.ExitStatus(); status == 0 {
		t.Error("a leader that lost its lease ended as if all was well")
	}
	phase("the first has gone on with", func(s *play) {
		s.story.resumed(s)
		s.WantOneAtATime()
	})
}

// stage makes a play for each story and kind of provider, all under one pair of
// operators: the leader is stopped in the middle of all of them at once.
func stage(t *testing.T) []*play {
	t.Helper()
	full, minimal := scene.Provider(t), scene.Provider(t, "--minimal")
	var plays []*play
	var namespaces []string
	for name, story := range stories() {
		plays = append(plays, newPlay(t, name+", full", story, full, false), newPlay(t, name+", minimal", story, minimal, true))
	}
	for _, s := range plays {
		namespaces = append(namespaces, s.Namespace)
	}
	pair := startPair(t, standstill, namespaces...)
	for _, s := range plays {
		s.under(pair)
	}
	return plays
}

func nothing(*play) {}

// settledAndDeleted is how most stories end.
func settledAndDeleted(s *play) {
	s.T.Helper()
	s.Running()
	s.AwaitMachines(1)
	s.WantCalm()
	s.Delete()
	s.Gone()
	s.AwaitMachines(0)
}

// posting brings the first leader to a POST that is on its way.
func posting(s *play) {
	s.holdCall(provider.OperationCreate)
	s.Make()
}

func postAnsweredMeanwhile() story {
	return story{
		timeout: held,
		begin:   posting,
		stopped: func(s *play) {
			s.open()
			s.AwaitMachines(1)
		},
		taken: func(s *play) {
			if s.Asks {
				// The first, when it goes on, knows the answer.
				s.Asked()
				return
			}
			s.Running()
		},
		resumed: settledAndDeleted,
	}
}

func postOnItsWay() story {
	return story{
		timeout: held,
		begin:   posting,
		stopped: nothing,
		taken: func(s *play) {
			if s.Asks {
				s.Asked()
				s.open()
				s.Claim()
				s.Running()
				return
			}
			s.Running()
			s.open()
			s.AwaitAnswered(provider.OperationCreate, 2)
		},
		resumed: settledAndDeleted,
	}
}

func postAfterDeletion() story {
	return story{
		timeout: held,
		begin:   posting,
		stopped: func(s *play) { s.Delete() },
		taken: func(s *play) {
			if s.Asks {
				s.Asked()
				s.open()
				s.Claim()
			} else {
				s.AwaitAnswered(provider.OperationFind, 1)
				s.open()
			}
			s.Gone()
		},
		resumed: func(s *play) {
			s.AwaitMachines(0)
			s.WantPOSTs(1)
		},
	}
}

// aboutToPost brings the first leader to where it has stored that it will POST,
// and has not heard yet that this is stored.
func aboutToPost(s *play) {
	s.gate = s.pair.answers.Hold(func(call interpose.Call) bool {
		return call.Namespace == s.Namespace && call.Verb == "patch" && call.Resource == "virtualmachines" && call.Subresource == ""
	})
	s.Make()
}

func postForNobody() story {
	return story{
		timeout: brief,
		begin:   aboutToPost,
		stopped: func(s *play) {
			s.open()
			s.Delete()
		},
		taken: func(s *play) {
			if s.Asks {
				s.Answer(computev1.ConfirmNotCreatedAnnotation, s.Asked())
			}
			s.Gone()
		},
		resumed: func(s *play) {
			s.WantPOSTs(0)
			s.AwaitMachines(0)
		},
	}
}

func postForAnothersVM() story {
	return story{
		timeout: brief,
		begin:   aboutToPost,
		stopped: func(s *play) { s.open() },
		taken: func(s *play) {
			if s.Asks {
				s.Answer(computev1.ConfirmNotCreatedAnnotation, s.Asked())
			}
			s.Running()
		},
		resumed: func(s *play) {
			s.WantPOSTs(1)
			settledAndDeleted(s)
		},
	}
}

func deleteOnItsWay() story {
	return story{
		timeout: held,
		begin: func(s *play) {
			s.Make()
			s.Running()
			s.holdCall(provider.OperationDelete)
			s.Delete()
		},
		stopped: nothing,
		taken: func(s *play) {
			s.Gone()
			s.Make()
			s.Running()
			s.open()
			s.AwaitCalls(s.Door, "both DELETEs", 2, func(call interpose.Call) bool { return call.Is(provider.OperationDelete) })
		},
		resumed: settledAndDeleted,
	}
}

func statusOnItsWay() story {
	return story{
		timeout: held,
		begin: func(s *play) {
			s.gate = s.pair.requests.Hold(s.isStatusPatch)
			s.Make()
		},
		stopped: nothing,
		taken: func(s *play) {
			if s.Asks {
				s.Asked()
				s.Claim()
			}
			first := s.Running().Status.ID
			// Absence counts at once only for a VM that a read has shown.
			s.AwaitLooks(1)
			s.Lose(first)
			second := s.Await("another VM", func(vm *computev1.VirtualMachine) bool { return vm.Status.ID != first && scene.IsRunning(vm) }).Status.ID
			s.open()
			s.AwaitCalls(s.pair.front, "the late status", 1, s.isStatusPatch)
			if vm := s.Running(); vm.Status.ID != second {
				s.T.Errorf("the status names VM %q, not %q which replaced it", vm.Status.ID, second)
			}
		},
		resumed: settledAndDeleted,
	}
}

// isStatusPatch reports whether a call writes the object's status.
func (s *play) isStatusPatch(call interpose.Call) bool {
	return call.Namespace == s.Namespace && call.Verb == "patch" && call.Resource == "virtualmachines" && call.Subresource == "status"
}
