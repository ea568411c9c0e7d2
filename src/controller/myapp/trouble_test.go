package myapp_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
)

// pod is a Pod of the Deployment, as its controllers would make it, that waits.
func (w *world) pod(reason string) *corev1.Pod {
	w.t.Helper()
	deployment := w.deployment()
	labels := map[string]string{"apps.example.io/my-app": shop, appsv1.DefaultDeploymentUniqueLabelKey: "1"}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: w.namespace, Name: "shop-1-a", Labels: labels,
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "shop-1", UID: w.replicaSet(deployment), Controller: new(true)}},
		},
		Spec: deployment.Spec.Template.Spec,
	}
	w.must(w.client.Create(w.t.Context(), pod))
	pod.Status = corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{{
		Name: shop, Image: container(deployment).Image, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: "no such image"}},
	}}}
	w.must(w.client.Status().Update(w.t.Context(), pod))
	return pod
}

// replicaSet keeps the garbage collector from taking the Pod.
func (w *world) replicaSet(deployment *appsv1.Deployment) (uid types.UID) {
	w.t.Helper()
	set := &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "shop-1", OwnerReferences: []metav1.OwnerReference{{
			APIVersion: "apps/v1", Kind: "Deployment", Name: shop, UID: deployment.UID, Controller: new(true),
		}}},
		Spec: appsv1.ReplicaSetSpec{Selector: deployment.Spec.Selector, Template: deployment.Spec.Template},
	}
	w.must(w.client.Create(w.t.Context(), set))
	return set.UID
}

// rollsOut says that a new Pod is not available, while the old one is.
func (w *world) rollsOut(progressing corev1.ConditionStatus, reason string) {
	w.t.Helper()
	w.says(func(d *appsv1.Deployment) {
		d.Status = appsv1.DeploymentStatus{
			ObservedGeneration: d.Generation, Replicas: 2, UpdatedReplicas: 1, ReadyReplicas: 1, AvailableReplicas: 1,
			Conditions: []appsv1.DeploymentCondition{
				{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue, Reason: "MinimumReplicasAvailable"},
				{Type: appsv1.DeploymentProgressing, Status: progressing, Reason: reason},
			},
		}
	})
}

func TestABadImageIsSeenAsSuchAndAGoodOneMendsIt(t *testing.T) {
	w := newWorld(t)
	w.settled()
	w.edit(func(app *exampleappsv1.MyApp) { app.Spec.Image = "registry.example.com/shop:nosuch" })
	w.awaits("the bad image", func(d *appsv1.Deployment) bool { return container(d).Image == "registry.example.com/shop:nosuch" })
	w.rollsOut(corev1.ConditionTrue, "ReplicaSetUpdated")
	w.shows("Ready", metav1.ConditionFalse, "Progressing")
	pod := w.pod("ErrImagePull")
	w.shows("Ready", metav1.ConditionFalse, "ImagePullBackOff")
	w.tells("ImagePullBackOff", "container shop (image registry.example.com/shop:nosuch) does not run")
	// The old Pods serve: that is the Deployment's own word, and the MyApp's.
	w.shows("Available", metav1.ConditionTrue, "MinimumReplicasAvailable")
	w.shows("Progressing", metav1.ConditionTrue, "ReplicaSetUpdated")
	w.rollsOut(corev1.ConditionFalse, "ProgressDeadlineExceeded")
	w.shows("Progressing", metav1.ConditionFalse, "ProgressDeadlineExceeded")

	w.edit(func(app *exampleappsv1.MyApp) { app.Spec.Image = image })
	w.awaits("the good image", func(d *appsv1.Deployment) bool { return container(d).Image == image })
	w.must(w.client.Delete(t.Context(), pod))
	w.runs()
	w.shows("Ready", metav1.ConditionTrue, "Available")
	w.shows("Progressing", metav1.ConditionTrue, "NewReplicaSetAvailable")
}

func TestWhatKeepsPodsFromBeingMadeIsTold(t *testing.T) {
	w := newWorld(t)
	w.app()
	w.shows("Synced", metav1.ConditionTrue, "Synced")
	w.says(func(d *appsv1.Deployment) {
		d.Status = appsv1.DeploymentStatus{ObservedGeneration: d.Generation, Conditions: []appsv1.DeploymentCondition{
			{Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Reason: "FailedCreate", Message: "exceeded quota"},
			{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionFalse, Reason: "MinimumReplicasUnavailable"},
		}}
	})
	w.shows("Ready", metav1.ConditionFalse, "FailedCreate")
	w.shows("Available", metav1.ConditionFalse, "MinimumReplicasUnavailable")
	w.tells("FailedCreate", "exceeded quota")
}
