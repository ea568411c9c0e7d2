package decide

import (
	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
)

// Decide says what to do next.
func Decide(s State) Decision {
	switch {
	case s.Deleting:
		return Decision{None, exampleappsv1.ReasonDeleting, "the object is being deleted, and what it owns with it", Never}
	case s.Paused:
		return Decision{None, exampleappsv1.ReasonPaused, "the annotation " + exampleappsv1.PausedAnnotation + " stops all work on this object", Never}
	case s.Fault:
		return Decision{Wait, exampleappsv1.ReasonReconcileFailed, "the Deployment or the Service could not be read or written", Backoff}
	case s.Refused:
		return Decision{Stall, exampleappsv1.ReasonRefused, "the Kubernetes API refuses what the spec asks for: change the spec", Long}
	}
	if d, more := deployment(s.Deployment); more {
		return d
	}
	if d, more := service(s.Service); more {
		return d
	}
	return settled(s)
}

// deployment decides while the Deployment must be worked on or waited for. Without
// one of its own, an object makes no Service either, for that would lead nowhere.
func deployment(c Child) (d Decision, more bool) {
	switch c.State {
	case ChildMissing, ChildDiffers:
		if !c.Fresh {
			return Decision{InspectDeployment, exampleappsv1.ReasonApplying, "the Deployment is being looked at", Never}, true
		}
		return Decision{ApplyDeployment, exampleappsv1.ReasonApplying, "the Deployment is being written", Never}, true
	case ChildWaiting:
		return Decision{Wait, exampleappsv1.ReasonWaiting, "the Deployment is being deleted: it is made again once it is gone", Soon}, true
	case ChildForeign:
		return Decision{Stall, exampleappsv1.ReasonChildConflict, "a Deployment of this name belongs to somebody else: " +
			"remove it, or give this object another name", Long}, true
	case ChildSame, ChildHeld, ChildSurplus, childStates:
	}
	return Decision{}, false
}

// service decides while the Service must be worked on or waited for.
func service(c Child) (d Decision, more bool) {
	switch c.State {
	case ChildMissing, ChildDiffers:
		if !c.Fresh {
			return Decision{InspectService, exampleappsv1.ReasonApplying, "the Service is being looked at", Never}, true
		}
		return Decision{ApplyService, exampleappsv1.ReasonApplying, "the Service is being written", Never}, true
	case ChildSurplus:
		return Decision{DeleteService, exampleappsv1.ReasonApplying, "there are no ports any more: the Service is being deleted", Never}, true
	case ChildWaiting:
		return Decision{Wait, exampleappsv1.ReasonWaiting, "the Service is being deleted: it is made again once it is gone", Soon}, true
	case ChildForeign:
		return Decision{Stall, exampleappsv1.ReasonChildConflict, "a Service of this name belongs to somebody else: " +
			"remove it, or give this object another name", Long}, true
	case ChildSame, ChildHeld, childStates:
	}
	return Decision{}, false
}

// settled decides where there is nothing left to write now.
func settled(s State) Decision {
	switch {
	case s.Deployment.State == ChildHeld, s.Service.State == ChildHeld:
		return Decision{Wait, exampleappsv1.ReasonContended, "somebody else changes the Deployment or the Service again and again", Turn}
	case s.Pods == PodsAvailable:
		return Decision{None, exampleappsv1.ReasonSynced, "Deployment and Service are as declared", Long}
	default:
		return Decision{Wait, exampleappsv1.ReasonSynced, "Deployment and Service are as declared, and Pods are not available yet", Soon}
	}
}
