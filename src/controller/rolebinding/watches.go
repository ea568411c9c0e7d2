package rolebinding

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/backoff"
)

// The chart gives the right to get and to patch the one RoleBinding where
// rbac.survivesNamespaceDeletion is set: it is not among the markers, which are for
// every installation.

// SetupWithManager adds the controller to a manager. It runs where the manager
// leads.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	toBinding := handler.EnqueueRequestsFromMapFunc(func(_ context.Context, object client.Object) []reconcile.Request {
		return []reconcile.Request{r.request(object.GetNamespace())}
	})
	changed := builder.WithPredicates(needChange())
	err := ctrl.NewControllerManagedBy(mgr).
		Named("rolebinding").
		Watches(&computev1.VirtualMachine{}, toBinding, changed).
		Watches(&computev1.ProviderConfig{}, toBinding, changed).
		Watches(&corev1.Secret{}, toBinding, changed).
		WatchesRawSource(r.start()).
		WithOptions(controller.Options{RateLimiter: backoff.RateLimiter()}).
		Complete(r)
	if err != nil {
		return fmt.Errorf("setting up the RoleBinding controller: %w", err)
	}
	return nil
}

func (r *Reconciler) request(namespace string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: namespace, Name: r.Name}}
}

// start looks at each namespace once, for one that has nothing causes no event,
// and may have a finalizer left.
func (r *Reconciler) start() source.Source {
	return source.Func(func(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		for _, namespace := range r.Namespaces {
			queue.Add(r.request(namespace))
		}
		return nil
	})
}

// needChange passes objects that begin to need the operator's rights, or cease to:
// the connection Secret of every VM, for one, does neither.
func needChange() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return need(e.Object) },
		UpdateFunc: func(e event.UpdateEvent) bool { return need(e.ObjectOld) != need(e.ObjectNew) },
		// What is seen of an object last is without its finalizer.
		DeleteFunc: func(e event.DeleteEvent) bool { return !isConnection(e.Object) },
	}
}

// isConnection reports whether an object is the connection Secret of a VM.
func isConnection(object client.Object) bool {
	_, isSecret := object.(*corev1.Secret)
	return isSecret && metav1.GetControllerOf(object) != nil
}
