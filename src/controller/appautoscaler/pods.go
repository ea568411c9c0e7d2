package appautoscaler

import (
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	"github.com/example/vmoperator/src/controller/appautoscaler/decide"
	"github.com/example/vmoperator/src/controller/appautoscaler/manager"
)

// trouble is what is wrong with a Pod; without a reason, nothing is known to be.
type trouble struct {
	reason, message string
}

// pods says how the Deployment's Pods are. They are read only where the
// Deployment tells that some are not available, and never through a cache: most
// Pods of a cluster are nobody's concern here.
func (r *Reconciler) pods(ctx context.Context, p *pass) decide.Pods {
	if available(p.deployment) {
		return decide.PodsAvailable
	}
	if p.deployment.Status.ObservedGeneration < p.deployment.Generation || p.fault != nil {
		// The Pods that there are belong to what was declared before.
		return decide.PodsProgressing
	}
	if !p.looked {
		found, err := r.findTrouble(ctx, p.deployment)
		if err != nil {
			p.fault = err
			return decide.PodsProgressing
		}
		p.trouble, p.looked = found, true
	}
	if p.trouble.reason == "" {
		return decide.PodsProgressing
	}
	r.blame(ctx, p)
	return decide.PodsInTrouble
}

// available reports whether all Pods run what is declared and are available.
func available(deployment *appsv1.Deployment) bool {
	status, wanted := deployment.Status, *deployment.Spec.Replicas
	return status.ObservedGeneration >= deployment.Generation &&
		status.Replicas == wanted && status.UpdatedReplicas == wanted && status.AvailableReplicas == wanted
}

// Pods are listed in two portions, for a Deployment may have thousands: those that
// have not started first, for they tell most.
const (
	pendingListed = 20
	runningListed = 100
)

// findTrouble looks for the first Pod that something is wrong with. What keeps
// Pods from being created at all is told by the Deployment itself.
func (r *Reconciler) findTrouble(ctx context.Context, deployment *appsv1.Deployment) (trouble, error) {
	for _, condition := range deployment.Status.Conditions {
		if condition.Type == appsv1.DeploymentReplicaFailure && condition.Status == corev1.ConditionTrue {
			return trouble{reason: condition.Reason, message: condition.Message}, nil
		}
	}
	selector, err := metav1.LabelSelectorAsSelector(deployment.Spec.Selector)
	if err != nil {
		return trouble{}, fmt.Errorf("reading the Deployment's selector: %w", err)
	}
	for _, portion := range []struct {
		phase corev1.PodPhase
		limit int64
	}{{corev1.PodPending, pendingListed}, {corev1.PodRunning, runningListed}} {
		var pods corev1.PodList
		err := r.APIReader.List(ctx, &pods, client.InNamespace(deployment.Namespace), client.MatchingLabelsSelector{Selector: selector},
			client.MatchingFields{"status.phase": string(portion.phase)}, client.Limit(portion.limit))
		if err != nil {
			return trouble{}, fmt.Errorf("listing the Deployment's Pods: %w", err)
		}
		for i := range pods.Items {
			if found := troubleOf(&pods.Items[i]); found.reason != "" && belongs(&pods.Items[i], deployment) {
				return found, nil
			}
		}
	}
	return progress(deployment), nil
}

// progress is what the Deployment says where no Pod says more.
func progress(deployment *appsv1.Deployment) trouble {
	for _, condition := range deployment.Status.Conditions {
		if condition.Type == appsv1.DeploymentProgressing && condition.Status == corev1.ConditionFalse {
			return trouble{reason: condition.Reason, message: condition.Message}
		}
	}
	return trouble{}
}

// belongs reports whether a Pod that the selector finds is the Deployment's: that
// of another may have the same labels.
func belongs(pod *corev1.Pod, deployment *appsv1.Deployment) bool {
	controller := metav1.GetControllerOf(pod)
	return controller != nil && controller.Kind == "ReplicaSet" &&
		controller.Name == deployment.Name+"-"+pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey]
}

// troubleOf says what is wrong with a Pod, in words that stay the same while it is.
func troubleOf(pod *corev1.Pod) trouble {
	if pod.DeletionTimestamp != nil {
		return trouble{}
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
			return trouble{reason: condition.Reason, message: condition.Message}
		}
	}
	statuses := slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses)
	for i := range statuses {
		if reason := containerTrouble(&statuses[i]); reason != "" {
			return trouble{reason: reason, message: fmt.Sprintf("container %s (image %s) does not run", statuses[i].Name, statuses[i].Image)}
		}
	}
	return trouble{}
}

// containerTrouble is the reason why a container does not run. The kubelet names a
// trouble differently while it tries again and while it waits: here it has one
// name, so that it is told once.
func containerTrouble(status *corev1.ContainerStatus) string {
	if waiting := status.State.Waiting; waiting != nil {
		switch waiting.Reason {
		case "", "ContainerCreating", "PodInitializing":
			return ""
		case "ErrImagePull":
			return "ImagePullBackOff"
		}
		return waiting.Reason
	}
	last := status.LastTerminationState.Terminated
	if !status.Ready && last != nil && last.ExitCode != 0 {
		if last.Reason == "OOMKilled" {
			return last.Reason
		}
		return "CrashLoopBackOff"
	}
	return ""
}

// blame finds out, when a trouble is news, who has set the resources that the Pods
// may lack.
func (r *Reconciler) blame(ctx context.Context, p *pass) {
	told := meta.FindStatusCondition(p.autoscaler.Status.Conditions, exampleappsv1.ConditionReady)
	if p.limits != nil || p.fault != nil || told != nil && told.Reason == conditionReason(p.trouble.reason) {
		return
	}
	if !p.fresh {
		if err := r.readLive(ctx, p); err != nil {
			p.fault = err
			return
		}
	}
	p.limits = map[string]manager.Entry{}
	if p.deployment == nil {
		return
	}
	for i := range p.deployment.Spec.Template.Spec.Containers {
		name := p.deployment.Spec.Template.Spec.Containers[i].Name
		setter, err := manager.Of(p.deployment, manager.Container(name, "resources", "limits"))
		if err != nil {
			p.fault = err
			return
		}
		if setter.Manager != "" && setter.Manager != exampleappsv1.FieldOwner {
			p.limits[name] = setter
		}
	}
}

// conditionReason makes a reason of a Pod's or a Deployment's one that a condition
// may have: nobody checks theirs.
func conditionReason(reason string) string {
	var text strings.Builder
	for _, r := range reason {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z':
			text.WriteRune(r)
		case text.Len() > 0 && (r == '_' || r >= '0' && r <= '9'):
			text.WriteRune(r)
		}
	}
	trimmed := strings.TrimRight(text.String(), "_")
	if trimmed == "" {
		return exampleappsv1.ReasonProgressing
	}
	return trimmed[:min(len(trimmed), maxReason)]
}

// maxReason is shorter than what conditions and events accept of a reason: 1024
// and 128.
const maxReason = 120
