package crash

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
)

const (
	// keeper is the AppAutoscaler, and rival a younger one for the same Deployment.
	keeper = "keeper"
	rival  = "rival"
)

// autoscale makes an AppAutoscaler for the Deployment.
func autoscale(name string, replicas int32, image string) step {
	return func(w *world) error {
		return kube.Create(w.t.Context(), &exampleappsv1.AppAutoscaler{
			ObjectMeta: w.meta(name),
			Spec:       exampleappsv1.AppAutoscalerSpec{DeploymentName: shop, Replicas: &replicas, Image: image},
		})
	}
}

func editAutoscaler(change func(*exampleappsv1.AppAutoscaler)) step {
	return func(w *world) error {
		autoscaler := &exampleappsv1.AppAutoscaler{}
		if err := kube.Get(w.t.Context(), w.named(keeper), autoscaler); err != nil {
			return err
		}
		before := autoscaler.DeepCopy()
		change(autoscaler)
		return kube.Patch(w.t.Context(), autoscaler, client.MergeFrom(before))
	}
}

// handOver declares bounds, and takeBack a number again.
var handOver = editAutoscaler(func(a *exampleappsv1.AppAutoscaler) {
	a.Spec.MinReplicas, a.Spec.MaxReplicas = new(int32(2)), new(int32(9))
})

func takeBack(replicas int32) step {
	return editAutoscaler(func(a *exampleappsv1.AppAutoscaler) {
		a.Spec.MinReplicas, a.Spec.MaxReplicas, a.Spec.Replicas = nil, nil, &replicas
	})
}

func deleteAutoscaler(w *world) error {
	return kube.Delete(w.t.Context(), &exampleappsv1.AppAutoscaler{ObjectMeta: w.meta(keeper)})
}

func autoscalerGone(w *world) error {
	return w.awaitGone(&exampleappsv1.AppAutoscaler{ObjectMeta: w.meta(keeper)})
}

func untilAutoscaler(name, what string, state func(*exampleappsv1.AppAutoscaler) bool) step {
	return func(w *world) error {
		return w.await(fmt.Sprintf("AppAutoscaler %s %s", name, what), func(ctx context.Context) (bool, error) {
			autoscaler := &exampleappsv1.AppAutoscaler{}
			err := kube.Get(ctx, w.named(name), autoscaler)
			current := err == nil && autoscaler.Status.ObservedGeneration == autoscaler.Generation
			return current && state(autoscaler), client.IgnoreNotFound(err)
		})
	}
}

// aligned waits until an AppAutoscaler tells that the Pods run what it declares, and
// autoscaling that a HorizontalPodAutoscaler says how many.
func aligned(name string) step { return untilState(name, exampleappsv1.StateAligned) }

var autoscaling = untilState(keeper, exampleappsv1.StateAutoscaling)

func untilState(name string, state exampleappsv1.AppAutoscalerState) step {
	return untilAutoscaler(name, "to be "+string(state), func(a *exampleappsv1.AppAutoscaler) bool {
		return a.Status.State == state
	})
}

// stalled waits until an AppAutoscaler is refused.
func stalled(name, reason string) step {
	return untilAutoscaler(name, "to stall", func(a *exampleappsv1.AppAutoscaler) bool {
		return tells(a.Status.Conditions, exampleappsv1.ConditionStalled, metav1.ConditionTrue, reason)
	})
}

// rollsOut has the Pods replaced once the AppAutoscaler has told that it waits for
// them: in each run it tells of both.
func rollsOut(name string) []step { return sequence(waits(name), rolled, aligned(name)) }

func waits(name string) step {
	return untilAutoscaler(name, "to wait for Pods", func(a *exampleappsv1.AppAutoscaler) bool {
		return progressing(a.Status.Conditions)
	})
}

// createApp makes a MyApp with a Service.
func createApp(replicas int32) step {
	return func(w *world) error {
		return kube.Create(w.t.Context(), &exampleappsv1.MyApp{
			ObjectMeta: w.meta(shop),
			Spec: exampleappsv1.MyAppSpec{
				Image: "shop:1", Replicas: &replicas, Ports: []exampleappsv1.MyAppPort{{Name: "http", Port: 80, TargetPort: 8080}},
			},
		})
	}
}

func release(image string) step {
	return editApp(func(app *exampleappsv1.MyApp) { app.Spec.Image = image })
}

func editApp(change func(*exampleappsv1.MyApp)) step {
	return func(w *world) error {
		app := &exampleappsv1.MyApp{}
		if err := kube.Get(w.t.Context(), w.named(shop), app); err != nil {
			return err
		}
		before := app.DeepCopy()
		change(app)
		return kube.Patch(w.t.Context(), app, client.MergeFrom(before))
	}
}

func deleteApp(w *world) error {
	return kube.Delete(w.t.Context(), &exampleappsv1.MyApp{ObjectMeta: w.meta(shop)})
}

func appGone(w *world) error {
	return w.awaitGone(&exampleappsv1.MyApp{ObjectMeta: w.meta(shop)})
}

func untilApp(what string, state func(*exampleappsv1.MyApp) bool) step {
	return func(w *world) error {
		return w.await("the MyApp "+what, func(ctx context.Context) (bool, error) {
			app := &exampleappsv1.MyApp{}
			err := kube.Get(ctx, w.named(shop), app)
			current := err == nil && app.Status.ObservedGeneration == app.Generation
			return current && state(app), client.IgnoreNotFound(err)
		})
	}
}

// appToldOf waits until the MyApp tells that the number of replicas is an
// AppAutoscaler's; without a name, that it is nobody's.
func appToldOf(autoscaler string) step {
	return untilApp("to tell whose the replicas are", func(app *exampleappsv1.MyApp) bool {
		synced := meta.FindStatusCondition(app.Status.Conditions, exampleappsv1.ConditionSynced)
		if synced == nil || synced.Status != metav1.ConditionTrue {
			return false
		}
		_, whose, told := strings.Cut(synced.Message, "AppAutoscaler ")
		return told == (autoscaler != "") && strings.HasPrefix(whose, autoscaler)
	})
}

// appRollsOut has the Pods replaced once the MyApp has told that it waits for them,
// and bothRollOut once an AppAutoscaler of its Deployment has as well.
var (
	appRollsOut = sequence(appWaits, rolled, appReady)
	bothRollOut = sequence(appWaits, waits(keeper), rolled, appReady, aligned(keeper))
)

var appWaits = untilApp("to wait for Pods", func(app *exampleappsv1.MyApp) bool {
	return progressing(app.Status.Conditions)
})

var appReady = untilApp("to be ready", func(app *exampleappsv1.MyApp) bool {
	return meta.IsStatusConditionTrue(app.Status.Conditions, exampleappsv1.ConditionReady)
})

// progressing reports whether all is written, and Pods are yet to follow.
func progressing(all []metav1.Condition) bool {
	return meta.IsStatusConditionTrue(all, exampleappsv1.ConditionSynced) &&
		tells(all, exampleappsv1.ConditionReady, metav1.ConditionFalse, exampleappsv1.ReasonProgressing)
}

func tells(all []metav1.Condition, conditionType string, status metav1.ConditionStatus, reason string) bool {
	found := meta.FindStatusCondition(all, conditionType)
	return found != nil && found.Status == status && found.Reason == reason
}
