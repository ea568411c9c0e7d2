package metrics

import (
	"slices"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
)

// states counts AppAutoscalers by state when it is asked to, so that there is no
// count to keep up to date.
type states struct {
	description *prometheus.Desc
	list        atomic.Pointer[func() []exampleappsv1.AppAutoscalerState]
}

func newStates() *states {
	return &states{description: prometheus.NewDesc(
		prometheus.BuildFQName(namespace, "", "appautoscalers"),
		"Number of AppAutoscalers, by state (None before the first look).",
		[]string{"state"}, nil,
	)}
}

// CountAppAutoscalers sets where the gauge of AppAutoscalers gets their states from.
// It is called once with every scrape, so it reads a cache. Until it is set,
// nothing is shown.
func CountAppAutoscalers(list func() []exampleappsv1.AppAutoscalerState) {
	appAutoscalers.list.Store(&list)
}

// Describe implements prometheus.Collector.
func (s *states) Describe(descriptions chan<- *prometheus.Desc) { descriptions <- s.description }

// Collect implements prometheus.Collector.
func (s *states) Collect(metrics chan<- prometheus.Metric) {
	list := s.list.Load()
	if list == nil {
		return
	}
	// A series that appears only with its first object would hide the change from
	// nothing to one.
	counts := map[string]int{phaseNone: 0, other: 0}
	for _, state := range exampleappsv1.AppAutoscalerStates() {
		counts[string(state)] = 0
	}
	for _, state := range (*list)() {
		switch {
		case state == "":
			counts[phaseNone]++
		case slices.Contains(exampleappsv1.AppAutoscalerStates(), state):
			counts[string(state)]++
		default:
			counts[other]++
		}
	}
	show(metrics, s.description, counts)
}
