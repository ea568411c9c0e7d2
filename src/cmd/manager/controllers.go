package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/meta"
	eventsv1client "k8s.io/client-go/kubernetes/typed/events/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/appautoscaler"
	"github.com/example/vmoperator/src/controller/index"
	"github.com/example/vmoperator/src/controller/labeller"
	"github.com/example/vmoperator/src/controller/listing"
	"github.com/example/vmoperator/src/controller/myapp"
	"github.com/example/vmoperator/src/controller/orphan"
	"github.com/example/vmoperator/src/controller/orphan/finding"
	"github.com/example/vmoperator/src/controller/providerconfig"
	"github.com/example/vmoperator/src/controller/recorder"
	"github.com/example/vmoperator/src/controller/rolebinding"
	"github.com/example/vmoperator/src/metrics"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/guard"
	"github.com/example/vmoperator/src/provider/registry"
	"github.com/example/vmoperator/src/provider/snapshot"
)

// The controllers, as --controllers names them.
const (
	virtualMachineController = "virtualmachine"
	providerConfigController = "providerconfig"
	orphanController         = "orphan"
	appAutoscalerController  = "appautoscaler"
	myAppController          = "myapp"
	labellerController       = "labeller"
)

func controllerNames() []string {
	return []string{
		appAutoscalerController, labellerController, myAppController, orphanController, providerConfigController, virtualMachineController,
	}
}

// defaultControllers are all but those that work on what nobody has given to the
// operator.
func defaultControllers() []string {
	return slices.DeleteFunc(controllerNames(), func(name string) bool { return name == labellerController })
}

func defaultWorkers() map[string]int {
	return map[string]int{
		virtualMachineController: 5, providerConfigController: providerconfig.DefaultConcurrency, orphanController: orphan.DefaultConcurrency,
		appAutoscalerController: appautoscaler.DefaultConcurrency, labellerController: labeller.DefaultConcurrency,
		myAppController: myapp.DefaultConcurrency,
	}
}

// reads are what the caches need the right to list and to watch.
func reads(o options) []authorizationv1.ResourceAttributes {
	var all []authorizationv1.ResourceAttributes
	if o.runsCompute() {
		all = append(all,
			authorizationv1.ResourceAttributes{Group: computev1.GroupVersion.Group, Resource: "virtualmachines"},
			authorizationv1.ResourceAttributes{Group: computev1.GroupVersion.Group, Resource: "providerconfigs"},
			authorizationv1.ResourceAttributes{Resource: "secrets"},
			authorizationv1.ResourceAttributes{Resource: "services"},
			authorizationv1.ResourceAttributes{Group: "discovery.k8s.io", Resource: "endpointslices"},
		)
	}
	if o.runs(appAutoscalerController) {
		all = append(all,
			authorizationv1.ResourceAttributes{Group: exampleappsv1.GroupVersion.Group, Resource: "appautoscalers"},
			authorizationv1.ResourceAttributes{Group: autoscalingv2.GroupName, Resource: "horizontalpodautoscalers"},
		)
	}
	if o.runs(myAppController) {
		all = append(all,
			authorizationv1.ResourceAttributes{Group: exampleappsv1.GroupVersion.Group, Resource: "myapps"},
			authorizationv1.ResourceAttributes{Resource: "services"},
		)
	}
	if o.runs(appAutoscalerController) || o.runs(myAppController) || o.runs(labellerController) {
		all = append(all, authorizationv1.ResourceAttributes{Group: appsv1.GroupName, Resource: "deployments"})
	}
	return all
}

// setUp adds the controllers to a manager and returns the caches that must have
// synced before they can work.
func setUp(ctx context.Context, mgr ctrl.Manager, o options, namespaces []string) ([]syncing, error) {
	if err := metrics.Register(ctrlmetrics.Registry); err != nil {
		return nil, fmt.Errorf("registering metrics: %w", err)
	}
	tell, err := newRecorder(mgr)
	if err != nil {
		return nil, err
	}
	var caches []syncing
	if o.runsCompute() {
		children, err := setUpCompute(ctx, mgr, o, namespaces, tell)
		if err != nil {
			return nil, err
		}
		caches = append(caches, children...)
	}
	if o.runs(appAutoscalerController) {
		if err := setUpAppAutoscalers(ctx, mgr, o, tell); err != nil {
			return nil, err
		}
	}
	if o.runs(myAppController) {
		if err := myApps(mgr, o, tell).SetupWithManager(mgr); err != nil {
			return nil, err
		}
	}
	if o.runs(labellerController) {
		if err := labelKeeper(mgr, o, tell).SetupWithManager(mgr); err != nil {
			return nil, err
		}
	}
	all, err := informers(ctx, mgr, o)
	return append(caches, all...), err
}

