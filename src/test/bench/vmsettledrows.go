package main

import (
	"fmt"
	"slices"
)

func idleRows() []vmRow {
	idle := func(name, title string, value func(s *steady) string) vmRow {
		return contenderRow(title, name, func(f *vmFigures) string {
			if f.Steady == nil {
				return none
			}
			return value(f.Steady)
		})
	}
	rows := []vmRow{
		idle(ourName, "steady state: calls to the provider in an interval", func(s *steady) string { return fmt.Sprintf("%.1f", s.callsPerInterval()) }).
			aiming("a list and 1", large, func(f *vmFigures, n int) bool {
				return f.Steady != nil && f.Steady.callsPerInterval() <= float64(pagesOf(n)+1)
			}),
		idle(ourName, "steady state: calls to the provider, in all intervals", func(s *steady) string { return totalCalls(s.Calls) }),
		idle(ourName, "steady state: writes, reads, passes", func(s *steady) string { return fmt.Sprintf("%d, %d, %d", s.Writes.total(), s.Reads.total(), s.Passes) }).
			aiming("no write", 0, func(f *vmFigures, _ int) bool {
				return f.Steady != nil && f.Steady.Writes.total()+f.Steady.RefusedWrites == 0
			}),
		idle(ourName, "steady state: heartbeats", func(s *steady) string { return fmt.Sprint(s.Heartbeats) }),
		idle(ourName, "steady state: CPU time, of so many seconds", func(s *steady) string { return fmt.Sprintf("%.2f s of %.0f s", s.CPUSeconds, s.Seconds) }),
		idle(ourName, "steady state: share of one core", func(s *steady) string { return percent(s.share()) }).
			aiming(fmt.Sprintf("under %.0f %%", shareGoal*100), large, func(f *vmFigures, _ int) bool { return f.Steady != nil && f.Steady.share() < shareGoal }),
	}
	return slices.Concat(rows, rivalRows(func(r rival) []vmRow {
		return []vmRow{idle(r.name, "steady state: calls in an interval, share of one core, "+r.title, func(s *steady) string {
			return fmt.Sprintf("%.1f, %s", s.callsPerInterval(), percent(s.share()))
		})}
	}))
}

func (s *steady) callsPerInterval() float64 {
	return float64(s.Calls.total()) * s.IntervalSeconds / s.Seconds
}

func (s *steady) share() float64 { return s.CPUSeconds / s.Seconds }

func restartRows() []vmRow {
	again := func(name, title string, value func(r *restart) string) vmRow {
		return contenderRow(title, name, func(f *vmFigures) string {
			if f.Restart == nil {
				return none
			}
			return value(f.Restart)
		})
	}
	rows := []vmRow{
		again(ourName, "restart: from the start of the process until ready", func(r *restart) string { return seconds(r.ReadySeconds) }).
			aiming(fmt.Sprintf("within %d s", readyGoal), large, func(f *vmFigures, _ int) bool { return f.Restart != nil && f.Restart.ReadySeconds < readyGoal }),
		again(ourName, "restart: from the start of the process until all were looked at", func(r *restart) string { return seconds(r.Seconds) }),
		again(ourName, "restart: passes", func(r *restart) string { return fmt.Sprint(r.Passes) }),
		again(ourName, "restart: calls to the provider", func(r *restart) string { return totalCalls(r.Calls) }).
			aiming("a list and 2", large, func(f *vmFigures, n int) bool { return f.Restart != nil && f.Restart.Calls.total() <= pagesOf(n)+2 }),
		again(ourName, "restart: writes", func(r *restart) string { return totalCalls(r.Writes) }).
			aiming("none", large, func(f *vmFigures, _ int) bool {
				return f.Restart != nil && f.Restart.Writes.total()+f.Restart.RefusedWrites == 0
			}),
		again(ourName, "restart: the operator's CPU time", func(r *restart) string { return seconds(r.CPUSeconds) }),
	}
	return slices.Concat(rows, rivalRows(func(r rival) []vmRow {
		return []vmRow{again(r.name, "restart: until all were looked at, calls, "+r.title, func(r *restart) string {
			return fmt.Sprintf("%s, %d", seconds(r.Seconds), r.Calls.total())
		})}
	}))
}

