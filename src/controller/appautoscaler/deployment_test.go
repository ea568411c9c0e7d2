package appautoscaler_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
)

func TestAppAutoscaler(t *testing.T) {
	t.Run("creates a missing Deployment", func(t *testing.T) {
		w := newWorld(t)
		w.kubelet(running)
		created := w.autoscaler("order", 5)
		w.wants(5, image)
		w.tells("order", "Created", "Deployment order-service created with replicas 5")
		got := w.reaches("order", exampleappsv1.StateAligned)
		if got.Status.Replicas != 5 || got.Status.Selector != "app=order-service" {
			t.Errorf("the status is %+v", got.Status)
		}
		if !metav1.IsControlledBy(w.deployment(), created) {
			t.Errorf("the Deployment has the owners %+v", w.deployment().OwnerReferences)
		}
		w.has("order", exampleappsv1.ConditionReady, metav1.ConditionTrue, exampleappsv1.ReasonAvailable)
		w.has("order", exampleappsv1.ConditionSynced, metav1.ConditionTrue, exampleappsv1.ReasonSynced)
		w.has("order", exampleappsv1.ConditionReconciling, "", "")
	})

	t.Run("corrects a drifted one", func(t *testing.T) {
		w := newWorld(t)
		w.kubelet(running)
		w.autoscaler("order", 5)
		w.reaches("order", exampleappsv1.StateAligned)

		w.scale(2)
		w.wants(5, image)
		w.tells("order", "ReplicasPutBack", "replicas 2 -> 5, set by kubectl via scale")

		w.change("kubectl-set", func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = "nginx:1" })
		w.wants(5, image)
		w.tells("order", "ImagePutBack", "image nginx:1 -> "+image+", set by kubectl-set at ")

		w.must(w.client.Delete(t.Context(), w.deployment(), client.PropagationPolicy(metav1.DeletePropagationForeground)))
		w.wants(5, image)
		w.reaches("order", exampleappsv1.StateAligned)
	})
}

func TestTheSecondChangeOfAFieldIsToldAsWell(t *testing.T) {
	w := newWorld(t)
	w.autoscaler("order", 5)
	w.wants(5, image)
	for _, manager := range []string{"kubectl-edit", "argocd"} {
		w.change(manager, func(d *appsv1.Deployment) { *d.Spec.Replicas = 3 })
		w.tells("order", "ReplicasPutBack", "replicas 3 -> 5, set by "+manager)
	}
}

func TestAChangeOfTheSpecIsAppliedAndSeen(t *testing.T) {
	w := newWorld(t)
	w.kubelet(running)
	w.autoscaler("order", 2)
	w.reaches("order", exampleappsv1.StateAligned)
	const next = "registry.example.com/order-service:1.3.0"
	w.edit("order", func(a *exampleappsv1.AppAutoscaler) { a.Spec.Image = next })
	w.wants(2, next)
	if got := w.reaches("order", exampleappsv1.StateAligned); got.Status.ObservedGeneration != 2 {
		t.Errorf("observedGeneration is %d, want 2", got.Status.ObservedGeneration)
	}
	w.tells("order", "ImagePutBack", next+", as declared")

	w.edit("order", func(a *exampleappsv1.AppAutoscaler) { *a.Spec.Replicas = 0 })
	w.wants(0, next)
	if got := w.reaches("order", exampleappsv1.StateAligned); got.Status.Replicas != 0 {
		t.Errorf("%d replicas are told, want 0", got.Status.Replicas)
	}
}

func TestADeploymentThatWasThereIsManagedAndLeftBehind(t *testing.T) {
	w := newWorld(t)
	w.existing(2, func(d *appsv1.Deployment) { d.Annotations = map[string]string{"team": "orders"} })
	w.autoscaler("order", 3)
	w.wants(3, image)
	w.has("order", exampleappsv1.ConditionSynced, metav1.ConditionTrue, exampleappsv1.ReasonSynced)
	w.change("sidecar-injector", func(d *appsv1.Deployment) {
		d.Spec.Template.Spec.Containers = append(d.Spec.Template.Spec.Containers, corev1.Container{Name: "proxy", Image: "envoy:1"})
		d.Labels = map[string]string{"tier": "backend"}
	})
	// Of several containers, none is named like the Deployment.
	w.has("order", exampleappsv1.ConditionStalled, metav1.ConditionTrue, exampleappsv1.ReasonContainerRequired)
	w.edit("order", func(a *exampleappsv1.AppAutoscaler) {
		a.Spec.ContainerName, a.Spec.Image = "main", "registry.example.com/order-service:2"
	})
	w.wants(3, "registry.example.com/order-service:2")

	w.must(w.client.Delete(t.Context(), w.get("order")))
	w.eventually("the AppAutoscaler", func() string {
		err := w.client.Get(t.Context(), client.ObjectKey{Namespace: w.namespace, Name: "order"}, &exampleappsv1.AppAutoscaler{})
		if !apierrors.IsNotFound(err) {
			return "is still there"
		}
		return ""
	})
	left := w.deployment()
	if len(left.OwnerReferences) > 0 || left.DeletionTimestamp != nil {
		t.Errorf("the Deployment is not left alone: %+v", left.ObjectMeta)
	}
	if diff := cmp.Diff("envoy:1", left.Spec.Template.Spec.Containers[1].Image); diff != "" || left.Labels["tier"] != "backend" || left.Annotations["team"] != "orders" {
		t.Errorf("what is not ours was changed: %s %+v", diff, left.ObjectMeta)
	}
}

