package myapp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	"github.com/example/vmoperator/src/controller/contention"
	"github.com/example/vmoperator/src/controller/myapp/decide"
)

// toldFailures is how many passes in a row must fail before the status of an
// object that was fine tells of it.
const toldFailures = 3

// nextStatus is the status that tells what this pass saw and decided.
func nextStatus(p *pass, s decide.State, d decide.Decision) exampleappsv1.MyAppStatus {
	next := *p.app.Status.DeepCopy()
	if s.Deleting || s.Fault && p.seen.failures < toldFailures && next.ObservedGeneration == p.app.Generation {
		return next
	}
	next.ObservedGeneration = p.app.Generation
	if !s.Fault {
		showDeployment(&next, p)
	}
	for _, condition := range conditions(p, s, d) {
		if condition.ObservedGeneration == 0 {
			condition.ObservedGeneration = p.app.Generation
		}
		condition.LastTransitionTime = metav1.NewTime(p.now)
		setCondition(&next.Conditions, condition)
	}
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
	default:
	}
	own := []metav1.Condition{ready(p, s, d, message), synced(p, d, message), reconciling, stalled, contended(p)}
	if s.Fault {
		return own
	}
	return slices.Concat(own, []metav1.Condition{
		fromDeployment(p, appsv1.DeploymentAvailable, d, message), fromDeployment(p, appsv1.DeploymentProgressing, d, message),
	})
}

// ready tells whether all Pods run what is declared and are available.
func ready(p *pass, s decide.State, d decide.Decision, message string) metav1.Condition {
	condition := metav1.Condition{Type: exampleappsv1.ConditionReady, Status: metav1.ConditionFalse}
	last := meta.FindStatusCondition(p.app.Status.Conditions, exampleappsv1.ConditionReady)
	differs := s.Deployment.State != decide.ChildSame || s.Service.State != decide.ChildSame
	switch {
	case s.Fault && last != nil:
		// Of the generation that it was seen under, for nobody has looked since.
		return *last
	case s.Fault, d.Action == decide.Stall, differs:
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

// synced tells whether the last look found Deployment and Service as declared.
func synced(p *pass, d decide.Decision, message string) metav1.Condition {
	condition := metav1.Condition{Type: exampleappsv1.ConditionSynced, Status: metav1.ConditionFalse, Reason: d.Reason, Message: message}
	switch d.Reason {
	case exampleappsv1.ReasonPaused:
		condition.Status = metav1.ConditionUnknown
	case exampleappsv1.ReasonSynced:
		condition.Status, condition.Message = metav1.ConditionTrue, "Deployment and Service are as declared"
		if p.scaler != "" {
			condition.Message += "; the number of replicas is AppAutoscaler " + p.scaler + "'s"
		}
	}
	return condition
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

// setCondition sets a condition, or removes one that has no status.
func setCondition(conditions *[]metav1.Condition, condition metav1.Condition) {
	if condition.Status == "" {
		meta.RemoveStatusCondition(conditions, condition.Type)
		return
	}
	condition.Message = shorten(condition.Message)
	meta.SetStatusCondition(conditions, condition)
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

// writeStatus stores the status if it differs from what is stored. It is bound to
// the version that the pass has read: of two passes, the later one is right.
func (r *Reconciler) writeStatus(ctx context.Context, p *pass, next exampleappsv1.MyAppStatus) error {
	if equality.Semantic.DeepEqual(p.app.Status, next) {
		return nil
	}
	changed := p.app.DeepCopy()
	changed.Status = next
	patch := client.MergeFromWithOptions(p.app, client.MergeFromWithOptimisticLock{})
	err := r.Client.Status().Patch(ctx, changed, patch, client.FieldOwner(exampleappsv1.FieldOwner))
	switch {
	case apierrors.IsNotFound(err):
		// It is gone, and so is whoever would read its status.
		return nil
	case err != nil:
		return fmt.Errorf("writing the status: %w", err)
	}
	p.app = changed
	p.seen.version = changed.ResourceVersion
	return nil
}
