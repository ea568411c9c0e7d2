package workloads

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	"github.com/example/vmoperator/src/test/operator"
)

// rounds is how often each controller looks while nothing may be written.
const rounds = 10

// looks is how often each of the two controllers has begun to look.
func (w *world) looks() [2]int {
	return [2]int{w.ledger.Gets("*v1.AppAutoscaler"), w.ledger.Gets("*v1.MyApp")}
}

// calm wants nothing written, statuses included, while both controllers look again
// and again.
func (w *world) calm() {
	w.t.Helper()
	before, looks := len(w.ledger.Writes()), w.looks()
	for round := range rounds {
		// A resync of a MyApp is minutes away. A value that does not pause is a look as well.
		edit(w, &exampleappsv1.MyApp{ObjectMeta: w.meta()}, func(app *exampleappsv1.MyApp) {
			metav1.SetMetaDataAnnotation(&app.ObjectMeta, exampleappsv1.PausedAnnotation, fmt.Sprint("look ", round))
		})
		operator.WaitFor(w.t, "a look of each controller", func(context.Context) bool {
			now := w.looks()
			return now[0] > looks[0]+round && now[1] > looks[1]+round
		})
	}
	if diff := cmp.Diff([]string{}, w.ledger.Writes()[before:]); diff != "" {
		w.t.Errorf("written while all is as declared: %s", diff)
	}
}

func TestAnAppAutoscalerTakesTheNumberOfReplicasOverAndGivesItBack(t *testing.T) {
	w := newWorld(t)
	app := w.app(2)
	w.numbered(2)
	autoscaler := w.autoscaler(5)
	w.numbered(2, 5)
	w.runs()
	w.stated(exampleappsv1.StateAligned)
	if told := w.ready(); !strings.Contains(told, "the number of replicas is AppAutoscaler "+shop+"'s") {
		t.Errorf("the MyApp says %q", told)
	}

	w.scale("kubectl", 3)
	w.numbered(2, 5, 3, 5)
	edit(w, app, func(app *exampleappsv1.MyApp) { app.Spec.Replicas = new(int32(7)) })
	w.runs()
	w.ready()
	w.stated(exampleappsv1.StateAligned)
	w.calm()
	w.numbered(2, 5, 3, 5)

	w.must(w.client.Delete(t.Context(), autoscaler))
	w.numbered(2, 5, 3, 5, 7)
	deployment := &appsv1.Deployment{}
	w.must(w.client.Get(t.Context(), w.key(), deployment))
	if owner := metav1.GetControllerOf(deployment); owner == nil || owner.UID != app.UID {
		t.Errorf("the Deployment's controller is %+v", owner)
	}
}

func TestADeploymentBeginsWithTheNumberOfAnAppAutoscalerThatWaitsForIt(t *testing.T) {
	w := newWorld(t)
	w.autoscaler(5)
	w.stated(exampleappsv1.StateFailed)
	w.app(2)
	w.numbered(5)
	w.runs()
	w.stated(exampleappsv1.StateAligned)
	w.ready()
	w.calm()
	w.numbered(5)
}

func TestNobodyPutsTheNumberOfReplicasBackWhileTheAppAutoscalerIsPaused(t *testing.T) {
	w := newWorld(t)
	w.app(2)
	w.numbered(2)
	autoscaler := w.autoscaler(5)
	w.numbered(2, 5)
	edit(w, autoscaler, func(a *exampleappsv1.AppAutoscaler) {
		metav1.SetMetaDataAnnotation(&a.ObjectMeta, exampleappsv1.PausedAnnotation, "true")
	})
	w.stated(exampleappsv1.StatePaused)
	w.scale("kubectl", 3)
	w.runs()
	w.ready()
	w.numbered(2, 5, 3)
	edit(w, autoscaler, func(a *exampleappsv1.AppAutoscaler) { delete(a.Annotations, exampleappsv1.PausedAnnotation) })
	w.numbered(2, 5, 3, 5)
}

func TestAHorizontalPodAutoscalerScalesAMyAppsDeploymentAndBothLeaveItAlone(t *testing.T) {
	w := newWorld(t)
	w.app(2)
	w.numbered(2)
	autoscaler := w.autoscaler(5, func(a *exampleappsv1.AppAutoscaler) { a.Spec.MaxReplicas = new(int32(8)) })
	w.runs()
	w.stated(exampleappsv1.StateAutoscaling)
	scaler := &autoscalingv2.HorizontalPodAutoscaler{}
	operator.WaitFor(t, "the HorizontalPodAutoscaler", func(ctx context.Context) bool { return w.client.Get(ctx, w.key(), scaler) == nil })
	w.scale("kube-controller-manager", 4)
	w.runs()
	w.stated(exampleappsv1.StateAutoscaling)
	w.ready()
	w.calm()
	w.numbered(2, 4)

	w.must(w.client.Delete(t.Context(), autoscaler))
	w.numbered(2, 4, 2)
}

func TestAnImageOfTheAppAutoscalerIsRefusedAndTheMyAppsStays(t *testing.T) {
	w := newWorld(t)
	app := w.app(2)
	w.numbered(2)
	autoscaler := w.autoscaler(2, func(a *exampleappsv1.AppAutoscaler) { a.Spec.Image = "registry.example.com/other:1" })
	w.runs()
	w.stated(exampleappsv1.StateConflict)
	w.ready()
	w.calm()
	w.must(w.client.Get(t.Context(), client.ObjectKeyFromObject(autoscaler), autoscaler))
	if stalled := meta.FindStatusCondition(autoscaler.Status.Conditions, exampleappsv1.ConditionStalled); stalled == nil ||
		stalled.Reason != exampleappsv1.ReasonImageOfMyApp {
		t.Errorf("Stalled is %+v", stalled)
	}
	deployment := &appsv1.Deployment{}
	w.must(w.client.Get(t.Context(), w.key(), deployment))
	if got := deployment.Spec.Template.Spec.Containers[0].Image; got != app.Spec.Image {
		t.Errorf("the image is %s", got)
	}
}
