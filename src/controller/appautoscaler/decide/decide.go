package decide

import (
	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
)

// Decide says what to do next. The checks are tried in order and the first that
// has something to say wins; when none has, all is as declared.
func Decide(s State) Decision {
	for _, check := range []func(State) (Decision, bool){
		leave,
		fault,
		ownership,
		takingBack,
		refusal,
		existence,
		drift,
		plan,
		handingOver,
		scaler,
		place,
		contention,
		pods,
	} {
		if decision, decided := check(s); decided {
			return decision
		}
	}
	return Decision{None, exampleappsv1.ReasonSynced, "the Deployment is as declared", Long}
}

// leave is for objects whose Deployment is to be left alone.
func leave(s State) (Decision, bool) {
	switch {
	case s.Deleting:
		return Decision{None, exampleappsv1.ReasonDeleting, "the object is being deleted", Never}, true
	case s.Paused:
		return Decision{None, exampleappsv1.ReasonPaused, "paused by annotation " + exampleappsv1.PausedAnnotation, Long}, true
	}
	return Decision{}, false
}

// fault ends a pass in which something failed: what was seen before may be wrong.
func fault(s State) (Decision, bool) {
	if s.Fault {
		return Decision{Wait, exampleappsv1.ReasonReconcileFailed, "a read or a write failed and will be repeated", Soon}, true
	}
	return Decision{}, false
}

// ownership refuses what is somebody else's. An older claim comes first: the
// Deployment that is missing is the older object's to create.
func ownership(s State) (Decision, bool) {
	switch {
	case s.Claimed:
		return Decision{
			Stall, exampleappsv1.ReasonClaimedByOlder,
			"an older AppAutoscaler is for the same Deployment: delete one of the two", Long,
		}, true
	case s.Deployment == DeploymentForeign:
		return Decision{
			Stall, exampleappsv1.ReasonForeignController,
			"something else controls the Deployment: let that set replicas and image, or delete its owner reference", Long,
		}, true
	}
	if s.Scaler == ScalerForeign {
		return Decision{
			Stall, exampleappsv1.ReasonForeignScaler,
			"a HorizontalPodAutoscaler of somebody else scales the Deployment, or has the name of this object's: delete it, or this object", Long,
		}, true
	}
	return Decision{}, false
}

// takingBack ends the work of a HorizontalPodAutoscaler before the number of
// replicas is looked at: the two would fight over it.
func takingBack(s State) (Decision, bool) {
	switch s.Scaler {
	case ScalerSurplus:
		return Decision{DeleteScaler, exampleappsv1.ReasonTakingBack, "the HorizontalPodAutoscaler is being deleted", Soon}, true
	case ScalerTerminating:
		return Decision{Wait, exampleappsv1.ReasonTakingBack, "a HorizontalPodAutoscaler of this name is being deleted", Soon}, true
	default:
		return Decision{}, false
	}
}

// refusal waits for another spec.
func refusal(s State) (Decision, bool) {
	if s.Refused {
		return Decision{Stall, exampleappsv1.ReasonRefused, "the Kubernetes API refuses what the spec asks for: change the spec", Long}, true
	}
	return Decision{}, false
}

// existence creates what is not there.
func existence(s State) (Decision, bool) {
	switch {
	case s.Deployment == DeploymentTerminating:
		return Decision{Wait, exampleappsv1.ReasonCreating, "the Deployment is being deleted, and created again once it is gone", Soon}, true
	case s.Deployment != DeploymentMissing:
		return Decision{}, false
	case s.Unplanned:
		return misscheduled, true
	case s.Image == ImageNone:
		return Decision{Stall, exampleappsv1.ReasonImageRequired, "there is no Deployment: image is required to create it", Long}, true
	}
	return Decision{Create, exampleappsv1.ReasonCreating, "the Deployment is being created", Soon}, true
}

