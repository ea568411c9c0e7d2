// Package podtrouble finds out why Pods of a Deployment are not available.
package podtrouble

import (
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Trouble is what is wrong with a Pod; without a reason, nothing is known to be.
type Trouble struct {
	// Reason is Kubernetes' own word, such as ImagePullBackOff, fit for a condition.
	Reason string
	// Message tells people more. It stays the same while the trouble does.
	Message string
}

// OfResources reports whether what containers request, or may use at most, can be
// the cause.
func (t Trouble) OfResources() bool {
	switch t.Reason {
	case corev1.PodReasonUnschedulable, "FailedCreate", "OOMKilled":
		return true
	default:
		return false
	}
}

// Available reports whether all Pods run what is declared and are available.
func Available(deployment *appsv1.Deployment) bool {
	status, wanted := deployment.Status, *deployment.Spec.Replicas
	return Observed(deployment) && status.Replicas == wanted && status.UpdatedReplicas == wanted && status.AvailableReplicas == wanted
}

// Observed reports whether the status is of what is declared now.
func Observed(deployment *appsv1.Deployment) bool {
	return deployment.Status.ObservedGeneration >= deployment.Generation
}

// Pods are listed in two portions, for a Deployment may have thousands: those that
// have not started first, for they tell most.
const (
	pendingListed = 20
	runningListed = 100
)

// Find looks for the first Pod that something is wrong with. What keeps Pods from
// being created at all is told by the Deployment itself. The reader should read
// past every cache: most Pods of a cluster are nobody's concern here.
func Find(ctx context.Context, reader client.Reader, deployment *appsv1.Deployment) (Trouble, error) {
	if failure := condition(deployment, appsv1.DeploymentReplicaFailure); failure != nil && failure.Status == corev1.ConditionTrue {
		return newTrouble(failure.Reason, failure.Message), nil
	}
	selector, err := metav1.LabelSelectorAsSelector(deployment.Spec.Selector)
	if err != nil {
		return Trouble{}, fmt.Errorf("reading the Deployment's selector: %w", err)
	}
	for _, portion := range []struct {
		phase corev1.PodPhase
		limit int64
	}{{corev1.PodPending, pendingListed}, {corev1.PodRunning, runningListed}} {
		var pods corev1.PodList
		err := reader.List(ctx, &pods, client.InNamespace(deployment.Namespace), client.MatchingLabelsSelector{Selector: selector},
			client.MatchingFields{"status.phase": string(portion.phase)}, client.Limit(portion.limit))
		if err != nil {
			return Trouble{}, fmt.Errorf("listing the Deployment's Pods: %w", err)
		}
		for i := range pods.Items {
			if found := of(&pods.Items[i]); found.Reason != "" && belongs(&pods.Items[i], deployment) {
				return found, nil
			}
		}
	}
	if progress := condition(deployment, appsv1.DeploymentProgressing); progress != nil && progress.Status == corev1.ConditionFalse {
		return newTrouble(progress.Reason, progress.Message), nil
	}
	return Trouble{}, nil
}

func condition(deployment *appsv1.Deployment, conditionType appsv1.DeploymentConditionType) *appsv1.DeploymentCondition {
	i := slices.IndexFunc(deployment.Status.Conditions, func(c appsv1.DeploymentCondition) bool { return c.Type == conditionType })
	if i < 0 {
		return nil
	}
	return &deployment.Status.Conditions[i]
}

// belongs reports whether a Pod that the selector finds is the Deployment's: that
// of another may have the same labels.
func belongs(pod *corev1.Pod, deployment *appsv1.Deployment) bool {
	controller := metav1.GetControllerOf(pod)
	return controller != nil && controller.Kind == "ReplicaSet" &&
		controller.Name == deployment.Name+"-"+pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey]
}

// of says what is wrong with a Pod.
func of(pod *corev1.Pod) Trouble {
	if pod.DeletionTimestamp != nil {
		return Trouble{}
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return newTrouble(c.Reason, c.Message)
		}
	}
	statuses := slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses)
	for i := range statuses {
		if reason := ofContainer(&statuses[i]); reason != "" {
			return newTrouble(reason, fmt.Sprintf("container %s (image %s) does not run", statuses[i].Name, statuses[i].Image))
		}
	}
	return Trouble{}
}

// ofContainer is the reason why a container does not run. The kubelet names a
// trouble differently while it tries again and while it waits: here it has one
// name, so that it is told once.
func ofContainer(status *corev1.ContainerStatus) string {
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

// maxReason is shorter than what conditions and events accept of a reason: 1024
// and 128.
const maxReason = 120

// newTrouble makes a reason of a Pod's or a Deployment's one that a condition may
// have: nobody checks theirs.
func newTrouble(reason, message string) Trouble {
	var text strings.Builder
	for _, r := range reason {
		isLetter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if isLetter || text.Len() > 0 && (r == '_' || r >= '0' && r <= '9') {
			text.WriteRune(r)
		}
	}
	trimmed := strings.TrimRight(text.String(), "_")
	if trimmed == "" {
		return Trouble{}
	}
	return Trouble{Reason: strings.TrimRight(trimmed[:min(len(trimmed), maxReason)], "_"), Message: message}
}
