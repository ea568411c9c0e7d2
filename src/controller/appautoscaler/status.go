package appautoscaler

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	"github.com/example/vmoperator/src/controller/appautoscaler/decide"
	"github.com/example/vmoperator/src/controller/workload"
)

// nextStatus is the status that tells what this pass saw and decided.
func nextStatus(p *pass, s decide.State, d decide.Decision) exampleappsv1.AppAutoscalerStatus {
	next := *p.autoscaler.Status.DeepCopy()
	if s.Fault && p.seen.failures < workload.ToldFailures && next.ObservedGeneration == p.autoscaler.Generation {
		return next
	}
	next.ObservedGeneration = p.autoscaler.Generation
	next.State = state(p, s, d)
	if !s.Fault {
		showDeployment(&next, p, s)
		showPlan(&next, p, s)
	}
	workload.SetAll(&next.Conditions, conditions(p, s, d), p.autoscaler.Generation, metav1.NewTime(p.now))
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

// showPlan tells of the schedules, if they count.
func showPlan(next *exampleappsv1.AppAutoscalerStatus, p *pass, s decide.State) {
	next.Schedule = nil
	idle := s.Deleting || s.Paused || s.Claimed || s.Deployment == decide.DeploymentForeign || s.Scaler == decide.ScalerForeign
	if !idle && !s.Unplanned && len(p.autoscaler.Spec.Schedules) > 0 {
		next.Schedule = p.plan.status()
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
	case d.Action == decide.Stall, s.Fault && p.seen.failures >= workload.ToldFailures:
		return exampleappsv1.StateFailed
	case len(p.fought()) > 0:
		return exampleappsv1.StateContended
	case d.Action != decide.None || d.Reason != exampleappsv1.ReasonSynced:
		return exampleappsv1.StateReconciling
	case len(p.plan.inForce) > 0:
		return exampleappsv1.StateScheduled
	case p.wanted.scaler != nil:
		return exampleappsv1.StateAutoscaling
	default:
		return exampleappsv1.StateAligned
	}
}

// conditions are the conditions to set; one with an empty status is to be absent.
func conditions(p *pass, s decide.State, d decide.Decision) []metav1.Condition {
	message := d.Message
	switch {
	case p.fault != nil:
		message += ": " + p.fault.Error()
	case d.Reason == exampleappsv1.ReasonRefused:
		message += ": " + p.seen.refused.message
	case d.Reason == exampleappsv1.ReasonInvalidSchedule:
		message += ": " + p.plan.invalid.Error()
	case d.Reason == exampleappsv1.ReasonForeignScaler:
		message += ": " + p.rival
	}
	outcome := workload.Outcome{Stalled: d.Action == decide.Stall, Waiting: d.Action == decide.Wait, Reason: d.Reason, Message: message}
	return slices.Concat(
		[]metav1.Condition{ready(p, s, d, message), workload.Synced(outcome, asDeclared(p))},
		workload.Progress(outcome),
		[]metav1.Condition{contended(p), p.scalingInactive()},
	)
}

func asDeclared(p *pass) string {
	if p.wanted.scaler == nil {
		return "the Deployment is as declared"
	}
	least, most := bounds(p.wanted.scaler)
	return fmt.Sprintf("the Deployment is as declared, and a HorizontalPodAutoscaler sets %d to %d replicas", least, most)
}

// ready tells whether all Pods run what is declared and are available.
func ready(p *pass, s decide.State, d decide.Decision, message string) metav1.Condition {
	last := meta.FindStatusCondition(p.autoscaler.Status.Conditions, exampleappsv1.ConditionReady)
	switch {
	case s.Fault && last != nil:
		// Of the generation that it was seen under, for nobody has looked since.
		return *last
	case s.Fault, s.Claimed, s.Deleting, !s.Deployment.Exists(), d.Reason == exampleappsv1.ReasonContended:
		return metav1.Condition{Type: exampleappsv1.ConditionReady, Status: metav1.ConditionFalse, Reason: d.Reason, Message: message}
	}
	return workload.Ready(s.Pods == decide.PodsAvailable, p.trouble)
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
	for _, field := range fields() {
		if p.seen.of(field).Contended(p.now) {
			fought = append(fought, field)
		}
	}
	return fought
}