// newRecorder returns what all controllers send their events by.
func newRecorder(mgr ctrl.Manager) (events.EventRecorder, error) {
	client, err := eventsv1client.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("making a client for events: %w", err)
	}
	return recorder.New(&events.EventSinkImpl{Interface: client}, mgr.GetScheme(), computev1.FieldOwner, mgr.GetLogger().WithName("events")), nil
}

// setUpCompute adds the controllers of compute.example.com, and returns the caches
// that they have beside the manager's.
func setUpCompute(
	ctx context.Context, mgr ctrl.Manager, o options, namespaces []string, tell events.EventRecorder,
) ([]syncing, error) {
	var caches []syncing
	if err := index.Register(ctx, mgr.GetFieldIndexer()); err != nil {
		return nil, err
	}
	providers := registry.New()
	bulkhead := guard.NewBulkhead(o.workers[virtualMachineController], time.Now)
	lists := snapshot.New(providers, o.transitionPoll, time.Now)
	if err := (&listing.Reconciler{Lists: lists}).SetupWithManager(mgr); err != nil {
		return nil, err
	}
	var findings *finding.Board
	if o.runs(orphanController) {
		findings = &finding.Board{}
		if err := orphans(mgr, o, tell, providers, lists, findings).SetupWithManager(mgr); err != nil {
			return nil, err
		}
	}
	if o.runs(providerConfigController) {
		if err := providerConfigs(mgr, o, tell, providers, findings, bulkhead).SetupWithManager(mgr); err != nil {
			return nil, err
		}
	}
	if o.runs(virtualMachineController) {
		vms := virtualMachines(mgr, o, tell, providers, lists, bulkhead, namespaces)
		if err := vms.SetupWithManager(mgr); err != nil {
			return nil, fmt.Errorf("setting up the VirtualMachine controller: %w", err)
		}
		caches = append(caches, vms)
	}
	if o.keepRoleBinding != "" {
		keeper := &rolebinding.Reconciler{Client: mgr.GetClient(), APIReader: mgr.GetAPIReader(), Namespaces: namespaces, Name: o.keepRoleBinding}
		if err := keeper.SetupWithManager(mgr); err != nil {
			return nil, err
		}
	}
	if o.defaultEndpoint != "" {
		ensure := &providerconfig.EnsureDefault{Client: mgr.GetClient(), Namespaces: namespaces, Endpoint: o.defaultEndpoint}
		if err := mgr.Add(ensure); err != nil {
			return nil, fmt.Errorf("adding the default ProviderConfig: %w", err)
		}
	}
	metrics.CountVirtualMachines(counted(ctx, mgr))
	return caches, nil
}

func setUpAppAutoscalers(ctx context.Context, mgr ctrl.Manager, o options, tell events.EventRecorder) error {
	if err := index.RegisterApps(ctx, mgr.GetFieldIndexer()); err != nil {
		return err
	}
	metrics.CountAppAutoscalers(func() []exampleappsv1.AppAutoscalerState {
		var list exampleappsv1.AppAutoscalerList
		if err := mgr.GetClient().List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
			return nil
		}
		states := make([]exampleappsv1.AppAutoscalerState, 0, len(list.Items))
		for i := range list.Items {
			states = append(states, list.Items[i].Status.State)
		}
		return states
	})
	return (&appautoscaler.Reconciler{
		Options:   appautoscaler.Options{MaxConcurrentReconciles: o.workers[appAutoscalerController], Resync: o.resync},
		Client:    mgr.GetClient(),
		APIReader: mgr.GetAPIReader(),
		Recorder:  tell,
		Now:       time.Now,
	}).SetupWithManager(mgr)
}

// informers returns all informers, without waiting for any.
func informers(ctx context.Context, mgr ctrl.Manager, o options) ([]syncing, error) {
	var all []syncing
	for _, kind := range cached(o) {
		informer, err := mgr.GetCache().GetInformer(ctx, kind.object, cache.BlockUntilSynced(false))
		if err != nil {
			return nil, fmt.Errorf("caching %T: %w", kind.object, err)
		}
		all = append(all, informer)
	}
	return all, nil
}

// counted lists all VMs, for the gauges. Before the cache is ready it knows of
// none.
func counted(ctx context.Context, mgr ctrl.Manager) func() []metrics.VirtualMachine {
	return func() []metrics.VirtualMachine {
		var list computev1.VirtualMachineList
		// They are only read, and a scrape must not cost a copy of each.
		if err := mgr.GetClient().List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
			return nil
		}
		all := make([]metrics.VirtualMachine, 0, len(list.Items))
		for i := range list.Items {
			status := &list.Items[i].Status
			vm := metrics.VirtualMachine{Phase: provider.Phase(status.Phase)}
			if stalled := meta.FindStatusCondition(status.Conditions, computev1.ConditionStalled); stalled != nil {
				vm.Stalled = stalled.Reason
			}
			all = append(all, vm)
		}
		return all
	}
}