// drift puts back what differs. Who has set it must be known before: afterwards
// it is us.
func drift(s State) (Decision, bool) {
	switch {
	case !replicasAre(s, FieldDiffers) && !contentIs(s, FieldDiffers):
		return Decision{}, false
	case !s.Fresh:
		return Decision{Inspect, exampleappsv1.ReasonDrifted, "the Deployment is not as declared", Soon}, true
	}
	return Decision{PutBack, exampleappsv1.ReasonDrifted, "the Deployment is not as declared and is being put back", Soon}, true
}

// misscheduled asks for schedules that can be understood.
var misscheduled = Decision{
	Stall, exampleappsv1.ReasonInvalidSchedule, "a schedule cannot be understood, and the number of replicas is left as it is", Long,
}

// plan asks for schedules that say which numbers count. The image is kept meanwhile,
// and a HorizontalPodAutoscaler left as it is.
func plan(s State) (Decision, bool) { return misscheduled, s.Unplanned }

// handingOver makes the HorizontalPodAutoscaler. The number of replicas stays what
// it is until that changes it.
func handingOver(s State) (Decision, bool) {
	if s.Scaler == ScalerMissing {
		return Decision{CreateScaler, exampleappsv1.ReasonHandingOver, "the HorizontalPodAutoscaler is being created", Soon}, true
	}
	return Decision{}, false
}

// scaler puts the HorizontalPodAutoscaler back. What the Kubernetes API adds to what
// is declared is no difference, so it is asked once.
func scaler(s State) (Decision, bool) {
	switch {
	case s.Scaler == ScalerUnknown:
		return Decision{CompareScaler, exampleappsv1.ReasonDrifted, "the HorizontalPodAutoscaler is being compared with what is declared", Soon}, true
	case s.Scaler != ScalerDiffers:
		return Decision{}, false
	case !s.ScalerFresh:
		return Decision{InspectScaler, exampleappsv1.ReasonDrifted, "the HorizontalPodAutoscaler is not as declared", Soon}, true
	}
	return Decision{PutBackScaler, exampleappsv1.ReasonDrifted, "the HorizontalPodAutoscaler is not as declared and is being put back", Soon}, true
}

// place asks for what the image needs. Replicas are kept meanwhile.
func place(s State) (Decision, bool) {
	switch s.Image {
	case ImageAmbiguous:
		return Decision{
			Stall, exampleappsv1.ReasonContainerRequired,
			"the Deployment has several containers and none of its own name: say in containerName which one the image is for", Long,
		}, true
	case ImageHomeless:
		return Decision{
			Stall, exampleappsv1.ReasonContainerNotFound,
			"the Deployment has no container of the name in containerName: correct it", Long,
		}, true
	case ImageOfMyApp:
		return Decision{
			Stall, exampleappsv1.ReasonImageOfMyApp,
			"the Deployment belongs to a MyApp, and so does its image: set it there and remove it here", Long,
		}, true
	case ImageNone, ImagePlaced:
	}
	return Decision{}, false
}

// contention waits with what is fought over.
func contention(s State) (Decision, bool) {
	if replicasAre(s, FieldHeld) || contentIs(s, FieldHeld) || s.Scaler == ScalerHeld {
		return Decision{Wait, exampleappsv1.ReasonContended, "somebody else sets a field again and again; it is put back seldom now", Turn}, true
	}
	return Decision{}, false
}

func pods(s State) (Decision, bool) {
	switch s.Pods {
	case PodsInTrouble:
		return Decision{Wait, exampleappsv1.ReasonSynced, "the Deployment is as declared, and its Pods are in trouble", Soon}, true
	case PodsProgressing:
		return Decision{Wait, exampleappsv1.ReasonSynced, "the Deployment is as declared, and its Pods are being started or replaced", Soon}, true
	case PodsAvailable:
	}
	return Decision{}, false
}

func replicasAre(s State, field Field) bool { return !s.Unplanned && s.Replicas == field }

func contentIs(s State, field Field) bool { return s.Image == ImagePlaced && s.Content == field }
