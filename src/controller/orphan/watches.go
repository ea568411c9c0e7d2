package orphan

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/backoff"
	"github.com/example/vmoperator/src/provider/registry"
)

// DefaultConcurrency is how many providers are listed at once: a slow one must not
// hold up all others.
const DefaultConcurrency = 2

// +kubebuilder:rbac:groups=compute.example.com,resources=providerconfigs;virtualmachines,verbs=get;list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// SetupWithManager adds the controller to a manager. It runs where the manager
// leads, for the registry is filled there alone.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	concurrency := r.MaxConcurrentReconciles
	if concurrency == 0 {
		concurrency = DefaultConcurrency
	}
	changed := builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{}))
	err := ctrl.NewControllerManagedBy(mgr).
		Named("orphan").
		For(&computev1.ProviderConfig{}, changed).
		WatchesRawSource(r.providerChanges()).
		WithOptions(controller.Options{MaxConcurrentReconciles: concurrency, RateLimiter: backoff.RateLimiter()}).
		Complete(r)
	if err != nil {
		return fmt.Errorf("setting up the orphan controller: %w", err)
	}
	return nil
}

// providerChanges looks when a provider becomes usable. It starts before any pass
// can ask for a list, and so before any list can wake.
func (r *Reconciler) providerChanges() source.Source {
	return source.Func(func(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		r.queue = func(key types.NamespacedName) { queue.Add(reconcile.Request{NamespacedName: key}) }
		r.Registry.Listen(registry.Changed, r.queue)
		return nil
	})
}

// wake goes on with a ProviderConfig whose list has ended.
func (r *Reconciler) wake(key types.NamespacedName) {
	if r.queue != nil {
		r.queue(key)
	}
}
