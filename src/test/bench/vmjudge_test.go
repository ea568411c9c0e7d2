package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// goodVMs is what a run over 1,000 VirtualMachines shows when all is well.
func goodVMs() vmMeasurement {
	const n = 1000
	created := counts{
		patchVM: n, patchVMStatus: n, createSecret: n, createService: n, createEndpoint: n, createEvent: 3 * n,
		"patch providerconfigs": 1, "patch providerconfigs/status": 12, "patch secrets": 1,
	}
	return vmMeasurement{Objects: n, Contenders: []vmFigures{
		{
			Name: ourName,
			Create: timed{
				Name: "create", Seconds: 12, Operator: spent{10, 15}, Floor: spent{8, 12}, Ratio: spent{1.25, 1.25},
				Writes: created, Reads: counts{}, Calls: counts{"create": n, "capabilities": 1, "list": 2},
			},
			Delete: timed{
				Name: "delete", Seconds: 6, Operator: spent{4, 6}, Floor: spent{4, 6}, Ratio: spent{1, 1},
				Writes: counts{patchVM: n, createEvent: 2 * n}, Calls: counts{"delete": n, "get": n},
			},
			Steady:  &steady{Seconds: 90, IntervalSeconds: 30, CPUSeconds: 0.9, Calls: counts{"list": 6, "capabilities": 3}},
			Restart: &restart{ReadySeconds: 1, reached: reached{Seconds: 3, Passes: n, Writes: counts{}, Calls: counts{"list": 2, "capabilities": 1}}},
			Change:  &reached{Passes: n, Writes: counts{"patch providerconfigs/status": 1}, Calls: counts{"list": 2, "capabilities": 1}},
			Memory:  memory{EmptyBytes: 60 << 20, PeakBytes: 90 << 20, SettledBytes: 80 << 20, SettledAnonymous: 30 << 20},
			Life: &life{
				ProvisionSeconds: 10, Calls: counts{"create": n, "delete": n, "get": n, "list": 20, "capabilities": 2},
				Create: timed{Seconds: 24, Writes: counts{patchVM: n, patchVMStatus: 2 * n, createEvent: 4 * n, "update endpointslices": n}},
				Delete: timed{Seconds: 6, Writes: counts{patchVM: n}},
			},
			Hang: &hang{Hanging: n, Alone: latencies{Count: 20, MedianSeconds: 0.1}, Beside: latencies{Count: 20, MedianSeconds: 0.12}, Ratio: 1.2},
		},
		{
			Name: "handbook-1", Create: timed{Operator: spent{60, 30}, Writes: counts{"update virtualmachines": n, "update virtualmachines/status": 2 * n}},
			Delete: timed{Operator: spent{20, 10}}, Steady: &steady{Seconds: 30, IntervalSeconds: 30},
		},
	}}
}

func TestCountsOfVirtualMachinesThatAreNotWhatTheyShouldBeAreNamed(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*vmFigures)
		want   []string
	}{
		"all is well": {func(*vmFigures) {}, nil},
		"a slow machine is none of our faults": {func(f *vmFigures) {
			f.Create.Operator, f.Create.Ratio, f.Restart.ReadySeconds, f.Steady.CPUSeconds, f.Hang.Ratio = spent{3000, 3000}, spent{90, 90}, 100, 90, 9
		}, nil},
		"nothing but creation and deletion was measured": {func(f *vmFigures) {
			f.Steady, f.Restart, f.Change, f.Life, f.Hang = nil, nil, nil, nil, nil
		}, nil},
		"a status too many": {
			func(f *vmFigures) { f.Create.Writes[patchVMStatus]++ },
			[]string{"1000 VirtualMachines, create: 1001 times patch virtualmachines/status, want 1000 at most"},
		},
		"a VM looked at that was made at once": {
			func(f *vmFigures) { f.Create.Calls["get"] = 1 },
			[]string{"1000 VirtualMachines, create: 1 times provider: get, want 0 at most"},
		},
		"a ProviderConfig written with every VirtualMachine": {
			func(f *vmFigures) { f.Create.Writes["patch providerconfigs/status"] = 1000 },
			[]string{"1000 VirtualMachines, create: 1000 times patch providerconfigs/status, want 34 at most"},
		},
		"a look at each in steady state": {
			func(f *vmFigures) { f.Steady.Calls["get"] = 3000 },
			[]string{"1000 VirtualMachines, steady state: 3009 calls to the provider (capabilities 3, get 3000, list 6), want 12 at most"},
		},
		"a write in steady state, and one that was tried": {
			func(f *vmFigures) { f.Steady.Writes, f.Steady.RefusedWrites = counts{patchVMStatus: 1}, 1 },
			[]string{
				"1000 VirtualMachines, steady state: 1 times patch virtualmachines/status, want none",
				"1000 VirtualMachines, steady state: 1 writes were refused, want none",
			},
		},
		"a look at each after a restart": {
			func(f *vmFigures) { f.Restart.Calls["get"] = 1000 },
			[]string{"1000 VirtualMachines, restart: 1003 calls to the provider (capabilities 1, get 1000, list 2), want 4 at most"},
		},
		"a restart that took so long that the next list came": {
			func(f *vmFigures) {
				f.Restart.CountedSeconds, f.Restart.IntervalSeconds, f.Restart.Calls = 5, 5, counts{"list": 4, "capabilities": 2}
			}, nil,
		},
		"a write after a restart": {
			func(f *vmFigures) { f.Restart.Writes["update services"] = 2 },
			[]string{"1000 VirtualMachines, restart: 2 times update services, want none"},
		},
		"a look at each after a change of the ProviderConfig": {
			func(f *vmFigures) { f.Change.Calls["get"] = 1000 },
			[]string{"1000 VirtualMachines, change of the ProviderConfig: 1003 calls to the provider (capabilities 1, get 1000, list 2), want 11 at most"},
		},
		"a look at each every other second while it is made": {
			func(f *vmFigures) { f.Life.Calls["get"] = 6000 },
			[]string{"1000 VirtualMachines, slow provider, life: 8022 calls to the provider (capabilities 2, create 1000, delete 1000, get 6000, list 20), want 3214 at most"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := goodVMs()
			test.change(m.of(ourName))
			if diff := cmp.Diff(test.want, judgeVMs(m)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWhatOtherOperatorsDoIsNotJudged(t *testing.T) {
	t.Parallel()
	m := goodVMs()
	m.of("handbook-1").Steady.Writes = counts{"update virtualmachines/status": 1000}
	if got := judgeVMs(m); len(got) > 0 {
		t.Errorf("failures: %q", got)
	}
}

func TestAListHasAPageForEachFiveHundredVMs(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]int{1: 1, 500: 1, 501: 2, 10000: 20} {
		if got := pagesOf(n); got != want {
			t.Errorf("%d VMs: %d pages, want %d", n, got, want)
		}
	}
}
