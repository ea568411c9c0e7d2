// Package metrics holds every Prometheus collector of the operator. Register is
// the one place that registers them.
//
// A VirtualMachine's name is never a label, for there is no bound on how many
// there are. A ProviderConfig's is, on gauges alone, and its series go with it: see
// ProviderConfigs.
package metrics

import (
	"errors"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const (
	namespace = "vmoperator"

	millisecondsPerSecond = 1000
)

var (
	// ProviderCallDuration is how long calls to providers took, by the operation
	// and by the outcome: OutcomeOK or the error's class. Calls that our own limits
	// held back are not in it.
	ProviderCallDuration = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Namespace: namespace, Name: "provider_call_duration_seconds",
		Help: "Duration of calls to providers, by operation and outcome (ok, or the class of the error).",
		// From a provider in the same rack to the longest timeout there is.
		Buckets: []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300},
	}, []string{"operation", "outcome"})

	// ProviderThrottled counts calls that were throttled, by reason: see the
	// ThrottledBy constants.
	ProviderThrottled = prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: namespace, Name: "provider_throttled_total",
		Help: "Calls to providers that were throttled: by the provider, or held back before they were made, " +
			"by the rate limit, by a pause that the provider asked for, by the bulkhead that leaves workers to other providers, " +
			"or by the circuit that is open while calls fail.",
	}, []string{"reason"})

	// VirtualMachinesVanished counts VMs that were found deleted behind the
	// operator's back.
	VirtualMachinesVanished = prometheus.NewCounter(prometheus.CounterOpts{
		Namespace: namespace, Name: "virtualmachines_vanished_total",
		Help: "VMs that were found to be deleted at their provider by somebody else.",
	})

	// OrphansDeleted counts VMs without a VirtualMachine whose deletion a provider has
	// accepted.
	OrphansDeleted = prometheus.NewCounter(prometheus.CounterOpts{
		Namespace: namespace, Name: "orphans_deleted_total",
		Help: "VMs without a VirtualMachine that were deleted, where the ProviderConfig wants it.",
	})

	// providerConfigReady and what follows are set and deleted together: see
	// ProviderConfigs.
	providerConfigReady = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Namespace: namespace, Name: "providerconfig_ready",
		Help: "1 if the ProviderConfig is Ready, 0 otherwise.",
	}, []string{"namespace", "name"})

	providerConfigVirtualMachines = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Namespace: namespace, Name: "providerconfig_virtualmachines",
		Help: "Number of VirtualMachines that refer to the ProviderConfig.",
	}, []string{"namespace", "name"})

	providerConfigCircuitOpen = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Namespace: namespace, Name: "providerconfig_circuit_open",
		Help: "1 if calls to the ProviderConfig's provider are held back because others failed one after another, 0 otherwise.",
	}, []string{"namespace", "name"})

	providerConfigOrphans = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Namespace: namespace, Name: "providerconfig_orphans",
		Help: "Number of VMs that carry the ProviderConfig's labels and belong to no VirtualMachine: orphan (it does not exist), " +
			"duplicate (it has another VM) or retained (it was deleted and left its VM on purpose).",
	}, []string{"namespace", "name", "kind"})

	providerConfigSnapshot = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Namespace: namespace, Name: "providerconfig_snapshot_timestamp_seconds",
		Help: "When the last complete list of the ProviderConfig's VMs was begun, in seconds since 1970. What happened to a VM since may not be known.",
	}, []string{"namespace", "name"})

	providerConfigFailedLists = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Namespace: namespace, Name: "providerconfig_failed_lists",
		Help: "Number of lists of the ProviderConfig's VMs that failed since the last complete one.",
	}, []string{"namespace", "name"})

	providerConfigHeldBack = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Namespace: namespace, Name: "providerconfig_held_back",
		Help: "Number of VirtualMachines that are not worked on until the ProviderConfig, which has changed, has led a few others to their VMs.",
	}, []string{"namespace", "name"})

	virtualMachines = newCounted()

	// labelsSet counts what the labeller does.
	labelsSet = prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: namespace, Name: "labels_set_total",
		Help: "Labels that the labeller has set on Deployments, by whether somebody keeps changing the label back.",
	}, []string{"contended"})

	// AppAutoscalerPutBack counts what somebody else had set and was put back, by field:
	// of Deployments, or HorizontalPodAutoscalers as a whole.
	AppAutoscalerPutBack = prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: namespace, Name: "appautoscaler_put_back_total",
		Help: "What somebody else had set in Deployments and HorizontalPodAutoscalers, and was put back, by field.",
	}, []string{"field"})

	appAutoscalers = newStates()
)

// OutcomeOK is the outcome of a call without an error.
const OutcomeOK = "ok"

