package myapp

import (
	"cmp"
	"context"
	"fmt"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	"github.com/example/vmoperator/src/controller/backoff"
)

// SetupWithManager adds the controller to a manager, whose cache must hold our
// Deployments and Services, and, with Autoscalers, have the index of AppAutoscalers
// by Deployment.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	r.MaxConcurrentReconciles = cmp.Or(r.MaxConcurrentReconciles, DefaultConcurrency)
	r.Retry = cmp.Or(r.Retry, DefaultRetry)
	setup := ctrl.NewControllerManagedBy(mgr).
		Named("myapp").
		For(&exampleappsv1.MyApp{}, builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, pausedChanged()))).
		Owns(&appsv1.Deployment{}, builder.WithPredicates(childChanged())).
		Owns(&corev1.Service{}, builder.WithPredicates(childChanged())).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: r.MaxConcurrentReconciles, RateLimiter: backoff.RateLimiter(), EnableWarmup: new(true),
		})
	if r.Autoscalers {
		setup.Watches(&exampleappsv1.AppAutoscaler{}, handler.EnqueueRequestsFromMapFunc(ofAutoscaler),
			builder.WithPredicates(predicate.GenerationChangedPredicate{}))
	}
	if err := setup.Complete(r); err != nil {
		return fmt.Errorf("setting up the MyApp controller: %w", err)
	}
	return nil
}

// ofAutoscaler is the MyApp that a Deployment of an AppAutoscaler would belong to.
func ofAutoscaler(_ context.Context, object client.Object) []reconcile.Request {
	autoscaler, ok := object.(*exampleappsv1.AppAutoscaler)
	if !ok {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: autoscaler.Namespace, Name: autoscaler.Spec.DeploymentName}}}
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

// childChanged passes a child that is gone, or in which something changed that is
// ours or that is told. A child that appears is our own doing.
func childChanged() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc:  func(event.CreateEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool {
			return !maps.Equal(e.ObjectOld.GetLabels(), e.ObjectNew.GetLabels()) ||
				!equality.Semantic.DeepEqual(e.ObjectOld.GetOwnerReferences(), e.ObjectNew.GetOwnerReferences()) ||
				e.ObjectOld.GetDeletionTimestamp().IsZero() != e.ObjectNew.GetDeletionTimestamp().IsZero() ||
				!equality.Semantic.DeepEqual(content(e.ObjectOld), content(e.ObjectNew))
		},
	}
}

// content is what of a child is ours or is told.
func content(object client.Object) any {
	switch child := object.(type) {
	case *appsv1.Deployment:
		return []any{child.Generation, child.Status}
	case *corev1.Service:
		return child.Spec
	default:
		return object
	}
}
