package providerconfig

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/index"
	"github.com/example/vmoperator/src/provider/registry"
)

// countPause gathers VirtualMachines that come and go into one pass: a thousand
// that are created one by one cost a write a second, not one each.
const countPause = time.Second

// +kubebuilder:rbac:groups=compute.example.com,resources=providerconfigs,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=compute.example.com,resources=providerconfigs/status,verbs=patch
// +kubebuilder:rbac:groups=compute.example.com,resources=virtualmachines,verbs=list;watch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// SetupWithManager adds the controller to a manager, whose cache must have the
// indexes of package index and hold no Secrets but those with WatchedLabel.
func (r *Reconciler) SetupWithManager(mgr manager.Manager) error {
	concurrency := r.Options.MaxConcurrentReconciles
	if concurrency == 0 {
		concurrency = DefaultConcurrency
	}
	err := ctrl.NewControllerManagedBy(mgr).
		Named("providerconfig").
		For(&computev1.ProviderConfig{}, builder.WithPredicates(ownChange())).
		Watches(&computev1.VirtualMachine{}, r.virtualMachineHandler()).
		Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.configsOfSecret), builder.WithPredicates(secretChange())).
		WatchesRawSource(r.doubts()).
		WatchesRawSource(r.findings()).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: concurrency,
			RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](backoffFirst, backoffMost),
		}).
		Complete(r)
	if err != nil {
		return fmt.Errorf("setting up the ProviderConfig controller: %w", err)
	}
	return nil
}

// ownChange passes changes of the spec, of our annotations, and deletion, but not
// our own writes to the status.
func ownChange() predicate.Predicate {
	return predicate.Or[client.Object](
		predicate.GenerationChangedPredicate{},
		predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
			return !maps.Equal(ourAnnotations(e.ObjectOld), ourAnnotations(e.ObjectNew))
		}},
	)
}

func ourAnnotations(object client.Object) map[string]string {
	ours := map[string]string{}
	for name, value := range object.GetAnnotations() {
		if strings.HasPrefix(name, computev1.GroupVersion.Group+"/") {
			ours[name] = value
		}
	}
	return ours
}

// virtualMachineHandler wakes the ProviderConfig of a VirtualMachine when the
// count changes, after a pause, and at once when a VM vanished, or is the first and
// waits.
func (r *Reconciler) virtualMachineHandler() handler.EventHandler {
	counted := func(object client.Object, queue queue) {
		request, ok := requestFor(object)
		switch {
		case !ok:
		case r.Registry.Get(request.NamespacedName).State == registry.Idle:
			queue.Add(request)
		default:
			queue.AddAfter(request, countPause)
		}
	}
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, queue queue) { counted(e.Object, queue) },
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, queue queue) { counted(e.Object, queue) },
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, queue queue) {
			if request, ok := requestFor(e.ObjectNew); ok && hasVanished(e.ObjectNew) && !hasVanished(e.ObjectOld) {
				queue.Add(request)
			}
		},
	}
}

func requestFor(object client.Object) (reconcile.Request, bool) {
	vm, ok := object.(*computev1.VirtualMachine)
	if !ok {
		return reconcile.Request{}, false
	}
	return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: vm.Namespace, Name: vm.ProviderConfigName()}}, true
}

func hasVanished(object client.Object) bool {
	vm, ok := object.(*computev1.VirtualMachine)
	if !ok {
		return false
	}
	synced := meta.FindStatusCondition(vm.Status.Conditions, computev1.ConditionSynced)
	return synced != nil && synced.Reason == computev1.ReasonVanished
}

// secretChange passes what a ProviderConfig could see of a Secret: its content
// and our marks.
func secretChange() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, isSecret := e.ObjectOld.(*corev1.Secret)
		after, isStill := e.ObjectNew.(*corev1.Secret)
		return isSecret && isStill && (!equality.Semantic.DeepEqual(before.Data, after.Data) || marked(before) != marked(after))
	}}
}

func (r *Reconciler) configsOfSecret(ctx context.Context, secret client.Object) []reconcile.Request {
	configs := &computev1.ProviderConfigList{}
	err := r.Client.List(ctx, configs, client.InNamespace(secret.GetNamespace()),
		client.MatchingFields{index.ProviderSecrets: secret.GetName()})
	if err != nil {
		// The cache answers, so this is a missing index: a mistake that every test finds.
		log.FromContext(ctx).Error(err, "cannot tell which ProviderConfigs a Secret belongs to")
		return nil
	}
	requests := make([]reconcile.Request, 0, len(configs.Items))
	for i := range configs.Items {
		requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&configs.Items[i])})
	}
	return requests
}

// doubts enqueues the ProviderConfigs whose entry in the registry somebody doubts.
func (r *Reconciler) doubts() source.Source {
	return source.Func(func(_ context.Context, queue queue) error {
		r.Registry.Listen(registry.Doubted, func(key types.NamespacedName) {
			r.memories.doubt(key)
			queue.Add(reconcile.Request{NamespacedName: key})
		})
		return nil
	})
}

// findings enqueues the ProviderConfigs of which the orphan controller has
// something new to say.
func (r *Reconciler) findings() source.Source {
	return source.Func(func(_ context.Context, queue queue) error {
		if r.Findings != nil {
			r.Findings.Listen(func(key types.NamespacedName) { queue.Add(reconcile.Request{NamespacedName: key}) })
		}
		return nil
	})
}
