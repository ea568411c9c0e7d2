package appautoscaler

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/log"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
)

// Reasons of events that no condition has.
const (
	reasonCreated         = "Created"
	reasonReplicasPutBack = "ReplicasPutBack"
	reasonImagePutBack    = "ImagePutBack"
	reasonResourcesSet    = "ResourcesSet"
)

// happening is something that happened, to be told in one event.
type happening struct {
	reason  string
	note    string
	warning bool
	// about is the one other object concerned, in the version that it had. Events of
	// one reason about the same versions are joined into one, whatever their notes say.
	about runtime.Object
}

// happened remembers something to tell once the status is stored.
func (p *pass) happened(h happening) { p.events = append(p.events, h) }

// tell sends and logs the pass's events, and one for each condition that turned to
// what a user should know of.
func (r *Reconciler) tell(ctx context.Context, p *pass, before, after exampleappsv1.AppAutoscalerStatus) {
	for _, h := range slices.Concat(p.events, turns(before.Conditions, after.Conditions), p.blames()) {
		kind := corev1.EventTypeNormal
		if h.warning {
			kind = corev1.EventTypeWarning
		}
		log.FromContext(ctx).Info(h.note, "reason", h.reason)
		r.Recorder.Eventf(p.autoscaler, h.about, kind, h.reason, "Reconcile", "%s", shorten(h.note))
	}
	if p.fault != nil {
		log.FromContext(ctx).Error(p.fault, "a pass failed", "failures", p.seen.failures)
	}
}

// turns are the events of conditions that changed.
func turns(before, after []metav1.Condition) []happening {
	var result []happening
	if ready := turned(before, after, exampleappsv1.ConditionReady); ready != nil {
		switch {
		case ready.Status == metav1.ConditionTrue:
			result = append(result, happening{reason: ready.Reason, note: ready.Message})
		case isTrouble(ready.Reason, after):
			result = append(result, happening{reason: ready.Reason, note: ready.Message, warning: true})
		}
	}
	for _, conditionType := range []string{exampleappsv1.ConditionContended, exampleappsv1.ConditionStalled} {
		if turned := turned(before, after, conditionType); turned != nil {
			result = append(result, happening{reason: turned.Reason, note: turned.Message, warning: true})
		}
	}
	if synced := turned(before, after, exampleappsv1.ConditionSynced); synced != nil && synced.Reason == exampleappsv1.ReasonReconcileFailed {
		result = append(result, happening{reason: synced.Reason, note: synced.Message, warning: true})
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

// turned is a condition whose status or reason is new; nil if it is not.
func turned(before, after []metav1.Condition, conditionType string) *metav1.Condition {
	now, was := meta.FindStatusCondition(after, conditionType), meta.FindStatusCondition(before, conditionType)
	if now == nil || (was != nil && was.Status == now.Status && was.Reason == now.Reason) {
		return nil
	}
	return now
}

// blames tell, with a trouble that is news, who has set the containers' limits.
func (p *pass) blames() []happening {
	result := make([]happening, 0, len(p.limits))
	for _, container := range slices.Sorted(maps.Keys(p.limits)) {
		result = append(result, happening{
			reason: reasonResourcesSet, warning: true, about: p.deployment,
			note: fmt.Sprintf("container %s has resources.limits, set by %s; a Pod of it is in trouble: %s", container, p.limits[container], p.trouble.Reason),
		})
	}
	return result
}