func changeRows() []vmRow {
	changed := func(title string, value func(r *reached) string) vmRow {
		return ourRow(title, func(f *vmFigures) string {
			if f.Change == nil {
				return none
			}
			return value(f.Change)
		})
	}
	return []vmRow{
		changed("change of the ProviderConfig: time until all were looked at", func(r *reached) string { return seconds(r.Seconds) }),
		changed("change of the ProviderConfig: passes", func(r *reached) string { return fmt.Sprint(r.Passes) }),
		changed("change of the ProviderConfig: calls to the provider", func(r *reached) string { return totalCalls(r.Calls) }),
		changed("change of the ProviderConfig: writes", func(r *reached) string { return totalCalls(r.Writes) }),
	}
}

func vmMemoryRows(all []vmMeasurement) []vmRow {
	smaller := smallerThan(all)
	rows := []vmRow{
		ourRow("memory: before the first object", func(f *vmFigures) string { return mebibytes(f.Memory.EmptyBytes) }),
		ourRow("memory: most", func(f *vmFigures) string { return mebibytes(f.Memory.PeakBytes) }).
			aiming("under 120 MiB", large, func(f *vmFigures, _ int) bool { return f.Memory.PeakBytes < memoryGoal }),
		ourRow("memory: settled (anonymous)", func(f *vmFigures) string {
			return fmt.Sprintf("%s (%s)", mebibytes(f.Memory.SettledBytes), mebibytes(f.Memory.SettledAnonymous))
		}).aiming("under 120 MiB", large, func(f *vmFigures, _ int) bool { return f.Memory.SettledBytes < memoryGoal }),
		ourRow("memory: after a restart (anonymous)", func(f *vmFigures) string {
			if f.Restart == nil {
				return none
			}
			return fmt.Sprintf("%s (%s)", mebibytes(f.Restart.SettledBytes), mebibytes(f.Restart.SettledAnonymous))
		}),
		{title: "memory: settled, for each object more than in the column before", value: func(m *vmMeasurement) string {
			if bytes, known := moreBytes(smaller(m), m); known {
				return fmt.Sprintf("%.1f KiB", bytes/(1<<10))
			}
			return none
		}, goal: &goal{text: fmt.Sprintf("under %d KiB", perVMGoal>>10), at: large, met: func(m *vmMeasurement) bool {
			bytes, known := moreBytes(smaller(m), m)
			return known && bytes < perVMGoal
		}}},
	}
	return slices.Concat(rows, rivalRows(func(r rival) []vmRow {
		return []vmRow{contenderRow("memory: most, "+r.title, r.name, func(f *vmFigures) string { return mebibytes(f.Memory.PeakBytes) })}
	}))
}

// smallerThan finds the next smaller measurement of one; nil for the smallest.
func smallerThan(all []vmMeasurement) func(*vmMeasurement) *vmMeasurement {
	return func(m *vmMeasurement) (found *vmMeasurement) {
		for i := range all {
			if all[i].Objects < m.Objects && (found == nil || all[i].Objects > found.Objects) {
				found = &all[i]
			}
		}
		return found
	}
}

// moreBytes is how much settled memory each VirtualMachine more has cost.
func moreBytes(less, more *vmMeasurement) (float64, bool) {
	if less == nil {
		return 0, false
	}
	before, after := less.of(ourName), more.of(ourName)
	if before == nil || after == nil {
		return 0, false
	}
	return (float64(after.Memory.SettledBytes) - float64(before.Memory.SettledBytes)) / float64(more.Objects-less.Objects), true
}
