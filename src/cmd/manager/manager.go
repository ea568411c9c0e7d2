package main

import (
	"fmt"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/selection"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/cmd/manager/access"
	"github.com/example/vmoperator/src/controller/labeller"
	"github.com/example/vmoperator/src/controller/virtualmachine"
	"github.com/example/vmoperator/src/metrics"
	"github.com/example/vmoperator/src/scope"
)

// leaderElectionID is the name of the leader's lease.
const leaderElectionID = "vmoperator-leader"

// claimMargin is what a claim outlasts the graceful stop by, once it could not be
// renewed: time for the process to end before another release begins.
const (
	claimRenewDeadline = 45 * time.Second
	claimMargin        = 15 * time.Second
)

// The claims and, where the operator itself is, the leader's lease and the events
// that tell who leads. Leases of others are none of ours: a node that cannot renew
// its own is taken for dead.
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,verbs=create
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,resourceNames=vmoperator-scope,verbs=get;update
// +kubebuilder:rbac:groups=coordination.k8s.io,namespace=vmoperator-system,resources=leases,verbs=create
// +kubebuilder:rbac:groups=coordination.k8s.io,namespace=vmoperator-system,resources=leases,resourceNames=vmoperator-leader,verbs=get;update
// +kubebuilder:rbac:groups="",namespace=vmoperator-system,resources=events,verbs=create

// newScheme knows the groups that the operator reads and writes. A scheme of all that
// Kubernetes has takes 2 MiB.
func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme, appsv1.AddToScheme, autoscalingv2.AddToScheme, discoveryv1.AddToScheme, rbacv1.AddToScheme,
		computev1.AddToScheme, exampleappsv1.AddToScheme,
	} {
		utilruntime.Must(add(scheme))
	}
	return scheme
}

func newManager(kube *rest.Config, o options, where place, namespaces []string) (ctrl.Manager, error) {
	lock, err := podLock(kube, o, where.home)
	if err != nil {
		return nil, err
	}
	mgr, err := ctrl.NewManager(kube, ctrl.Options{
		Scheme: newScheme(),
		Cache:  cacheOptions(o, namespaces),
		Client: client.Options{FieldOwner: computev1.FieldOwner},
		Metrics: metricsserver.Options{
			BindAddress: o.metricsAddress, SecureServing: o.metricsSecure, FilterProvider: metricsAccess(o),
		},
		// Served by this package, from before there is a manager.
		HealthProbeBindAddress:  "0",
		PprofBindAddress:        o.pprofAddress,
		LeaderElection:          o.leaderElection.enabled,
		LeaderElectionID:        leaderElectionID,
		LeaderElectionNamespace: where.home,
		// Without one, the manager makes its own.
		LeaderElectionResourceLockInterface: lock,
		// The process ends as soon as the manager has.
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 &o.leaderElection.leaseDuration,
		RenewDeadline:                 &o.leaderElection.renewDeadline,
		RetryPeriod:                   &o.leaderElection.retryPeriod,
		GracefulShutdownTimeout:       &o.gracefulShutdown,
		Controller:                    config.Controller{EnableWarmup: new(true), RecoverPanic: new(true)},
	})
	if err != nil {
		return nil, fmt.Errorf("building the manager: %w", err)
	}
	return mgr, nil
}

// metricsAccess is who may read the metrics; nil means everybody.
func metricsAccess(o options) func(*rest.Config, *http.Client) (metricsserver.Filter, error) {
	if !o.metricsSecure {
		return nil
	}
	return access.Filter
}

// cachedKind is a kind of objects that the caches hold.
type cachedKind struct {
	object client.Object
	// selected are those that are held; nil means all.
	selected labels.Selector
	// slim makes them smaller; nil means that only managedFields are left out.
	slim toolscache.TransformFunc
}

// ours are the objects with our label, except the children of VirtualMachines: the
// controller has a cache for these that holds less of each. Those of an object whose
// name is no label's value are in both.
func ours() labels.Selector {
	noChild, err := labels.NewRequirement(computev1.VirtualMachineLabel, selection.DoesNotExist, nil)
	utilruntime.Must(err) // the label is a constant
	return labels.SelectorFromSet(labels.Set{computev1.WatchedLabel: computev1.WatchedLabelValue}).Add(*noChild)
}

func cached(o options) []cachedKind {
	var all []cachedKind
	if o.runsCompute() {
		all = append(all,
			cachedKind{object: &computev1.VirtualMachine{}, slim: virtualmachine.Slim},
			cachedKind{object: &computev1.ProviderConfig{}},
			cachedKind{object: &corev1.Secret{}, selected: ours()},
		)
	}
	if o.runs(appAutoscalerController) {
		// A Deployment that is managed and not owned carries no label to select it by.
		all = append(all,
			cachedKind{object: &exampleappsv1.AppAutoscaler{}},
			cachedKind{object: &appsv1.Deployment{}},
			cachedKind{object: &autoscalingv2.HorizontalPodAutoscaler{}},
		)
	}
	if o.runs(myAppController) {
		all = append(all, cachedKind{object: &exampleappsv1.MyApp{}}, cachedKind{object: &corev1.Service{}, selected: ours()})
		switch {
		case o.runs(appAutoscalerController):
		case o.runs(labellerController):
			// The selection is the kind's, and the labeller needs all of it.
			all = append(all, cachedKind{object: &appsv1.Deployment{}})
		default:
			all = append(all, cachedKind{object: &appsv1.Deployment{}, selected: ours()})
		}
	}
	if o.runs(labellerController) {
		all = append(all, cachedKind{object: labeller.Deployment()})
	}
	return all
}

func cacheOptions(o options, namespaces []string) cache.Options {
	options := cache.Options{
		DefaultNamespaces: map[string]cache.Config{},
		DefaultTransform:  cache.TransformStripManagedFields(),
		ByObject:          map[client.Object]cache.ByObject{},
	}
	for _, namespace := range namespaces {
		options.DefaultNamespaces[namespace] = cache.Config{}
	}
	for _, kind := range cached(o) {
		if kind.selected != nil || kind.slim != nil {
			options.ByObject[kind.object] = cache.ByObject{Label: kind.selected, Transform: kind.slim}
		}
	}
	return options
}

func scopeOptions(o options, where place, kube kubernetes.Interface, logger logr.Logger) scope.Options {
	return scope.Options{
		Client:     kube,
		Namespaces: where.namespaces,
		Home:       where.home,
		Identity:   where.release,
		Sole:       !o.leaderElection.enabled,
		Reads:      reads(o),
		Timing: scope.Timing{
			RenewDeadline: claimRenewDeadline,
			Claim:         claimRenewDeadline + o.gracefulShutdown.Truncate(time.Second) + claimMargin,
		},
		Logger: logger.WithName("scope"),
		Report: func(namespace string, state scope.State) { metrics.SetNamespace(namespace, string(state)) },
	}
}
