package appautoscaler_test

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// kubelet stands in for scheduler and kubelets: it gives every Pod that there is,
// or will be, this status, until the test ends or the returned function is called.
func (w *world) kubelet(status func(*corev1.Pod)) func() {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		// A Pod may be gone, or changed by somebody else: the next look sees.
		_ = wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(ctx context.Context) (bool, error) {
			var pods corev1.PodList
			if err := w.client.List(ctx, &pods, client.InNamespace(w.namespace)); err != nil {
				return false, nil //nolint:nilerr // the next look may succeed
			}
			for i := range pods.Items {
				pod := &pods.Items[i]
				before := pod.DeepCopy()
				status(pod)
				_ = w.client.Status().Patch(ctx, pod, client.StrategicMergeFrom(before), client.FieldOwner("kubelet"))
			}
			return false, nil
		})
	}()
	stop := func() { cancel(); <-done }
	w.t.Cleanup(stop)
	return stop
}

// running makes a Pod ready.
func running(pod *corev1.Pod) {
	if pod.Status.Phase == corev1.PodRunning && len(pod.Status.Conditions) == 1 {
		return
	}
	pod.Status.Phase = corev1.PodRunning
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()}}
	pod.Status.ContainerStatuses = nil
}

// unschedulable says that no node has room for a Pod.
func unschedulable(pod *corev1.Pod) {
	pod.Status.Phase = corev1.PodPending
	pod.Status.Conditions = []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
		Message: "0/3 nodes are available: 3 Insufficient cpu.",
	}}
}

// badImage says that a Pod's image cannot be pulled, now in one way, now in the
// other, as a kubelet does.
func badImage() func(*corev1.Pod) {
	looks := 0
	return func(pod *corev1.Pod) {
		looks++
		reason := "ErrImagePull"
		if looks%2 == 0 {
			reason = "ImagePullBackOff"
		}
		container := pod.Spec.Containers[0]
		pod.Status.Phase = corev1.PodPending
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name: container.Name, Image: container.Image,
			State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: "not found"}},
		}}
	}
}
