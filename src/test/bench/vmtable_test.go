package main

import (
	"strings"
	"testing"
)

func TestTheTableOfVirtualMachinesHasTheGoalsBesideTheFigures(t *testing.T) {
	t.Parallel()
	large := goodVMs()
	large.Objects, large.Contenders = 10000, large.Contenders[:1]
	us := large.of(ourName)
	us.Memory.SettledBytes += 9000 * 7 << 10
	us.Steady.Calls = counts{"list": 60, "capabilities": 3}
	us.Steady.CPUSeconds, us.Life, us.Hang = 4.5, nil, nil
	got := tables(figures{VirtualMachines: []vmMeasurement{goodVMs(), large}})
	for _, want := range []string{
		"| VirtualMachines | 1000 | 10000 | goal |\n|---|---:|---:|---|\n",
		"| create: time, ratio to the floor | 1.25 | 1.25 | at most 1.3 with 1000: yes |\n",
		"| create: time, the handbook's operator, 1 worker (times ours) | 60.00 s (6.0 x) | - | at least 5 x with 1000: yes |\n",
		"| create: writes for each: VirtualMachine + children + Events | 2.00 + 3.00 + 3.00 | 0.20 + 0.30 + 0.30 | 2 + children + Events: yes |\n",
		"| slow provider: calls for each from apply to gone | 3.02 (capabilities 2, create 1000, delete 1000, get 1000, list 20) | - | under 3.2 with 1000: yes |\n",
		"| steady state: calls to the provider in an interval | 3.0 | 21.0 | a list and 1 with 10000: yes |\n",
		"| steady state: share of one core | 1.00 % | 5.00 % | under 2 % with 10000: **no** |\n",
		"| restart: calls to the provider | 3 (capabilities 1, list 2) | 3 (capabilities 1, list 2) | a list and 2 with 10000: yes |\n",
		"| memory: settled (anonymous) | 80.0 MiB (30.0 MiB) | 141.5 MiB (30.0 MiB) | under 120 MiB with 10000: **no** |\n",
		"| memory: settled, for each object more than in the column before | - | 7.0 KiB | under 6 KiB with 10000: **no** |\n",
		"| the one by the other | 1.20 | - | under 1.5 with 1000: yes |\n",
		"its steady state costs nothing, and sees no drift",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("there is no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "5 workers") {
		t.Errorf("there is a row of an operator that was not measured in\n%s", got)
	}
}

func TestAGoalForANumberThatWasNotMeasuredIsNeitherMetNorMissed(t *testing.T) {
	t.Parallel()
	got := tables(figures{VirtualMachines: []vmMeasurement{goodVMs()}})
	if want := "| under 2 % with 10000: not measured |\n"; !strings.Contains(got, want) {
		t.Errorf("there is no %q in\n%s", want, got)
	}
}

func TestAFloorThatWasNotMeasuredIsNoFigure(t *testing.T) {
	t.Parallel()
	m := goodVMs()
	m.of(ourName).Create.Floor, m.of(ourName).Create.Ratio = spent{}, spent{}
	got := tables(figures{VirtualMachines: []vmMeasurement{m}})
	if strings.Contains(got, "create: time, ratio to the floor") {
		t.Errorf("there is a ratio in\n%s", got)
	}
}

func TestAVMThatDoesNotRunInTimeIsNoFigure(t *testing.T) {
	t.Parallel()
	m := goodVMs()
	m.of(ourName).Hang.Beside, m.of(ourName).Hang.Ratio = newLatencies(nil, 1), 0
	got := tables(figures{VirtualMachines: []vmMeasurement{m}})
	for _, want := range []string{
		"| another provider hangs: a new VM runs after (median) | more than 10s |",
		"| the one by the other | 0.00 | under 1.5 with 1000: **no** |",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("there is no %q in\n%s", want, got)
		}
	}
}

func TestLatenciesAreToldByTheirMedianAndTheirMost(t *testing.T) {
	t.Parallel()
	if got, want := newLatencies([]float64{3, 1, 2}, 0), (latencies{Count: 3, MedianSeconds: 2, MostSeconds: 3}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestEverythingIsPutBesideTheFloorOfOurCounts(t *testing.T) {
	t.Parallel()
	m := goodVMs()
	m.compare()
	them := m.of("handbook-1")
	if got, want := them.Create.Ratio, (spent{60.0 / 8, 30.0 / 12}); got != want {
		t.Errorf("create: %v, want %v", got, want)
	}
	if got, want := them.Delete.Ratio, (spent{5, 10.0 / 6}); got != want {
		t.Errorf("delete: %v, want %v", got, want)
	}
}
