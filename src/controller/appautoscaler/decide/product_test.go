package decide

import (
	"iter"
	"testing"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
)

// every yields all States.
func every() iter.Seq[State] {
	return func(yield func(State) bool) {
		for bits := range 1 << 8 {
			s := State{
				Deleting: bits&1 != 0, Paused: bits&2 != 0, Claimed: bits&4 != 0, Fault: bits&8 != 0, Fresh: bits&16 != 0,
				Refused: bits&32 != 0, ScalerFresh: bits&64 != 0, Unplanned: bits&128 != 0,
			}
			for s.Deployment = range deployments {
				for s.Scaler = range Scaler(scalers) {
					for s := range contents(s) {
						if !yield(s) {
							return
						}
					}
				}
			}
		}
	}
}

// contents yields what a Deployment can be like.
func contents(s State) iter.Seq[State] {
	return func(yield func(State) bool) {
		for s.Image = range Image(images) {
			for s.Replicas = range fields {
				for s.Content = range fields {
					for s.Pods = range Pods(podStates) {
						if !yield(s) {
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
	if d.Action != None && (s.Deleting || s.Paused) {
		return "what is paused or deleted is left alone"
	}
	if d.Action.Writes() && (s.Fault || s.Claimed || s.Deployment == DeploymentForeign || s.Scaler == ScalerForeign) {
		return "nothing is written after a fault, or to what is somebody else's"
	}
	if d.Action.Writes() && d.Action != DeleteScaler && (s.Deployment == DeploymentTerminating || s.Refused) {
		return "nothing is written to what is on its way out, or what was refused"
	}
	if (d.Action == Create || d.Action == PutBack) && (s.Scaler == ScalerSurplus || s.Scaler == ScalerTerminating) {
		return "replicas are not written while a HorizontalPodAutoscaler may write them too"
	}
	differs := !s.Unplanned && s.Replicas == FieldDiffers || s.Image == ImagePlaced && s.Content == FieldDiffers
	switch d.Action {
	case Create:
		return unless(s.Deployment == DeploymentMissing && s.Image != ImageNone && !s.Unplanned, "only what is missing is created, with an image and a number of replicas")
	case Inspect:
		return unless(differs && !s.Fresh && s.Deployment.Exists(), "a Deployment is read once, and only where something differs")
	case PutBack:
		return unless(differs && s.Fresh && s.Deployment.Exists(), "a field is put back only once it is known who has set it")
	case CreateScaler:
		return unless(s.Scaler == ScalerMissing && s.Deployment.Exists() && !s.Unplanned, "only a HorizontalPodAutoscaler that is missing is created, for a Deployment that exists")
	case CompareScaler:
		return unless(s.Scaler == ScalerUnknown, "the Kubernetes API is asked once")
	case InspectScaler:
		return unless(s.Scaler == ScalerDiffers && !s.ScalerFresh, "a HorizontalPodAutoscaler is read once, and only where it differs")
	case PutBackScaler:
		return unless(s.Scaler == ScalerDiffers && s.ScalerFresh && !s.Unplanned, "a HorizontalPodAutoscaler is put back only once it is known who has changed it")
	case DeleteScaler:
		return unless(s.Scaler == ScalerSurplus, "only a HorizontalPodAutoscaler that is not declared is deleted")
	case None:
		calm := s.Deployment.Exists() && !differs && !s.Unplanned && s.Pods == PodsAvailable && !s.Fault && !s.Claimed && s.scalerCalm()
		return unless(calm || s.Deleting || s.Paused, "nothing is done only where all is as declared")
	case Wait:
		return unless(d.After != Never, "who waits looks again")
	case Stall:
		return unless(d.After == Long && !differs || !s.Deployment.Exists() || s.Claimed || s.Refused || s.Scaler == ScalerForeign, "a stall does not keep a field from being put back")
	}
	return "every decision is a known one"
}

// scalerCalm reports whether there is nothing to do about the HorizontalPodAutoscaler.
func (s State) scalerCalm() bool { return s.Scaler == ScalerNone || s.Scaler == ScalerSame }

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

// world is what an AppAutoscaler lives in: it carries out decisions, and a person
// and time mend what is reported.
type world struct{ State }

// carryOut is what act does, in terms of the State.
func (w *world) carryOut(action Action) {
	switch action {
	case Create:
		w.Deployment, w.Fresh, w.Image, w.Replicas, w.Content, w.Pods = DeploymentOwned, true, ImagePlaced, FieldSame, FieldSame, PodsProgressing
	case Inspect:
		w.Fresh = true
	case PutBack:
		w.Replicas, w.Content = settled(w.Replicas), settled(w.Content)
		w.Pods = PodsProgressing
	case InspectScaler:
		w.ScalerFresh = true
	case CreateScaler, CompareScaler, PutBackScaler:
		w.Scaler = ScalerSame
	case DeleteScaler:
		w.Scaler = ScalerNone
	case None, Wait, Stall:
	}
}

// settled is a field after it was put back, if it was due.
func settled(f Field) Field {
	if f == FieldDiffers {
		return FieldSame
	}
	return f
}

// mend is what a person does about a reason, and what time does about the rest.
func (w *world) mend(d Decision) {
	w.Fault, w.Fresh, w.ScalerFresh = false, false, false
	switch d.Reason {
	case exampleappsv1.ReasonPaused:
		w.Paused = false
	case exampleappsv1.ReasonClaimedByOlder:
		w.Claimed = false
	case exampleappsv1.ReasonForeignScaler, exampleappsv1.ReasonTakingBack:
		w.Scaler = ScalerNone
	case exampleappsv1.ReasonRefused:
		w.Refused = false
	case exampleappsv1.ReasonInvalidSchedule:
		w.Unplanned = false
	case exampleappsv1.ReasonForeignController:
		w.Deployment = DeploymentManaged
	case exampleappsv1.ReasonCreating:
		w.Deployment = DeploymentMissing
	case exampleappsv1.ReasonImageRequired, exampleappsv1.ReasonContainerRequired, exampleappsv1.ReasonContainerNotFound:
		w.Image = ImagePlaced
	case exampleappsv1.ReasonImageOfMyApp:
		w.Image = ImageNone
	case exampleappsv1.ReasonContended:
		w.Replicas, w.Content = due(w.Replicas), due(w.Content)
		if w.Scaler == ScalerHeld {
			w.Scaler = ScalerDiffers
		}
	case exampleappsv1.ReasonSynced:
		w.Pods = PodsAvailable
	}
}

// due is a held field after a while.
func due(f Field) Field {
	if f == FieldHeld {
		return FieldDiffers
	}
	return f
}

// From every State: each pass ends, and when faults stop and a person does what the
// conditions ask for, all is as declared.
func TestEveryStateConverges(t *testing.T) {
	t.Parallel()
	const steps, enough = 12, 16
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
