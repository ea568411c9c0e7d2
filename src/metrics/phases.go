package metrics

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/example/vmoperator/src/provider"
)

const (
	// phaseNone is a VirtualMachine without a VM.
	phaseNone = "None"
	// phaseOther is a phase that the contract does not know. Its name is not shown:
	// a provider could make up any number of them.
	phaseOther = "Other"
)

// phases counts VirtualMachines when it is asked to, so that there is no count to
// keep up to date.
type phases struct {
	description *prometheus.Desc
	list        atomic.Pointer[func() []provider.Phase]
}

func newPhases() *phases {
	return &phases{description: prometheus.NewDesc(
		prometheus.BuildFQName(namespace, "", "virtualmachines"),
		"Number of VirtualMachines, by the phase of their VM (None without one, Other for a phase that is not known).",
		[]string{"phase"}, nil,
	)}
}

// CountVirtualMachines sets where the gauge of VirtualMachines by phase gets them
// from: list returns the phase of each; empty without a VM. It is called with
// every scrape, so it reads a cache. Until it is set, nothing is shown.
func CountVirtualMachines(list func() []provider.Phase) { virtualMachines.list.Store(&list) }

// Describe implements prometheus.Collector.
func (p *phases) Describe(descriptions chan<- *prometheus.Desc) { descriptions <- p.description }

// Collect implements prometheus.Collector.
func (p *phases) Collect(metrics chan<- prometheus.Metric) {
	list := p.list.Load()
	if list == nil {
		return
	}
	counts := map[string]int{phaseNone: 0, phaseOther: 0}
	for _, phase := range provider.KnownPhases() {
		counts[string(phase)] = 0
	}
	for _, phase := range (*list)() {
		counts[label(phase)]++
	}
	for phase, count := range counts {
		metrics <- prometheus.MustNewConstMetric(p.description, prometheus.GaugeValue, float64(count), phase)
	}
}

func label(phase provider.Phase) string {
	switch {
	case phase == "":
		return phaseNone
	case phase.Known():
		return string(phase)
	}
	return phaseOther
}
