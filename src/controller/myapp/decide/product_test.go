package decide

import (
	"iter"
	"testing"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
)

// every yields all States.
func every() iter.Seq[State] {
	return func(yield func(State) bool) {
		for bits := range 1 << 6 {
			s := State{Deleting: bits&1 != 0, Paused: bits&2 != 0, Fault: bits&4 != 0, Refused: bits&8 != 0}
			s.Deployment.Fresh, s.Service.Fresh = bits&16 != 0, bits&32 != 0
			for s.Deployment.State = range childStates {
				for s.Service.State = range childStates {
					for s.Pods = range podStates {
						// Only a Service can be too many.
						if s.Deployment.State != ChildSurplus && !yield(s) {
							return
						}
					}
				}
			}
		}
	}
}

// broken returns the promise that a decision breaks; empty if it breaks none.
func broken(s State, d Decision) string {
	idle := s.Deleting || s.Paused
	if idle && d.Action != None {
		return "what is paused or deleted is left alone"
	}
	if d.Action.Writes() && (s.Fault || s.Refused) {
		return "nothing is written after a fault or a refusal"
	}
	if d.Action.Writes() && (s.Deployment.State == ChildForeign || s.Deployment.State == ChildWaiting) {
		return "without a Deployment of its own an object writes nothing"
	}
	wrong := func(c Child) bool { return c.State == ChildMissing || c.State == ChildDiffers }
	switch d.Action {
	case InspectDeployment:
		return unless(wrong(s.Deployment) && !s.Deployment.Fresh, "a Deployment is read once, and only where it is not right")
	case InspectService:
		return unless(wrong(s.Service) && !s.Service.Fresh, "a Service is read once, and only where it is not right")
	case ApplyDeployment:
		return unless(wrong(s.Deployment) && s.Deployment.Fresh, "a Deployment is written only where it is not right, and known past the cache")
	case ApplyService:
		return unless(wrong(s.Service) && s.Service.Fresh && !wrong(s.Deployment), "a Service is written after the Deployment, and only where it is not right")
	case DeleteService:
		return unless(s.Service.State == ChildSurplus, "only a Service that nothing asks for is deleted")
	case None:
		calm := s.Deployment.State == ChildSame && s.Service.State == ChildSame && s.Pods == PodsAvailable && !s.Fault && !s.Refused
		return unless(calm || idle, "nothing is done only where all is as declared")
	case Wait:
		return unless(d.After != Never, "who waits looks again")
	case Stall:
		return unless(d.After == Long && d.Message != "", "a stall says what to do")
	case actions:
	}
	return "every decision is a known one"
}

func unless(kept bool, promise string) string {
	if kept {
		return ""
	}
	return promise
}

func TestEveryStateKeepsThePromises(t *testing.T) {
	t.Parallel()
	for s := range every() {
		d := Decide(s)
		if promise := broken(s, d); promise != "" {
			t.Fatalf("%s: %+v -> %s", promise, s, d.Action)
		}
		if d.Reason == "" || d.Message == "" {
			t.Fatalf("a decision has no reason or message: %+v -> %+v", s, d)
		}
	}
}

// world is what a MyApp lives in: it carries out decisions, and a person and time
// mend what is reported.
type world struct{ State }

// carryOut is what act does, in terms of the State.
func (w *world) carryOut(action Action) {
	switch action {
	case InspectDeployment:
		w.Deployment.Fresh = true
	case InspectService:
		w.Service.Fresh = true
	case ApplyDeployment:
		w.Deployment, w.Pods = Child{Fresh: true}, PodsProgressing
	case ApplyService, DeleteService:
		w.Service = Child{Fresh: true}
	case None, Wait, Stall, actions:
	}
}

// mend is what a person does about a reason, and what time does about the rest.
func (w *world) mend(d Decision) {
	w.Fault, w.Deployment.Fresh, w.Service.Fresh = false, false, false
	switch d.Reason {
	case exampleappsv1.ReasonPaused:
		w.Paused = false
	case exampleappsv1.ReasonRefused:
		w.Refused = false
	case exampleappsv1.ReasonChildConflict, exampleappsv1.ReasonWaiting:
		w.Deployment.State, w.Service.State = cleared(w.Deployment.State), cleared(w.Service.State)
	case exampleappsv1.ReasonContended:
		w.Deployment.State, w.Service.State = due(w.Deployment.State), due(w.Service.State)
	case exampleappsv1.ReasonSynced:
		w.Pods = PodsAvailable
	}
}

// cleared is a child once what was in its way is gone.
func cleared(s ChildState) ChildState {
	if s == ChildForeign || s == ChildWaiting {
		return ChildMissing
	}
	return s
}

// due is a held child after a while.
func due(s ChildState) ChildState {
	if s == ChildHeld {
		return ChildDiffers
	}
	return s
}

// From every State: each pass ends, and when faults stop and a person does what the
// conditions ask for, all is as declared.
func TestEveryStateConverges(t *testing.T) {
	t.Parallel()
	const steps, enough = 8, 12
	for s := range every() {
		w := world{s}
		var last Decision
		for range enough {
			ended := false
			for range steps {
				last = Decide(w.State)
				w.carryOut(last.Action)
				if ended = last.Ends(); ended {
					break
				}
			}
			if !ended {
				t.Fatalf("a pass does not end: %+v -> %+v", s, w.State)
			}
			if last.Action == None && last.Reason != exampleappsv1.ReasonPaused {
				break
			}
			w.mend(last)
		}
		if last.Action != None || last.Reason != exampleappsv1.ReasonSynced && last.Reason != exampleappsv1.ReasonDeleting {
			t.Fatalf("not settled after %d passes: %+v -> %+v, %+v", enough, s, w.State, last)
		}
	}
}
