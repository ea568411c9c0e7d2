package myapp_test

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
)

// autoscaler is an AppAutoscaler for the Deployment. Nobody works on it: the tests
// do.
func (w *world) autoscaler(replicas int32) *exampleappsv1.AppAutoscaler {
	w.t.Helper()
	made := &exampleappsv1.AppAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "shop-autoscaler"},
		Spec:       exampleappsv1.AppAutoscalerSpec{DeploymentName: shop, Replicas: &replicas},
	}
	w.must(w.client.Create(w.t.Context(), made))
	w.becomes("told whose the replicas are", func(app *exampleappsv1.MyApp) bool {
		synced := meta.FindStatusCondition(app.Status.Conditions, "Synced")
		return synced != nil && strings.Contains(synced.Message, "the number of replicas is AppAutoscaler shop-autoscaler's")
	})
	return made
}

// scale is how an AppAutoscaler sets the number of replicas.
func (w *world) scale(replicas string) {
	w.t.Helper()
	patch := client.RawPatch(types.StrategicMergePatchType, []byte(`{"spec":{"replicas":`+replicas+`}}`))
	w.must(w.client.Patch(w.t.Context(), w.deployment(), patch, client.FieldOwner("vmoperator")))
}

func (w *world) release(image string) {
	w.t.Helper()
	w.edit(func(app *exampleappsv1.MyApp) { app.Spec.Image = image })
	w.awaits("image "+image, func(d *appsv1.Deployment) bool { return container(d).Image == image })
}

func three(app *exampleappsv1.MyApp) { app.Spec.Replicas = new(int32(3)) }

// A number that is left out of what is applied, and that nobody else owns, is set to
// 1 by the API server.
func TestReplicasStayAsTheyAreWhenAnAppAutoscalerTakesThemOver(t *testing.T) {
	w := newWorld(t)
	w.settled(three)
	w.autoscaler(3)
	// What it finds is what it wants, so that it writes nothing.
	w.release("registry.example.com/shop:2")
	w.release("registry.example.com/shop:3")
	if got := *w.deployment().Spec.Replicas; got != 3 {
		t.Errorf("there are %d replicas, want 3", got)
	}
}

func TestReplicasAreTheAppAutoscalersWhileThereIsOne(t *testing.T) {
	w := newWorld(t)
	w.settled(three)
	autoscaler := w.autoscaler(5)
	w.scale("5")
	w.release("registry.example.com/shop:2")
	if got := *w.deployment().Spec.Replicas; got != 5 {
		t.Errorf("after a new image there are %d replicas, want 5", got)
	}
	w.edit(func(app *exampleappsv1.MyApp) { app.Spec.Replicas = new(int32(4)) })
	w.scale("7")
	w.release("registry.example.com/shop:3")
	if got := *w.deployment().Spec.Replicas; got != 7 {
		t.Errorf("after an edit there are %d replicas, want 7", got)
	}
	w.runs()
	w.shows("Ready", metav1.ConditionTrue, "Available")

	w.must(w.client.Delete(t.Context(), autoscaler))
	w.awaits("the declared replicas", func(d *appsv1.Deployment) bool { return *d.Spec.Replicas == 4 })
	w.tells("Updated", "Deployment shop updated: replicas 7 -> 4")
	w.scale("9")
	w.awaits("the declared replicas again", func(d *appsv1.Deployment) bool { return *d.Spec.Replicas == 4 })
}

func TestAMyAppWhoseReplicasAreAnAppAutoscalersFromTheBeginningMakesTheDeployment(t *testing.T) {
	w := newWorld(t)
	replicas := int32(4)
	w.must(w.client.Create(t.Context(), &exampleappsv1.AppAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "shop-autoscaler"},
		Spec:       exampleappsv1.AppAutoscalerSpec{DeploymentName: shop, Replicas: &replicas},
	}))
	w.app(three)
	w.awaits("the Deployment", func(*appsv1.Deployment) bool { return true })
	w.tells("Created", "Deployment shop created with replicas 4")
	w.scale("6")
	w.release("registry.example.com/shop:2")
	if got := *w.deployment().Spec.Replicas; got != 6 {
		t.Errorf("there are %d replicas, want 6", got)
	}
}

func TestADeploymentIsMadeWithTheNumberOfAScheduleThatIsInForce(t *testing.T) {
	w := newWorld(t)
	autoscaler := &exampleappsv1.AppAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "shop-autoscaler"},
		Spec:       exampleappsv1.AppAutoscalerSpec{DeploymentName: shop, Replicas: new(int32(4))},
	}
	w.must(w.client.Create(t.Context(), autoscaler))
	autoscaler.Status.Schedule = &exampleappsv1.AppAutoscalerScheduleStatus{InForce: []string{"peak"}, Replicas: new(int32(8))}
	w.must(w.client.Status().Update(t.Context(), autoscaler))
	w.app(three)
	w.tells("Created", "Deployment shop created with replicas 8")
}
