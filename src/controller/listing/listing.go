// Package listing lets a snapshot.Observer list each provider when that is due: one
// list of a provider at a time, by as many workers as it takes for slow providers not
// to hold up all others, and only where the manager leads.
package listing

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/example/vmoperator/src/provider/snapshot"
)

// workers is how many providers are listed at once.
const workers = 8

// Reconciler lists the provider of a ProviderConfig.
type Reconciler struct {
	// Lists are what is found.
	Lists *snapshot.Observer
}

// SetupWithManager starts the lists with the manager.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	err := ctrl.NewControllerManagedBy(mgr).
		Named("listing").
		WatchesRawSource(r.wakes()).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).
		Complete(r)
	if err != nil {
		return fmt.Errorf("setting up the lists of VMs: %w", err)
	}
	return nil
}

func (r *Reconciler) wakes() source.Source {
	return source.Func(func(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		r.Lists.WakeBy(func(key types.NamespacedName) { queue.Add(reconcile.Request{NamespacedName: key}) })
		return nil
	})
}

// Reconcile lists the VMs of one ProviderConfig, when that is due.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	return ctrl.Result{RequeueAfter: r.Lists.Look(ctx, request.NamespacedName)}, nil
}