// Reasons of ProviderThrottled.
const (
	// ThrottledByLimit is a call that our own rate limit held back.
	ThrottledByLimit = "limit"
	// ThrottledByPause is a call that was held back because the provider had asked
	// for a pause.
	ThrottledByPause = "pause"
	// ThrottledByBulkhead is a call that was held back because its provider has its
	// share of the workers.
	ThrottledByBulkhead = "bulkhead"
	// ThrottledByCircuit is a call that was held back because others to the same
	// provider failed.
	ThrottledByCircuit = "circuit"
	// ThrottledByProvider is a call that the provider refused.
	ThrottledByProvider = "provider"
)

func collectors() []prometheus.Collector {
	return []prometheus.Collector{
		ProviderCallDuration,
		ProviderThrottled,
		VirtualMachinesVanished,
		OrphansDeleted,
		providerConfigReady,
		providerConfigVirtualMachines,
		providerConfigCircuitOpen,
		providerConfigOrphans,
		providerConfigSnapshot,
		providerConfigFailedLists,
		providerConfigHeldBack,
		virtualMachines,
		AppAutoscalerPutBack,
		appAutoscalers,
		namespaces,
		labelsSet,
	}
}

// CountLabelSet counts a label that was set, on a Deployment where somebody keeps
// changing it back or does not.
func CountLabelSet(contended bool) { labelsSet.WithLabelValues(strconv.FormatBool(contended)).Inc() }

// Register registers every collector of the operator. Its error names those that
// could not be.
func Register(registerer prometheus.Registerer) error {
	all := collectors()
	failures := make([]error, 0, len(all))
	for _, collector := range all {
		failures = append(failures, registerer.Register(collector))
	}
	return errors.Join(failures...)
}

// ProviderConfigs are the gauges of ProviderConfigs.
type ProviderConfigs struct{}

// SetProviderConfig shows a ProviderConfig: whether it is Ready, and how many
// VirtualMachines refer to it.
func (ProviderConfigs) SetProviderConfig(namespace, name string, ready bool, virtualMachines int) {
	providerConfigReady.WithLabelValues(namespace, name).Set(oneIf(ready))
	providerConfigVirtualMachines.WithLabelValues(namespace, name).Set(float64(virtualMachines))
}

// SetCircuit shows whether calls to a ProviderConfig's provider are held back
// because others failed.
func (ProviderConfigs) SetCircuit(namespace, name string, open bool) {
	providerConfigCircuitOpen.WithLabelValues(namespace, name).Set(oneIf(open))
}

func oneIf(condition bool) float64 {
	if condition {
		return 1
	}
	return 0
}

// SetOrphans shows how many VMs of a ProviderConfig belong to no VirtualMachine,
// by kind.
func (ProviderConfigs) SetOrphans(namespace, name string, orphans, duplicates, retained int) {
	for kind, count := range map[string]int{"orphan": orphans, "duplicate": duplicates, "retained": retained} {
		providerConfigOrphans.WithLabelValues(namespace, name, kind).Set(float64(count))
	}
}

// SetLists shows when the last complete list of a ProviderConfig's VMs was begun,
// and how many have failed since; the zero time is that of no list.
func (ProviderConfigs) SetLists(namespace, name string, complete time.Time, failed int) {
	if !complete.IsZero() {
		providerConfigSnapshot.WithLabelValues(namespace, name).Set(float64(complete.UnixMilli()) / millisecondsPerSecond)
	}
	providerConfigFailedLists.WithLabelValues(namespace, name).Set(float64(failed))
}

// DeleteLists takes away what SetLists shows of a ProviderConfig that is not listed
// any more.
func (ProviderConfigs) DeleteLists(namespace, name string) {
	providerConfigSnapshot.DeleteLabelValues(namespace, name)
	providerConfigFailedLists.DeleteLabelValues(namespace, name)
}

// DeleteProviderConfig takes away the series of a ProviderConfig that is gone.
func (ProviderConfigs) DeleteProviderConfig(namespace, name string) {
	ProviderConfigs{}.DeleteLists(namespace, name)
	providerConfigReady.DeleteLabelValues(namespace, name)
	providerConfigVirtualMachines.DeleteLabelValues(namespace, name)
	providerConfigCircuitOpen.DeleteLabelValues(namespace, name)
	providerConfigOrphans.DeletePartialMatch(prometheus.Labels{"namespace": namespace, "name": name})
}

// SetHeldBack shows how many VirtualMachines of a ProviderConfig wait until it has
// led a few others to their VMs.
func SetHeldBack(namespace, name string, virtualMachines int) {
	providerConfigHeldBack.WithLabelValues(namespace, name).Set(float64(virtualMachines))
}

// DeleteHeldBack takes that series away, of a ProviderConfig that is gone.
func DeleteHeldBack(namespace, name string) {
	providerConfigHeldBack.DeleteLabelValues(namespace, name)
}
