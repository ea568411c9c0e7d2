package myapp_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/vmoperator/src/controller/myapp"
)

func (w *world) foreignDeployment() *appsv1.Deployment {
	w.t.Helper()
	labels := map[string]string{"app": "theirs"}
	foreign := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: shop},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "theirs"}}},
			},
		},
	}
	w.must(w.client.Create(w.t.Context(), foreign, client.FieldOwner("theirs")))
	return foreign
}

func (w *world) foreignService() *corev1.Service {
	w.t.Helper()
	foreign := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: shop},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "theirs", Port: 7000}}},
	}
	w.must(w.client.Create(w.t.Context(), foreign, client.FieldOwner("theirs")))
	return foreign
}

func TestADeploymentOfSomebodyElsesIsNeverTakenOver(t *testing.T) {
	w := newWorld(t)
	foreign := w.foreignDeployment()
	w.app(withPorts(80))
	w.shows("Stalled", metav1.ConditionTrue, "ChildConflict")
	w.shows("Ready", metav1.ConditionFalse, "ChildConflict")
	w.shows("Available", metav1.ConditionFalse, "ChildConflict")
	w.tells("ChildConflict", "a Deployment of this name belongs to somebody else")
	if got := w.deployment().ResourceVersion; got != foreign.ResourceVersion {
		t.Error("it was written")
	}
	if err := w.client.Get(t.Context(), w.key(), &corev1.Service{}); !apierrors.IsNotFound(err) {
		t.Errorf("a Service leads to it: %v", err)
	}
	w.must(w.client.Delete(t.Context(), foreign))
	// No event tells of what the cache does not hold: whoever changes the object is not
	// made to wait for the next look.
	w.edit(withPorts(81))
	w.shows("Synced", metav1.ConditionTrue, "Synced")
}

func TestAServiceOfSomebodyElsesIsNeverTakenOver(t *testing.T) {
	w := newWorld(t)
	foreign := w.foreignService()
	w.app(withPorts(80))
	w.shows("Stalled", metav1.ConditionTrue, "ChildConflict")
	w.edit(withPorts())
	w.shows("Synced", metav1.ConditionTrue, "Synced")
	now := &corev1.Service{}
	w.must(w.client.Get(t.Context(), w.key(), now))
	if now.ResourceVersion != foreign.ResourceVersion {
		t.Error("it was written")
	}
}

// blind reads no Deployments and no Services, as at a moment before somebody else
// made them.
type blind struct{ client.Client }

func (b *blind) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	switch object.(type) {
	case *appsv1.Deployment, *corev1.Service:
		return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
	}
	return b.Client.Get(ctx, key, object, options...)
}

func TestAnObjectThatSomebodyElseMakesAtTheSameMomentIsLeftAsItWas(t *testing.T) {
	w := newWorld(t)
	w.stop()
	deployment, service := w.foreignDeployment(), w.foreignService()
	w.app(withPorts(80))
	reconciler := &myapp.Reconciler{
		Client: &blind{w.client}, APIReader: &blind{w.client}, Recorder: events.NewFakeRecorder(100), Now: w.clock.Now,
	}
	request := ctrl.Request{NamespacedName: w.key()}
	if _, err := reconciler.Reconcile(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	if got := w.deployment(); !cmp.Equal(got.Spec, deployment.Spec) || len(got.OwnerReferences) > 0 {
		t.Errorf("the Deployment is %+v", got)
	}

	w.must(w.client.Delete(t.Context(), w.deployment()))
	w.edit(withPorts(81))
	reconciler.Client, reconciler.APIReader = &blind{w.client}, &blind{w.client}
	if _, err := reconciler.Reconcile(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	got := &corev1.Service{}
	w.must(w.client.Get(t.Context(), w.key(), got))
	if !cmp.Equal(got.Spec, service.Spec) || len(got.OwnerReferences) > 0 || len(got.Labels) > 0 {
		t.Errorf("the Service is %+v", got)
	}
}
