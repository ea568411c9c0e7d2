package metrics

import (
	"slices"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/provider"
)

const (
	// phaseNone is a VirtualMachine without a VM.
	phaseNone = "None"
	// other is a phase that the contract does not know, or a reason that this
	// version does not. Its name is not shown: a provider could make up any number
	// of phases.
	other = "Other"
)

// VirtualMachine is what the gauges show of one VirtualMachine.
type VirtualMachine struct {
	// Phase is what the provider says of the VM; empty without one.
	Phase provider.Phase
	// Stalled is the reason of the Stalled condition; empty without one.
	Stalled string
}

// counted counts VirtualMachines when it is asked to, so that there is no count to
// keep up to date.
type counted struct {
	phases  *prometheus.Desc
	stalled *prometheus.Desc
	list    atomic.Pointer[func() []VirtualMachine]
}

func newCounted() *counted {
	return &counted{
		phases: prometheus.NewDesc(
			prometheus.BuildFQName(namespace, "", "virtualmachines"),
			"Number of VirtualMachines, by the phase of their VM (None without one, Other for a phase that is not known).",
			[]string{"phase"}, nil,
		),
		stalled: prometheus.NewDesc(
			prometheus.BuildFQName(namespace, "", "virtualmachines_stalled"),
			"Number of VirtualMachines that only a person can help, by the reason of their Stalled condition.",
			[]string{"reason"}, nil,
		),
	}
}

// CountVirtualMachines sets where the gauges of VirtualMachines get them from. It
// is called once with every scrape, so it reads a cache. Until it is set, nothing
// is shown.
func CountVirtualMachines(list func() []VirtualMachine) { virtualMachines.list.Store(&list) }

// Describe implements prometheus.Collector.
func (c *counted) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- c.phases
	descriptions <- c.stalled
}

// Collect implements prometheus.Collector.
func (c *counted) Collect(metrics chan<- prometheus.Metric) {
	list := c.list.Load()
	if list == nil {
		return
	}
	phases := map[string]int{phaseNone: 0, other: 0}
	for _, phase := range provider.KnownPhases() {
		phases[string(phase)] = 0
	}
	// A series that appears only with its first VirtualMachine would hide the change
	// from nothing to one.
	stalled := map[string]int{other: 0}
	for _, reason := range computev1.VirtualMachineStallReasons() {
		stalled[reason] = 0
	}
	for _, vm := range (*list)() {
		phases[phaseLabel(vm.Phase)]++
		if vm.Stalled != "" {
			stalled[reasonLabel(vm.Stalled)]++
		}
	}
	show(metrics, c.phases, phases)
	show(metrics, c.stalled, stalled)
}

func show(metrics chan<- prometheus.Metric, description *prometheus.Desc, counts map[string]int) {
	for label, count := range counts {
		metrics <- prometheus.MustNewConstMetric(description, prometheus.GaugeValue, float64(count), label)
	}
}

func phaseLabel(phase provider.Phase) string {
	switch {
	case phase == "":
		return phaseNone
	case phase.Known():
		return string(phase)
	}
	return other
}

func reasonLabel(reason string) string {
	if slices.Contains(computev1.VirtualMachineStallReasons(), reason) {
		return reason
	}
	return other
}