func TestAnOwnedDeploymentGoesWithItsAppAutoscaler(t *testing.T) {
	w := newWorld(t)
	w.autoscaler("order", 1)
	w.wants(1, image)
	w.must(w.client.Delete(t.Context(), w.get("order")))
	w.eventually("the Deployment", func() string {
		err := w.client.Get(t.Context(), client.ObjectKey{Namespace: w.namespace, Name: orderService}, &appsv1.Deployment{})
		if !apierrors.IsNotFound(err) {
			return "is still there"
		}
		return ""
	})
}

func TestWithoutAnImageNothingIsCreatedUntilThereIsOne(t *testing.T) {
	w := newWorld(t)
	w.autoscaler("order", 1, func(a *exampleappsv1.AppAutoscaler) { a.Spec.Image = "" })
	w.reaches("order", exampleappsv1.StateFailed)
	w.has("order", exampleappsv1.ConditionStalled, metav1.ConditionTrue, exampleappsv1.ReasonImageRequired)
	w.tells("order", exampleappsv1.ReasonImageRequired, "image is required to create")
	w.edit("order", func(a *exampleappsv1.AppAutoscaler) { a.Spec.Image = image })
	w.wants(1, image)
	w.has("order", exampleappsv1.ConditionStalled, "", "")
}

func TestWithoutAnImageThatOfTheDeploymentIsNotLookedAt(t *testing.T) {
	w := newWorld(t)
	w.existing(2)
	w.autoscaler("order", 3, func(a *exampleappsv1.AppAutoscaler) { a.Spec.Image = "" })
	w.wants(3, "registry.example.com/order-service:1.1.0")
}

func TestADeploymentOfSomethingElseIsNotTouched(t *testing.T) {
	w := newWorld(t)
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "owner"}}
	w.must(w.client.Create(t.Context(), owner))
	before := w.existing(2, func(d *appsv1.Deployment) {
		d.OwnerReferences = []metav1.OwnerReference{{
			APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: owner.UID, Controller: new(true),
		}}
	})
	w.autoscaler("order", 5)
	got := w.reaches("order", exampleappsv1.StateConflict)
	if got.Status.Replicas != 0 || got.Status.Selector != "" {
		t.Errorf("the status tells of a Deployment that is not ours: %+v", got.Status)
	}
	w.tells("order", exampleappsv1.ReasonForeignController)
	if got := w.deployment(); got.Generation != before.Generation {
		t.Errorf("the Deployment was changed: %+v", got.Spec)
	}

	w.change("kubectl-edit", func(d *appsv1.Deployment) { d.OwnerReferences = nil })
	w.wants(5, image)
}

func TestTheOlderOfTwoAppAutoscalersHasTheDeployment(t *testing.T) {
	w := newWorld(t)
	w.autoscaler("a-first", 1)
	w.wants(1, image)
	w.autoscaler("b-second", 7)
	w.reaches("b-second", exampleappsv1.StateConflict)
	w.tells("b-second", exampleappsv1.ReasonClaimedByOlder)
	w.wants(1, image)

	// The Deployment goes with its owner, and the other one creates its own.
	w.must(w.client.Delete(t.Context(), w.get("a-first")))
	w.wants(7, image)
	w.has("b-second", exampleappsv1.ConditionStalled, "", "")
}

func TestAPausedDeploymentIsLeftAsItIs(t *testing.T) {
	w := newWorld(t)
	w.autoscaler("order", 2)
	w.wants(2, image)
	w.pause("order", "true")
	w.reaches("order", exampleappsv1.StatePaused)
	w.has("order", exampleappsv1.ConditionSynced, metav1.ConditionUnknown, exampleappsv1.ReasonPaused)
	w.scale(4)
	w.eventually("status.replicas", func() string {
		if got := w.get("order").Status.Replicas; got != 4 {
			return fmt.Sprintf("is %d, want 4: it is observed all the same", got)
		}
		return ""
	})
	w.wants(4, image)
	w.pause("order", "false")
	w.wants(2, image)
	w.has("order", exampleappsv1.ConditionSynced, metav1.ConditionTrue, exampleappsv1.ReasonSynced)
}

func TestADeploymentOfAMyAppIsScaledAndNothingElse(t *testing.T) {
	w := newWorld(t)
	owner := &exampleappsv1.MyApp{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "order"}, Spec: exampleappsv1.MyAppSpec{Image: "registry.example.com/order-service:1.1.0"},
	}
	w.must(w.client.Create(t.Context(), owner))
	w.existing(2, func(d *appsv1.Deployment) {
		d.OwnerReferences = []metav1.OwnerReference{{
			APIVersion: exampleappsv1.GroupVersion.String(), Kind: "MyApp", Name: "order", UID: owner.UID, Controller: new(true),
		}}
	})
	w.autoscaler("order", 3)
	w.has("order", exampleappsv1.ConditionStalled, metav1.ConditionTrue, exampleappsv1.ReasonImageOfMyApp)
	w.wants(3, "registry.example.com/order-service:1.1.0")
}
