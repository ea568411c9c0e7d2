package main

import (
	"context"
	"encoding/json"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	"github.com/example/vmoperator/src/controller/appautoscaler"
	"github.com/example/vmoperator/src/controller/podtrouble"
)

const (
	declaredReplicas int32 = 5
	strayReplicas    int32 = 2
	image                  = "registry.example.com/order-service:1.2.0"
)

// What the operator writes for an AppAutoscaler, as the audit log has it.
const (
	createDeployment = "create deployments"
	patchDeployment  = "patch deployments"
	patchStatus      = "patch appautoscalers/status"
	createEvent      = "create events"
)

// appAutoscalers are AppAutoscalers and their Deployments, in one namespace.
type appAutoscalers struct {
	client client.Client
	// seen is a cache.
	seen      client.Reader
	namespace string
}

// subject is what is measured of them.
func (a *appAutoscalers) subject() subject {
	return subject{
		kind: "AppAutoscalers", controller: "appautoscaler", workers: appautoscaler.DefaultConcurrency,
		phases: []phase{{
			name: "create", until: "from the first create until all are Aligned",
			begin: a.create, settled: func(ctx context.Context, i int) (bool, error) { return a.settled(ctx, i, 1) },
			// Of the status: that the Deployment is being rolled out, and that it is as declared.
			// The events tell the same.
			writes: []write{
				{call: createDeployment, most: 1, do: a.createDeployment},
				{call: patchStatus, most: 2, do: a.patchStatus},
				{call: createEvent, most: 2, aside: true, do: a.createEvent},
			},
		}, {
			name: "drift", until: "from the first kubectl scale until all are put back and Aligned",
			// The user's change and the correction are a generation each.
			begin: a.scale, settled: func(ctx context.Context, i int) (bool, error) { return a.settled(ctx, i, 3) },
			// One status more: the number of Pods that there were in between may be seen.
			writes: []write{
				{call: patchDeployment, most: 1, do: a.putBack},
				{call: patchStatus, most: 3, do: a.patchStatus},
				{call: createEvent, most: 2, aside: true, do: a.createEvent},
			},
		}},
	}
}

func (a *appAutoscalers) meta(i int) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: a.namespace, Name: fmt.Sprintf("order-service-%05d", i)}
}

func (a *appAutoscalers) create(ctx context.Context, i int) error {
	meta := a.meta(i)
	return a.client.Create(ctx, &exampleappsv1.AppAutoscaler{
		ObjectMeta: meta,
		Spec:       exampleappsv1.AppAutoscalerSpec{DeploymentName: meta.Name, Replicas: new(declaredReplicas), Image: image},
	})
}

// scale is "kubectl scale deployment".
func (a *appAutoscalers) scale(ctx context.Context, i int) error {
	patch := client.RawPatch(types.MergePatchType, replicasPatch(strayReplicas))
	return a.client.SubResource("scale").Patch(ctx, &appsv1.Deployment{ObjectMeta: a.meta(i)}, patch, client.FieldOwner("kubectl"))
}

func replicasPatch(replicas int32) []byte {
	return fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas)
}

// settled reports whether the Deployment of this generation, or a later one, is as
// declared and available, and the AppAutoscaler says Aligned.
func (a *appAutoscalers) settled(ctx context.Context, i int, generation int64) (bool, error) {
	key := types.NamespacedName{Namespace: a.namespace, Name: a.meta(i).Name}
	deployment := &appsv1.Deployment{}
	if err := a.seen.Get(ctx, key, deployment); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	if deployment.Generation < generation || *deployment.Spec.Replicas != declaredReplicas || !podtrouble.Available(deployment) {
		return false, nil
	}
	autoscaler := &exampleappsv1.AppAutoscaler{}
	if err := a.seen.Get(ctx, key, autoscaler); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	return autoscaler.Status.State == exampleappsv1.StateAligned, nil
}

// statusPatch is a status of the size that the operator writes; the last one says
// that all is well.
func statusPatch(last bool) ([]byte, error) {
	condition := func(kind string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
		return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message, ObservedGeneration: 1, LastTransitionTime: metav1.Now()}
	}
	status := exampleappsv1.AppAutoscalerStatus{
		ObservedGeneration: 1, State: exampleappsv1.StateReconciling, Replicas: strayReplicas, Selector: "app=order-service",
		Conditions: []metav1.Condition{
			condition(exampleappsv1.ConditionReady, metav1.ConditionFalse, exampleappsv1.ReasonProgressing, "Pods are being started or replaced"),
			condition(exampleappsv1.ConditionSynced, metav1.ConditionTrue, exampleappsv1.ReasonSynced, "the Deployment is as declared"),
			condition(exampleappsv1.ConditionReconciling, metav1.ConditionTrue, exampleappsv1.ReasonProgressing, "the Deployment is as declared, and its Pods are being started or replaced"),
		},
	}
	if last {
		status.State, status.Replicas = exampleappsv1.StateAligned, declaredReplicas
		status.Conditions = []metav1.Condition{
			condition(exampleappsv1.ConditionReady, metav1.ConditionTrue, exampleappsv1.ReasonAvailable, "all Pods are available"), status.Conditions[1],
		}
	}
	return json.Marshal(map[string]any{"status": status})
}
