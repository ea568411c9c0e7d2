//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
)

// The cluster has no source of metrics: what its HorizontalPodAutoscaler still does
// is to keep a number of replicas within its bounds.
func TestAHorizontalPodAutoscalerTakesOverAndGivesBackWithoutANumberOnTheWay(t *testing.T) {
	t.Parallel()
	r := installForOrders(t)
	autoscaler := r.orders(func(a *exampleappsv1.AppAutoscaler) { a.Spec.Replicas = new(int32(3)) })
	r.pods(orderService, 3)
	deployment := filmDeployment(t, r.watched[0], orderService)
	scaler := filmScaler(t, r.watched[0], autoscaler.Name)

	begun := time.Now()
	r.specOf(autoscaler, `{"minReplicas":2,"maxReplicas":6}`)
	scaler.rightAfter("HorizontalPodAutoscaler made", begun, bounds(2, 6))
	r.state(autoscaler, exampleappsv1.StateAutoscaling)
	if made := scaler.since(0)[0].object; !metav1.IsControlledBy(made, autoscaler) {
		t.Errorf("the HorizontalPodAutoscaler has the owners %+v", made.OwnerReferences)
	}
	scaler.damaged("HorizontalPodAutoscaler back", bounds(2, 6), "delete", "hpa", autoscaler.Name)
	scaler.damaged("HorizontalPodAutoscaler as declared", bounds(2, 6), "patch", "hpa", autoscaler.Name, `--patch={"spec":{"maxReplicas":50}}`)
	r.tells(autoscaler, "ScalerPutBack", "maxReplicas 50 -> 6, set by kubectl-patch at ")
	wantReplicas(deployment, "3")

	// Who else sets the number is the HorizontalPodAutoscaler's business.
	r.kubectl("scale", "deployment/"+orderService, "--replicas=1")
	r.available("a HorizontalPodAutoscaler has raised the replicas, and 2 Pods available,", 2)
	r.kubectl("scale", "deployment/"+orderService, "--replicas=4")
	r.pods(orderService, 4)
	r.state(autoscaler, exampleappsv1.StateAutoscaling)
	wantReplicas(deployment, "3 1 2 4")

	r.specOf(autoscaler, `{"minReplicas":null,"maxReplicas":null}`)
	r.state(autoscaler, exampleappsv1.StateAligned)
	r.tells(autoscaler, "ScalerDeleted", autoscaler.Name)
	r.pods(orderService, 3)
	wantReplicas(deployment, "3 1 2 4 3")
	var left autoscalingv2.HorizontalPodAutoscalerList
	must(t, kube.List(t.Context(), &left, client.InNamespace(r.watched[0])))
	if len(left.Items) > 0 {
		t.Errorf("left: %+v", left.Items)
	}

	// Anybody may have the AppAutoscaler itself scaled: it sets the number that is
	// declared, under the name that our own would have.
	r.kubectl("autoscale", "appautoscaler/"+autoscaler.Name, "--min=4", "--max=6")
	r.pods(orderService, 4)
	r.state(autoscaler, exampleappsv1.StateAligned)
	wantReplicas(deployment, "3 1 2 4 3 4")
}

// specOf merges a patch into the spec of an AppAutoscaler.
func (r *release) specOf(autoscaler *exampleappsv1.AppAutoscaler, patch string) {
	r.t.Helper()
	r.kubectl("patch", "appautoscaler/"+autoscaler.Name, "--type=merge", `--patch={"spec":`+patch+`}`)
}

// state waits until an AppAutoscaler is in a state, under its present spec.
func (r *release) state(autoscaler *exampleappsv1.AppAutoscaler, want exampleappsv1.AppAutoscalerState) {
	r.t.Helper()
	waitFor(r.t, func(ctx context.Context) string {
		if err := kube.Get(ctx, client.ObjectKeyFromObject(autoscaler), autoscaler); err != nil {
			return err.Error()
		}
		if autoscaler.Status.State == want && autoscaler.Status.ObservedGeneration == autoscaler.Generation {
			return ""
		}
		return fmt.Sprintf("the AppAutoscaler is not %s: %+v", want, autoscaler.Status)
	})
}

func bounds(least, most int32) func(*autoscalingv2.HorizontalPodAutoscaler) bool {
	return func(scaler *autoscalingv2.HorizontalPodAutoscaler) bool {
		return *scaler.Spec.MinReplicas == least && scaler.Spec.MaxReplicas == most
	}
}

// wantReplicas waits for the numbers of replicas that were declared one after the
// other, and for no other.
func wantReplicas(f *film[*appsv1.Deployment], want string) {
	f.t.Helper()
	waitFor(f.t, func(context.Context) string {
		var numbers []string
		for _, shown := range f.since(0) {
			number := fmt.Sprint(*shown.object.Spec.Replicas)
			if len(numbers) == 0 || numbers[len(numbers)-1] != number {
				numbers = append(numbers, number)
			}
		}
		got := strings.Join(numbers, " ")
		if !strings.HasPrefix(want, got) {
			f.t.Fatalf("the replicas were %s, want %s", got, want)
		}
		if got != want {
			return "the replicas were " + got
		}
		return ""
	})
}
