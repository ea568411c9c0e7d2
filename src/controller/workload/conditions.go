package workload

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	"github.com/example/vmoperator/src/controller/condition"
	"github.com/example/vmoperator/src/controller/happening"
	"github.com/example/vmoperator/src/controller/podtrouble"
)

// ToldFailures is how many passes in a row must fail before the status of an
// object that was fine tells of it.
const ToldFailures = 3

// Outcome is how a pass ended.
type Outcome struct {
	// Stalled: a person must act. Waiting: work goes on.
	Stalled, Waiting bool
	Reason, Message  string
}

// Progress are the conditions Reconciling and Stalled. One that is not true has no
// status, for it is to be absent.
func Progress(o Outcome) []metav1.Condition {
	reconciling := metav1.Condition{Type: exampleappsv1.ConditionReconciling}
	stalled := metav1.Condition{Type: exampleappsv1.ConditionStalled}
	switch {
	case o.Stalled:
		stalled.Status, stalled.Reason, stalled.Message = metav1.ConditionTrue, o.Reason, o.Message
	case o.Waiting:
		reconciling.Status, reconciling.Reason, reconciling.Message = metav1.ConditionTrue, o.Reason, o.Message
		if o.Reason == exampleappsv1.ReasonSynced {
			reconciling.Reason = exampleappsv1.ReasonProgressing
		}
	}
	return []metav1.Condition{reconciling, stalled}
}

// Ready tells how the Pods are of a Deployment that is as declared.
func Ready(available bool, trouble podtrouble.Trouble) metav1.Condition {
	ready := metav1.Condition{Type: exampleappsv1.ConditionReady, Status: metav1.ConditionFalse}
	switch {
	case available:
		ready.Status, ready.Reason, ready.Message = metav1.ConditionTrue, exampleappsv1.ReasonAvailable, "all Pods are available"
	case trouble.Reason != "":
		ready.Reason, ready.Message = trouble.Reason, trouble.Message
	default:
		ready.Reason, ready.Message = exampleappsv1.ReasonProgressing, "Pods are being started or replaced"
	}
	return ready
}

// Synced tells whether the last look found all as declared, which asDeclared says
// in words.
func Synced(o Outcome, asDeclared string) metav1.Condition {
	synced := metav1.Condition{Type: exampleappsv1.ConditionSynced, Status: metav1.ConditionFalse, Reason: o.Reason, Message: o.Message}
	switch o.Reason {
	case exampleappsv1.ReasonPaused:
		synced.Status = metav1.ConditionUnknown
	case exampleappsv1.ReasonSynced:
		synced.Status, synced.Message = metav1.ConditionTrue, asDeclared
	}
	return synced
}

// SetAll sets the conditions of a pass over one generation. Those that have a
// generation keep it: they tell of an earlier look.
func SetAll(all *[]metav1.Condition, conditions []metav1.Condition, generation int64, now metav1.Time) {
	for _, c := range conditions {
		if c.ObservedGeneration == 0 {
			c.ObservedGeneration = generation
		}
		c.LastTransitionTime = now
		condition.Set(all, c)
	}
}

// Turns are the happenings of conditions that changed to what a user should know
// of.
func Turns(before, after []metav1.Condition) []happening.Happening {
	var result []happening.Happening
	if ready := condition.Turned(before, after, exampleappsv1.ConditionReady); ready != nil {
		isReady := ready.Status == metav1.ConditionTrue
		if isReady || isTrouble(ready.Reason, after) {
			result = append(result, happening.Happening{Reason: ready.Reason, Note: ready.Message, Warning: !isReady})
		}
	}
	for _, conditionType := range []string{exampleappsv1.ConditionContended, exampleappsv1.ConditionStalled} {
		if turned := condition.Turned(before, after, conditionType); turned != nil {
			result = append(result, happening.Happening{Reason: turned.Reason, Note: turned.Message, Warning: true})
		}
	}
	if synced := condition.Turned(before, after, exampleappsv1.ConditionSynced); synced != nil && synced.Reason == exampleappsv1.ReasonReconcileFailed {
		result = append(result, happening.Happening{Reason: synced.Reason, Note: synced.Message, Warning: true})
	}
	return result
}

// isTrouble reports whether Ready tells of Pods in trouble, and not of what another
// condition tells.
func isTrouble(reason string, all []metav1.Condition) bool {
	if reason == exampleappsv1.ReasonProgressing {
		return false
	}
	for _, conditionType := range []string{exampleappsv1.ConditionSynced, exampleappsv1.ConditionStalled, exampleappsv1.ConditionContended} {
		if other := meta.FindStatusCondition(all, conditionType); other != nil && other.Reason == reason {
			return false
		}
	}
	return true
}
