package main

import (
	"time"

	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/example/vmoperator/src/controller/labeller"
	"github.com/example/vmoperator/src/controller/myapp"
	"github.com/example/vmoperator/src/controller/orphan"
	"github.com/example/vmoperator/src/controller/orphan/finding"
	"github.com/example/vmoperator/src/controller/providerconfig"
	"github.com/example/vmoperator/src/controller/virtualmachine"
	"github.com/example/vmoperator/src/metrics"
	"github.com/example/vmoperator/src/provider/guard"
	"github.com/example/vmoperator/src/provider/registry"
	"github.com/example/vmoperator/src/provider/snapshot"
)

func orphans(
	mgr ctrl.Manager, o options, tell events.EventRecorder, providers *registry.Registry, lists *snapshot.Observer, findings *finding.Board,
) *orphan.Reconciler {
	return &orphan.Reconciler{
		Options:   orphan.Options{Interval: o.orphanInterval, MaxConcurrentReconciles: o.workers[orphanController]},
		Client:    mgr.GetClient(),
		APIReader: mgr.GetAPIReader(),
		Registry:  providers,
		Lists:     lists,
		Findings:  findings,
		Recorder:  tell,
		Now:       time.Now,
	}
}

func providerConfigs(
	mgr ctrl.Manager, o options, tell events.EventRecorder, providers *registry.Registry, findings *finding.Board, bulkhead *guard.Bulkhead,
) *providerconfig.Reconciler {
	return &providerconfig.Reconciler{
		Client:    mgr.GetClient(),
		APIReader: mgr.GetAPIReader(),
		Registry:  providers,
		Connect:   registry.Connect,
		Recorder:  tell,
		Gauges:    metrics.ProviderConfigs{},
		Findings:  findings,
		Now:       time.Now,
		Options: providerconfig.Options{
			DefaultQPS:              float64(o.providerQPS),
			DefaultBurst:            o.providerBurst,
			Dial:                    o.endpoints,
			UserAgent:               userAgent(),
			Bulkhead:                bulkhead,
			MaxConcurrentReconciles: o.workers[providerConfigController],
		},
	}
}

func virtualMachines(
	mgr ctrl.Manager, o options, tell events.EventRecorder,
	providers *registry.Registry, lists *snapshot.Observer, bulkhead *guard.Bulkhead, namespaces []string,
) *virtualmachine.Reconciler {
	return &virtualmachine.Reconciler{
		Options: virtualmachine.Options{
			MaxConcurrentReconciles: o.workers[virtualMachineController],
			Namespaces:              namespaces,
			LeaseDuration:           o.leaderElection.leaseDuration,
			VMAddressCIDRs:          o.vmAddresses,
			TransitionPoll:          o.transitionPoll,
		},
		Client:    mgr.GetClient(),
		APIReader: mgr.GetAPIReader(),
		Registry:  providers,
		Lists:     lists,
		Bulkhead:  bulkhead,
		Recorder:  tell,
		Now:       time.Now,
	}
}

func myApps(mgr ctrl.Manager, o options, tell events.EventRecorder) *myapp.Reconciler {
	return &myapp.Reconciler{
		Options: myapp.Options{
			MaxConcurrentReconciles: o.workers[myAppController], Autoscalers: o.runs(appAutoscalerController),
		},
		Client:    mgr.GetClient(),
		APIReader: mgr.GetAPIReader(),
		Recorder:  tell,
		Now:       time.Now,
	}
}

func labelKeeper(mgr ctrl.Manager, o options, tell events.EventRecorder) *labeller.Reconciler {
	return &labeller.Reconciler{
		Rule:                    o.label.rule,
		Client:                  mgr.GetClient(),
		Recorder:                tell,
		Now:                     time.Now,
		MaxConcurrentReconciles: o.workers[labellerController],
	}
}
