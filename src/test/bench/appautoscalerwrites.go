package main

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
)

// createDeployment makes the Deployment that the operator would make.
func (a *appAutoscalers) createDeployment(ctx context.Context, i int, _ bool) error {
	meta := a.meta(i)
	labels := map[string]string{"app": meta.Name}
	meta.Labels = labels
	return a.client.Create(ctx, &appsv1.Deployment{
		ObjectMeta: meta,
		Spec: appsv1.DeploymentSpec{
			Replicas: new(declaredReplicas),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: meta.Name, Image: image}}},
			},
		},
	}, client.FieldOwner(exampleappsv1.FieldOwner))
}

func (a *appAutoscalers) putBack(ctx context.Context, i int, _ bool) error {
	patch := client.RawPatch(types.StrategicMergePatchType, replicasPatch(declaredReplicas))
	return a.client.Patch(ctx, &appsv1.Deployment{ObjectMeta: a.meta(i)}, patch, client.FieldOwner(exampleappsv1.FieldOwner))
}

func (a *appAutoscalers) patchStatus(ctx context.Context, i int, last bool) error {
	text, err := statusPatch(last)
	if err != nil {
		return err
	}
	object := &exampleappsv1.AppAutoscaler{ObjectMeta: a.meta(i)}
	return a.client.Status().Patch(ctx, object, client.RawPatch(types.MergePatchType, text), client.FieldOwner(exampleappsv1.FieldOwner))
}

func (a *appAutoscalers) createEvent(ctx context.Context, i int, _ bool) error {
	meta, now := a.meta(i), time.Now()
	about := corev1.ObjectReference{
		APIVersion: exampleappsv1.GroupVersion.String(), Kind: "AppAutoscaler", Namespace: meta.Namespace, Name: meta.Name, ResourceVersion: "1",
	}
	return a.client.Create(ctx, &eventsv1.Event{
		ObjectMeta:          metav1.ObjectMeta{Namespace: meta.Namespace, Name: fmt.Sprintf("%s.%x", meta.Name, now.UnixNano())},
		EventTime:           metav1.NewMicroTime(now),
		ReportingController: exampleappsv1.FieldOwner, ReportingInstance: exampleappsv1.FieldOwner + "-0",
		Action: "Reconcile", Reason: "ReplicasPutBack", Type: corev1.EventTypeNormal, Regarding: about,
		Note: fmt.Sprintf("replicas %d -> %d, set by kubectl via scale", strayReplicas, declaredReplicas),
	})
}
