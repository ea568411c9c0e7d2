package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// good is what a run over two objects shows when all is well.
func good() measurement {
	return measurement{
		Kind: "AppAutoscalers", Objects: 2,
		Phases: []timed{
			{Name: "create", Writes: counts{createDeployment: 2, patchStatus: 4, createEvent: 4}, Reads: counts{}, Operator: spent{3, 2}, Floor: spent{2, 1.6}, Ratio: spent{1.5, 1.25}},
			{Name: "drift", Writes: counts{patchDeployment: 2, patchStatus: 5, createEvent: 4}, Reads: counts{"get deployments": 2}, Operator: spent{1, 1}, Floor: spent{1, 1}, Ratio: spent{1, 1}},
		},
		Steady: steady{Seconds: 30, IntervalSeconds: 10, Passes: 6, CPUSeconds: 0.3},
		Memory: memory{EmptyBytes: 1 << 20, PeakBytes: 3 << 20, SettledBytes: 2 << 20},
	}
}

func TestCountsThatAreNotWhatTheyShouldBeAreNamed(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*measurement)
		want   []string
	}{
		"all is well": {func(*measurement) {}, nil},
		"a slow machine is none of our faults": {func(m *measurement) {
			m.Phases[0].Operator, m.Phases[0].Ratio, m.Steady.Seconds = spent{3000, 3000}, spent{1500, 1500}, 3000
		}, nil},
		"a write too many": {
			func(m *measurement) { m.Phases[0].Writes[patchStatus] = 5 },
			[]string{"2 AppAutoscalers, create: 5 times patch appautoscalers/status, want 4 at most"},
		},
		"a write that no phase knows": {
			func(m *measurement) { m.Phases[1].Writes["delete deployments"] = 1 },
			[]string{"2 AppAutoscalers, drift: 1 times delete deployments, want 0 at most"},
		},
		"a write in steady state": {
			func(m *measurement) { m.Steady.Writes = counts{patchStatus: 1} },
			[]string{"2 AppAutoscalers, steady state: 1 times patch appautoscalers/status, want none"},
		},
		"a write that was tried in steady state": {
			func(m *measurement) { m.Steady.RefusedWrites = 1 },
			[]string{"2 AppAutoscalers, steady state: 1 writes were refused, want none"},
		},
		"a steady state in which nobody looked": {
			func(m *measurement) { m.Steady.Passes = 5 },
			[]string{"2 AppAutoscalers, steady state: 5 looks, want 6 at least"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := good()
			test.change(&m)
			if diff := cmp.Diff(test.want, judge((&appAutoscalers{}).subject(), m)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
