package labeller

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/example/vmoperator/src/controller/backoff"
	"github.com/example/vmoperator/src/controller/labeller/decide"
)

// The chart gives the rights to list, to watch and to patch Deployments where the
// labeller runs: they are not among the markers, which are for every installation.

// SetupWithManager adds the controller to a manager, whose cache must hold the
// metadata of all Deployments in the watched namespaces.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	workers := r.MaxConcurrentReconciles
	if workers == 0 {
		workers = DefaultConcurrency
	}
	err := ctrl.NewControllerManagedBy(mgr).
		Named("labeller").
		For(Deployment(), builder.WithPredicates(r.wrong()), builder.OnlyMetadata).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers, RateLimiter: backoff.RateLimiter(), EnableWarmup: new(true)}).
		Complete(r)
	if err != nil {
		return fmt.Errorf("setting up the labeller: %w", err)
	}
	return nil
}

// wrong passes Deployments whose label must be set, now or later, and those that
// are gone, whose history is forgotten. A Deployment's status changes often, and its
// label seldom.
func (r *Reconciler) wrong() predicate.Predicate {
	mustBeSet := func(object client.Object) bool {
		deployment, isMetadata := object.(*metav1.PartialObjectMetadata)
		return isMetadata && decide.Decide(r.observe(deployment, time.Duration(0))) != decide.None
	}
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return mustBeSet(e.Object) },
		UpdateFunc: func(e event.UpdateEvent) bool { return mustBeSet(e.ObjectNew) },
	}
}
