package appautoscaler

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	"github.com/example/vmoperator/src/controller/appautoscaler/decide"
)

// toldFailures is how many passes in a row must fail before the status of an
// object that was fine tells of it.
const toldFailures = 3

// nextStatus is the status that tells what this pass saw and decided.
func nextStatus(p *pass, s decide.State, d decide.Decision) exampleappsv1.AppAutoscalerStatus {
	next := *p.autoscaler.Status.DeepCopy()
	if s.Fault && p.seen.failures < toldFailures && next.ObservedGeneration == p.autoscaler.Generation {
		return next
	}
	next.ObservedGeneration = p.autoscaler.Generation
	next.State = state(p, s, d)
	if !s.Fault {
		showDeployment(&next, p, s)
	}
	for _, condition := range conditions(p, s, d) {
		if condition.ObservedGeneration == 0 {
			condition.ObservedGeneration = p.autoscaler.Generation
		}
		condition.LastTransitionTime = metav1.NewTime(p.now)
		setCondition(&next.Conditions, condition)
	}
	return next
}

// showDeployment takes over what the Deployment shows, if it is ours to work on.
func showDeployment(next *exampleappsv1.AppAutoscalerStatus, p *pass, s decide.State) {
	next.Replicas, next.Selector = 0, ""
	if p.deployment == nil || s.Claimed || s.Deployment == decide.DeploymentForeign {
		return
	}
	next.Replicas = p.deployment.Status.Replicas
	if selector, err := metav1.LabelSelectorAsSelector(p.deployment.Spec.Selector); err == nil && len(selector.String()) <= maxSelector {
		next.Selector = selector.String()
	}
}

// maxSelector is the bound of status.selector. A status with a longer one could
// not be written at all.
const maxSelector = 4096

// state says in one word how object and Deployment stand to each other.
func state(p *pass, s decide.State, d decide.Decision) exampleappsv1.AppAutoscalerState {
	switch {
	case d.Reason == exampleappsv1.ReasonPaused:
		return exampleappsv1.StatePaused
	case d.Action == decide.Stall && slices.Contains(exampleappsv1.AppAutoscalerConflictReasons(), d.Reason):
		return exampleappsv1.StateConflict
	case d.Action == decide.Stall, s.Fault && p.seen.failures >= toldFailures:
		return exampleappsv1.StateFailed
	case len(p.fought()) > 0:
		return exampleappsv1.StateContended
	case d.Action == decide.None && d.Reason == exampleappsv1.ReasonSynced:
		return exampleappsv1.StateAligned
	default:
		return exampleappsv1.StateReconciling
	}
}

// conditions are the conditions to set; one with an empty status is to be absent.
func conditions(p *pass, s decide.State, d decide.Decision) []metav1.Condition {
	message := d.Message
	if p.fault != nil {
		message += ": " + p.fault.Error()
	}
	reconciling := metav1.Condition{Type: exampleappsv1.ConditionReconciling}
	stalled := metav1.Condition{Type: exampleappsv1.ConditionStalled}
	switch d.Action {
	case decide.Stall:
		stalled.Status, stalled.Reason, stalled.Message = metav1.ConditionTrue, d.Reason, message
	case decide.Wait:
		reconciling.Status, reconciling.Reason, reconciling.Message = metav1.ConditionTrue, d.Reason, message
		if d.Reason == exampleappsv1.ReasonSynced {
			reconciling.Reason = exampleappsv1.ReasonProgressing
		}
	case decide.None, decide.Create, decide.Inspect, decide.PutBack:
	}
	return []metav1.Condition{ready(p, s, d, message), synced(d, message), reconciling, stalled, contended(p)}
}

// ready tells whether all Pods run what is declared and are available.
func ready(p *pass, s decide.State, d decide.Decision, message string) metav1.Condition {
	condition := metav1.Condition{Type: exampleappsv1.ConditionReady, Status: metav1.ConditionFalse}
	last := meta.FindStatusCondition(p.autoscaler.Status.Conditions, exampleappsv1.ConditionReady)
	switch {
	case s.Fault && last != nil:
		// Of the generation that it was seen under, for nobody has looked since.
		return *last
	case s.Fault, s.Claimed, s.Deleting, !s.Deployment.Exists(), d.Reason == exampleappsv1.ReasonContended:
		condition.Reason, condition.Message = d.Reason, message
	case s.Pods == decide.PodsAvailable:
		condition.Status, condition.Reason = metav1.ConditionTrue, exampleappsv1.ReasonAvailable
		condition.Message = "all Pods are available"
	case s.Pods == decide.PodsInTrouble:
		condition.Reason, condition.Message = p.trouble.Reason, p.trouble.Message
	default:
		condition.Reason, condition.Message = exampleappsv1.ReasonProgressing, "Pods are being started or replaced"
	}
	return condition
}

// synced tells whether the last look found the Deployment as declared.
func synced(d decide.Decision, message string) metav1.Condition {
	condition := metav1.Condition{Type: exampleappsv1.ConditionSynced, Status: metav1.ConditionFalse, Reason: d.Reason, Message: message}
	switch d.Reason {
	case exampleappsv1.ReasonPaused:
		condition.Status = metav1.ConditionUnknown
	case exampleappsv1.ReasonSynced:
		condition.Status, condition.Message = metav1.ConditionTrue, "the Deployment is as declared"
	}
	return condition
}

// contended tells of fights over fields.
func contended(p *pass) metav1.Condition {
	condition := metav1.Condition{Type: exampleappsv1.ConditionContended}
	fought := p.fought()
	if len(fought) == 0 {
		return condition
	}
	last := meta.FindStatusCondition(p.autoscaler.Status.Conditions, exampleappsv1.ConditionContended)
	others := make([]string, 0, len(fought))
	for _, field := range fought {
		other := p.seen.of(field).other
		if other.Manager == "" && last != nil {
			// Another process has seen who it is.
			return *last
		}
		others = append(others, fmt.Sprintf("%s (%s)", field, other.Name()))
	}
	condition.Status, condition.Reason = metav1.ConditionTrue, exampleappsv1.ReasonContended
	condition.Message = "set by somebody else again and again, and put back every 5 minutes at most: " + strings.Join(others, ", ")
	return condition
}

// fought are the fields that are fought over.
func (p *pass) fought() []string {
	var fought []string
	for _, field := range []string{fieldReplicas, fieldImage} {
		if p.seen.of(field).Contended(p.now) {
			fought = append(fought, field)
		}
	}
	return fought
}

// setCondition sets a condition, or removes one that has no status.
func setCondition(all *[]metav1.Condition, condition metav1.Condition) {
	if condition.Status == "" {
		meta.RemoveStatusCondition(all, condition.Type)
		return
	}
	condition.Message = shorten(condition.Message)
	meta.SetStatusCondition(all, condition)
}

// maxMessage leaves room for the dots in the 1024 bytes that the API accepts of an
// event's note; a condition's message may be longer.
const maxMessage = 1000

func shorten(message string) string {
	if len(message) <= maxMessage {
		return message
	}
	return strings.ToValidUTF8(message[:maxMessage], "") + "..."
}
