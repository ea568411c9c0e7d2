package appautoscaler

import (
	"cmp"
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	"github.com/example/vmoperator/src/controller/backoff"
	"github.com/example/vmoperator/src/controller/index"
)

// The rights are in charts/vmoperator/files/rules/appautoscaler.yaml: only who runs
// this controller gives them.

// SetupWithManager adds the controller to a manager, whose cache must have the
// index of AppAutoscalers by Deployment.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	r.MaxConcurrentReconciles = cmp.Or(r.MaxConcurrentReconciles, DefaultConcurrency)
	r.Retry, r.Resync = cmp.Or(r.Retry, DefaultRetry), cmp.Or(r.Resync, DefaultResync)
	err := ctrl.NewControllerManagedBy(mgr).
		Named("appautoscaler").
		For(&exampleappsv1.AppAutoscaler{}, builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, pausedChanged()))).
		Watches(&appsv1.Deployment{}, handler.EnqueueRequestsFromMapFunc(r.ofDeployment), builder.WithPredicates(deploymentChanged())).
		Watches(&autoscalingv2.HorizontalPodAutoscaler{}, handler.Funcs{
			CreateFunc: func(ctx context.Context, e event.CreateEvent, queue requests) { r.enqueue(ctx, queue, e.Object) },
			UpdateFunc: func(ctx context.Context, e event.UpdateEvent, queue requests) {
				r.enqueue(ctx, queue, e.ObjectOld, e.ObjectNew)
			},
			DeleteFunc: func(ctx context.Context, e event.DeleteEvent, queue requests) { r.enqueue(ctx, queue, e.Object) },
		}, builder.WithPredicates(scalerChanged())).
		Watches(&exampleappsv1.AppAutoscaler{}, handler.EnqueueRequestsFromMapFunc(r.siblings), builder.WithPredicates(gone())).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: r.MaxConcurrentReconciles,
			// What fails is looked at as often as what converges: an apiserver that was out
			// of reach must not be waited for much longer than it is.
			RateLimiter:  backoff.UpTo(r.Retry),
			EnableWarmup: new(true),
		}).
		Complete(r)
	if err != nil {
		return fmt.Errorf("setting up the AppAutoscaler controller: %w", err)
	}
	return nil
}

// pausedChanged passes a change of the annotation that users set.
func pausedChanged() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc:  func(event.CreateEvent) bool { return false },
		DeleteFunc:  func(event.DeleteEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool {
			return e.ObjectOld.GetAnnotations()[exampleappsv1.PausedAnnotation] != e.ObjectNew.GetAnnotations()[exampleappsv1.PausedAnnotation]
		},
	}
}

// deploymentChanged passes what changes what we see in a Deployment.
func deploymentChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, wasDeployment := e.ObjectOld.(*appsv1.Deployment)
		after, isDeployment := e.ObjectNew.(*appsv1.Deployment)
		if !wasDeployment || !isDeployment {
			return false
		}
		return before.Generation != after.Generation ||
			!equality.Semantic.DeepEqual(before.OwnerReferences, after.OwnerReferences) ||
			before.DeletionTimestamp.IsZero() != after.DeletionTimestamp.IsZero() ||
			!equality.Semantic.DeepEqual(before.Status, after.Status)
	}}
}

// scalerChanged passes what changes what we see in a HorizontalPodAutoscaler.
func scalerChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, wasScaler := e.ObjectOld.(*autoscalingv2.HorizontalPodAutoscaler)
		after, isScaler := e.ObjectNew.(*autoscalingv2.HorizontalPodAutoscaler)
		if !wasScaler || !isScaler {
			return false
		}
		told, tells := scalingActive(before), scalingActive(after)
		return !equality.Semantic.DeepEqual(before.Spec, after.Spec) ||
			!equality.Semantic.DeepEqual(before.OwnerReferences, after.OwnerReferences) ||
			before.DeletionTimestamp.IsZero() != after.DeletionTimestamp.IsZero() ||
			told.Status != tells.Status || told.Reason != tells.Reason
	}}
}

type requests = workqueue.TypedRateLimitingInterface[reconcile.Request]

// enqueue has those AppAutoscalers looked at that have to do with
// HorizontalPodAutoscalers: the one of the same name, and those of the Deployment.
func (r *Reconciler) enqueue(ctx context.Context, queue requests, scalers ...client.Object) {
	for _, object := range scalers {
		queue.Add(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(object)})
		scaler, ok := object.(*autoscalingv2.HorizontalPodAutoscaler)
		if !ok {
			continue
		}
		for _, deployment := range index.DeploymentsOf(scaler) {
			for _, request := range r.forName(ctx, scaler.Namespace, deployment) {
				queue.Add(request)
			}
		}
	}
}

// gone passes what ends the claim of an AppAutoscaler.
func gone() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc:  func(event.CreateEvent) bool { return false },
		UpdateFunc:  func(event.UpdateEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

// ofDeployment are the AppAutoscalers that are for a Deployment.
func (r *Reconciler) ofDeployment(ctx context.Context, object client.Object) []reconcile.Request {
	return r.forName(ctx, object.GetNamespace(), object.GetName())
}

// siblings are the AppAutoscalers that are for the same Deployment as one that is
// gone.
func (r *Reconciler) siblings(ctx context.Context, object client.Object) []reconcile.Request {
	autoscaler, ok := object.(*exampleappsv1.AppAutoscaler)
	if !ok {
		return nil
	}
	return r.forName(ctx, autoscaler.Namespace, autoscaler.Spec.DeploymentName)
}

func (r *Reconciler) forName(ctx context.Context, namespace, deployment string) []reconcile.Request {
	var list exampleappsv1.AppAutoscalerList
	err := r.Client.List(ctx, &list, client.InNamespace(namespace), client.MatchingFields{index.DeploymentName: deployment})
	if err != nil {
		log.FromContext(ctx).Error(err, "listing the AppAutoscalers of a Deployment", "deployment", types.NamespacedName{Namespace: namespace, Name: deployment})
		return nil
	}
	requests := make([]reconcile.Request, 0, len(list.Items))
	for i := range list.Items {
		requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
	}
	return requests
}
