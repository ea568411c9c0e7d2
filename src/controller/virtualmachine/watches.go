package virtualmachine

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/backoff"
	"github.com/example/vmoperator/src/controller/virtualmachine/childcache"
	"github.com/example/vmoperator/src/controller/virtualmachine/rollout"
	"github.com/example/vmoperator/src/provider/guard"
)

// +kubebuilder:rbac:groups=compute.example.com,resources=virtualmachines,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=compute.example.com,resources=virtualmachines/status,verbs=patch
// +kubebuilder:rbac:groups="",resources=secrets;services,verbs=get;list;watch;create;update
// +kubebuilder:rbac:groups=discovery.k8s.io,resources=endpointslices,verbs=get;list;watch;create;update;delete
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// HasSynced reports whether the cache of children, which is none of the manager's,
// holds all that there are. SetupWithManager must have been called.
func (r *Reconciler) HasSynced() bool { return r.children.HasSynced() }

// SetupWithManager starts the controller with the manager. The index of
// VirtualMachines by ProviderConfig must be registered.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	r.memory = newMemory()
	if r.Bulkhead == nil {
		r.Bulkhead = guard.NewBulkhead(r.MaxConcurrentReconciles, r.Now)
	}
	r.rollouts = rollout.New(rollout.Options{Registry: r.Registry, Members: r.fleet, Listed: r.tried(), Now: r.Now})
	if r.TransitionPoll == 0 {
		r.TransitionPoll = DefaultTransitionPoll
	}
	changed := builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, answersChanged(), idLearned()))
	if err := r.watchChildren(mgr); err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(mgr).
		Named("virtualmachine").
		For(&computev1.VirtualMachine{}, changed).
		WatchesRawSource(r.children.Source()).
		WatchesRawSource(r.rollouts.Source()).
		WatchesRawSource(r.listChanges()).
		WatchesRawSource(r.freedPermits()).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: r.MaxConcurrentReconciles,
			RateLimiter:             backoff.RateLimiter(),
			EnableWarmup:            new(true),
		}).
		Complete(r)
}

// watchChildren adds the cache of the children, which is none of the manager's: it
// holds digests of them, and not copies.
func (r *Reconciler) watchChildren(mgr ctrl.Manager) (err error) {
	r.children, err = childcache.New(childcache.Options{
		Cluster:    mgr,
		Namespaces: r.Namespaces,
		Selector:   labels.SelectorFromSet(labels.Set{computev1.WatchedLabel: computev1.WatchedLabelValue}),
		Content:    digest,
	})
	if err != nil {
		return fmt.Errorf("setting up the cache of children: %w", err)
	}
	if err := mgr.Add(r.children); err != nil {
		return fmt.Errorf("adding the cache of children: %w", err)
	}
	return nil
}

// answersChanged passes a change of an annotation that users set. Our own record
// is not among them: writing it must not lead to another look.
func answersChanged() predicate.Predicate {
	names := []string{
		computev1.PausedAnnotation, computev1.TakeOverIDAnnotation,
		computev1.ConfirmNotCreatedAnnotation, computev1.RestoredAnnotation,
	}
	return predicate.Funcs{
		CreateFunc:  func(event.CreateEvent) bool { return false },
		DeleteFunc:  func(event.DeleteEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool {
			for _, name := range names {
				if e.ObjectOld.GetAnnotations()[name] != e.ObjectNew.GetAnnotations()[name] {
					return true
				}
			}
			return false
		},
	}
}

// idLearned passes the id of a VM whose creation was in question. Who stored it is a
// leader that stood still during the POST and knew the answer: it will not go on
// with the object.
func idLearned() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc:  func(event.CreateEvent) bool { return false },
		DeleteFunc:  func(event.DeleteEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, isVM := e.ObjectOld.(*computev1.VirtualMachine)
			after, isVMToo := e.ObjectNew.(*computev1.VirtualMachine)
			return isVM && isVMToo && wasAmbiguous(before) && before.Status.ID == "" && after.Status.ID != ""
		},
	}
}

// freedPermits enqueues the VirtualMachines whose calls were refused and may be made
// now.
func (r *Reconciler) freedPermits() source.Source {
	return source.Func(func(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		r.Bulkhead.Listen(func(caller string) {
			namespace, name, _ := strings.Cut(caller, string(types.Separator))
			queue.Add(reconcile.Request{NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}})
		})
		return nil
	})
}
