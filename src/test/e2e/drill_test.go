//go:build e2e

package e2e

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
)

// The drill that the handbook accepts the operator by. What each recovery took is in
// the lines that begin with "drill:".
func TestWhatIsDoneToADeploymentIsUndone(t *testing.T) {
	t.Parallel()
	r := installForOrders(t)
	film := filmDeployment(t, r.watched[0], orderService)
	begun := time.Now()
	autoscaler := r.orders()
	r.pods(orderService, 5)
	t.Logf("drill: created, and 5 Pods available, after %.1f s", time.Since(begun).Seconds())
	r.tells(autoscaler, "Created", "Deployment order-service created with replicas 5")
	r.aligned(autoscaler.Name, "order-service", "5", "5", "Aligned", "True")

	declared := declares(5, orderImage)
	film.damaged("replicas back", declared, "scale", "deployment/order-service", "--replicas=2")
	r.tells(autoscaler, "ReplicasPutBack", "replicas 2 -> 5, set by kubectl via scale")
	film.damaged("image back", declared, "set", "image", "deployment/order-service", "order-service="+noImage)
	r.tells(autoscaler, "ImagePutBack", "image "+noImage+" -> "+orderImage+", set by kubectl-set at ")
	r.available("5 Pods available again", 5)
	film.damaged("Deployment back", declared, "delete", "deployment/order-service", "--wait=false")
	r.available("5 new Pods available", 5)

	r.kubectl("scale", "appautoscaler/"+autoscaler.Name, "--replicas=3")
	r.available("scaled with the AppAutoscaler, and 3 Pods left,", 3)
	r.aligned(autoscaler.Name, "order-service", "3", "3", "Aligned", "True")
	r.goesWith(autoscaler)
}

// available prints how long it takes until so many Pods are ready, and no other is
// left. Nothing is asked of that time: it is the kubelet's.
func (r *release) available(what string, want int) {
	r.t.Helper()
	begun := time.Now()
	r.pods(orderService, want)
	r.t.Logf("drill: %s after %.1f s more", what, time.Since(begun).Seconds())
}

// aligned waits until an AppAutoscaler is ready, as a script would, and compares the
// columns that people see, but for its age.
func (r *release) aligned(name string, columns ...string) {
	r.t.Helper()
	r.kubectl("wait", "--for=condition=Ready", "appautoscaler/"+name, "--timeout="+patience.String())
	line := r.kubectl("get", "aas", name, "--no-headers")
	if got := strings.Fields(line); len(got) < 2 || !slices.Equal(got[1:len(got)-1], columns) {
		r.t.Errorf("kubectl get shows %q, want %q", line, columns)
	}
}

// goesWith deletes an AppAutoscaler, and waits until the Deployment that it has
// created is collected with all that belongs to that.
func (r *release) goesWith(autoscaler *exampleappsv1.AppAutoscaler) {
	r.t.Helper()
	begun := time.Now()
	must(r.t, kube.Delete(r.t.Context(), autoscaler))
	waitFor(r.t, func(ctx context.Context) string {
		for what, list := range map[string]client.ObjectList{
			"Deployments": &appsv1.DeploymentList{}, "ReplicaSets": &appsv1.ReplicaSetList{}, "Pods": &corev1.PodList{},
		} {
			if err := kube.List(ctx, list, client.InNamespace(r.watched[0]), client.Limit(1)); err != nil {
				return err.Error()
			}
			if left := meta.LenList(list); left > 0 {
				return what + " are left"
			}
		}
		return ""
	})
	r.t.Logf("drill: Deployment, ReplicaSets and Pods collected after %.1f s", time.Since(begun).Seconds())
}

func TestADeploymentThatWasThereBeforeOutlivesItsAppAutoscaler(t *testing.T) {
	t.Parallel()
	r := installForOrders(t)
	r.kubectl("create", "deployment", orderService, "--image="+orderImage, "--replicas=1")
	r.pods(orderService, 1)
	autoscaler := r.orders(func(a *exampleappsv1.AppAutoscaler) { a.Spec.Replicas = new(int32(2)) })
	before := r.pods(orderService, 2)
	r.shows(autoscaler, exampleappsv1.ConditionReady, metav1.ConditionTrue, exampleappsv1.ReasonAvailable)
	must(t, kube.Delete(t.Context(), autoscaler))
	waitFor(t, func(ctx context.Context) string {
		if err := kube.Get(ctx, client.ObjectKeyFromObject(autoscaler), autoscaler); client.IgnoreNotFound(err) != nil || err == nil {
			return "the AppAutoscaler is still there"
		}
		return ""
	})
	// Nobody puts it back any more, and nothing has restarted it.
	r.kubectl("scale", "deployment/"+orderService, "--replicas=3")
	after := r.pods(orderService, 3)
	maps.DeleteFunc(after, func(uid types.UID, _ int32) bool { _, known := before[uid]; return !known })
	if !maps.Equal(before, after) {
		t.Errorf("the Pods and their restarts were %v and are %v", before, after)
	}
}
