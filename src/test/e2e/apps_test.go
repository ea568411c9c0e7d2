//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"maps"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
)

// shop is a MyApp whose image is at hand: the mock provider listens, and is healthy.
func (r *release) shop(replicas int32, changes ...func(*exampleappsv1.MyApp)) *exampleappsv1.MyApp {
	r.t.Helper()
	app := &exampleappsv1.MyApp{
		ObjectMeta: metav1.ObjectMeta{Namespace: r.watched[0], Name: "shop"},
		Spec: exampleappsv1.MyAppSpec{
			Image: mockImage + ":" + version, Replicas: &replicas,
			Ports: []exampleappsv1.MyAppPort{{Name: "http", Port: 80, TargetPort: 8080}},
		},
	}
	for _, change := range changes {
		change(app)
	}
	must(r.t, kube.Create(r.t.Context(), app))
	return app
}

func (r *release) shopPods(want int) map[types.UID]int32 {
	r.t.Helper()
	return r.pods("shop", want)
}

// pods waits until so many Pods of a Deployment are ready and no other is left, and
// returns how often each has been restarted.
func (r *release) pods(name string, want int) map[types.UID]int32 {
	r.t.Helper()
	restarts := map[types.UID]int32{}
	waitFor(r.t, func(ctx context.Context) string {
		var deployment appsv1.Deployment
		if err := kube.Get(ctx, client.ObjectKey{Namespace: r.watched[0], Name: name}, &deployment); err != nil {
			return err.Error()
		}
		var pods corev1.PodList
		if err := kube.List(ctx, &pods, client.InNamespace(r.watched[0]), client.MatchingLabels(deployment.Spec.Selector.MatchLabels)); err != nil {
			return err.Error()
		}
		clear(restarts)
		for i := range pods.Items {
			for _, status := range pods.Items[i].Status.ContainerStatuses {
				if status.Ready {
					restarts[pods.Items[i].UID] = status.RestartCount
				}
			}
		}
		// What was declared before has Pods as well, until it is seen that they are too many.
		current := deployment.Status.ObservedGeneration == deployment.Generation && int(*deployment.Spec.Replicas) == want
		if current && len(restarts) == want && len(pods.Items) == want && int(deployment.Status.AvailableReplicas) == want {
			return ""
		}
		return fmt.Sprintf("%d of %d Pods of %s are ready, want %d; the Deployment is %+v", len(restarts), len(pods.Items), name, want, deployment.Status)
	})
	return restarts
}

func TestAMyAppRunsAndWhatOthersChangeIsPutBack(t *testing.T) {
	t.Parallel()
	r := install(t)
	app := r.shop(2)
	r.shopPods(2)
	waitFor(t, func(ctx context.Context) string {
		if err := kube.Get(ctx, client.ObjectKeyFromObject(app), app); err != nil {
			return err.Error()
		}
		if meta.IsStatusConditionTrue(app.Status.Conditions, exampleappsv1.ConditionReady) {
			return ""
		}
		return fmt.Sprintf("shop is %+v", app.Status)
	})
	kubectl(t, "scale", "--namespace="+r.watched[0], "deployment/shop", "--replicas=1")
	r.shopPods(2)
	kubectl(t, "delete", "--namespace="+r.watched[0], "deployment/shop")
	r.shopPods(2)
	must(t, kube.Delete(t.Context(), app))
	waitFor(t, func(ctx context.Context) string {
		var deployments appsv1.DeploymentList
		if err := kube.List(ctx, &deployments, client.InNamespace(r.watched[0])); err != nil {
			return err.Error()
		}
		if len(deployments.Items) > 0 {
			return "the Deployment is left"
		}
		return ""
	})
}

func TestAnAppAutoscalerKeepsADeploymentThatWasThereBefore(t *testing.T) {
	t.Parallel()
	r := install(t)
	app := r.shop(1)
	r.shopPods(1)
	autoscaler := &exampleappsv1.AppAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Namespace: r.watched[0], Name: "shop-autoscaler"},
		Spec:       exampleappsv1.AppAutoscalerSpec{DeploymentName: app.Name, Replicas: new(int32(3))},
	}
	must(t, kube.Create(t.Context(), autoscaler))
	r.shopPods(3)
	kubectl(t, "scale", "--namespace="+r.watched[0], "deployment/shop", "--replicas=2")
	before := r.shopPods(3)
	r.upgrade("podAnnotations.upgraded=yes")
	// A VM that is made tells that the new operator works.
	r.vm("web")
	r.running("web")
	if after := r.shopPods(3); !maps.Equal(before, after) {
		t.Errorf("the Pods and their restarts were %v and are %v", before, after)
	}
	must(t, kube.Delete(t.Context(), autoscaler))
	r.shopPods(1)
}
