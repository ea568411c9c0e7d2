package myapp

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	"github.com/example/vmoperator/src/controller/contention"
	"github.com/example/vmoperator/src/controller/myapp/decide"
	"github.com/example/vmoperator/src/controller/workload"
)

// nextStatus is the status that tells what this pass saw and decided.
func nextStatus(p *pass, s decide.State, d decide.Decision) exampleappsv1.MyAppStatus {
	next := *p.app.Status.DeepCopy()
	if s.Deleting || s.Fault && p.seen.failures < workload.ToldFailures && next.ObservedGeneration == p.app.Generation {
		return next
	}
	next.ObservedGeneration = p.app.Generation
	if !s.Fault {
		showDeployment(&next, p)
	}
	workload.SetAll(&next.Conditions, conditions(p, s, d), p.app.Generation, metav1.NewTime(p.now))
	return next
}

// showDeployment takes over what the Deployment shows, if it is ours.
func showDeployment(next *exampleappsv1.MyAppStatus, p *pass) {
	next.Replicas, next.UpdatedReplicas, next.ReadyReplicas, next.AvailableReplicas, next.Selector = 0, 0, 0, 0, ""
	if !p.owned() {
		return
	}
	status := p.deployment.Status
	next.Replicas, next.UpdatedReplicas = status.Replicas, status.UpdatedReplicas
	next.ReadyReplicas, next.AvailableReplicas = status.ReadyReplicas, status.AvailableReplicas
	next.Selector = metav1.FormatLabelSelector(&metav1.LabelSelector{MatchLabels: podLabels(p.app)})
}

// conditions are the conditions to set; one with an empty status is to be absent.
func conditions(p *pass, s decide.State, d decide.Decision) []metav1.Condition {
	message := d.Message
	switch {
	case p.fault != nil:
		message += ": " + p.fault.Error()
	case d.Reason == exampleappsv1.ReasonRefused:
		message += ": " + p.seen.refused.message
	}
	outcome := workload.Outcome{Stalled: d.Action == decide.Stall, Waiting: d.Action == decide.Wait, Reason: d.Reason, Message: message}
	own := slices.Concat(
		[]metav1.Condition{ready(p, s, d, message), workload.Synced(outcome, p.asDeclared())},
		workload.Progress(outcome),
		[]metav1.Condition{contended(p)},
	)
	if s.Fault {
		return own
	}
	return append(own,
		fromDeployment(p, appsv1.DeploymentAvailable, d, message), fromDeployment(p, appsv1.DeploymentProgressing, d, message))
}

// asDeclared says that all is, but for what is not for this object to say.
func (p *pass) asDeclared() string {
	message := "Deployment and Service are as declared"
	if p.scaler != nil {
		message += "; the number of replicas is AppAutoscaler " + p.scaler.Name + "'s"
	}
	if len(p.overruled) > 0 {
		what := make([]string, len(p.overruled))
		for i, d := range p.overruled {
			what[i] = d.what
		}
		message += "; a policy or a webhook changes what is written: " + strings.Join(what, ", ")
	}
	return message
}

// ready tells whether all Pods run what is declared and are available.
func ready(p *pass, s decide.State, d decide.Decision, message string) metav1.Condition {
	last := meta.FindStatusCondition(p.app.Status.Conditions, exampleappsv1.ConditionReady)
	differs := s.Deployment.State != decide.ChildSame || s.Service.State != decide.ChildSame
	switch {
	case s.Fault && last != nil:
		// Of the generation that it was seen under, for nobody has looked since.
		return *last
	case s.Fault, d.Action == decide.Stall, differs:
		return metav1.Condition{Type: exampleappsv1.ConditionReady, Status: metav1.ConditionFalse, Reason: d.Reason, Message: message}
	}
	return workload.Ready(s.Pods == decide.PodsAvailable, p.trouble)
}

// fromDeployment is what the Deployment says of a condition that has the same name
// there. What it says of an earlier generation is not true of this one yet.
func fromDeployment(p *pass, conditionType appsv1.DeploymentConditionType, d decide.Decision, message string) metav1.Condition {
	condition := metav1.Condition{Type: string(conditionType), Status: metav1.ConditionFalse, Reason: d.Reason, Message: message}
	if !p.owned() {
		return condition
	}
	if conditionType == appsv1.DeploymentProgressing && p.deployment.Status.ObservedGeneration < p.deployment.Generation {
		condition.Status, condition.Reason = metav1.ConditionTrue, exampleappsv1.ReasonProgressing
		condition.Message = "the Deployment has been changed, and nothing is known of its Pods yet"
		return condition
	}
	i := slices.IndexFunc(p.deployment.Status.Conditions, func(c appsv1.DeploymentCondition) bool { return c.Type == conditionType })
	if i < 0 {
		condition.Status, condition.Reason, condition.Message = metav1.ConditionUnknown, exampleappsv1.ReasonProgressing, "the Deployment does not tell yet"
		return condition
	}
	told := p.deployment.Status.Conditions[i]
	condition.Status, condition.Reason, condition.Message = metav1.ConditionStatus(told.Status), told.Reason, told.Message
	return condition
}

// contended tells that somebody else changes again and again what is put back.
func contended(p *pass) metav1.Condition {
	condition := metav1.Condition{Type: exampleappsv1.ConditionContended}
	if p.seen.corrections.Contended(p.now) {
		condition.Status, condition.Reason = metav1.ConditionTrue, exampleappsv1.ReasonContended
		condition.Message = fmt.Sprintf("changed again and again by %s; put back at most every %s", p.seen.other, contention.Rest)
	}
	return condition
}
