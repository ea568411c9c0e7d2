package main

import (
	"fmt"
	"slices"
)

// The goals.
const (
	floorGoal     = 1.3
	handbookGoal  = 5
	hangGoal      = 1.5
	shareGoal     = 0.02
	readyGoal     = 10
	memoryGoal    = 120 << 20
	perVMGoal     = 6 << 10
	writesGoal    = 2
	slowGoal      = 3
	middle, large = 1000, 10000
)

func createOf(f *vmFigures) *timed { return &f.Create }
func deleteOf(f *vmFigures) *timed { return &f.Delete }

// timeRows compare how long a phase takes.
func timeRows(name string, of func(*vmFigures) *timed) []vmRow {
	time := func(f *vmFigures) float64 { return of(f).Operator.Seconds }
	besideFloor := func(value func(t *timed) string) func(f *vmFigures) string {
		return func(f *vmFigures) string {
			if of(f).Floor.Seconds == 0 {
				return none
			}
			return value(of(f))
		}
	}
	floorRatio := ourRow(name+": time, ratio to the floor", besideFloor(func(t *timed) string { return ratio(t.Ratio.Seconds) }))
	rows := []vmRow{
		ourRow(name+": time "+of(exemplary()).Until, func(f *vmFigures) string { return seconds(time(f)) }),
		ourRow(name+": time, floor", besideFloor(func(t *timed) string { return seconds(t.Floor.Seconds) })),
		floorRatio,
		ourRow(name+": work, ratio to the floor", besideFloor(func(t *timed) string { return ratio(t.Ratio.WorkSeconds) })),
	}
	beside := rivalRows(func(r rival) []vmRow {
		return []vmRow{besideRow(name+": time, "+r.title+" (times ours)", r.name, time, seconds)}
	})
	if name == "create" {
		rows[2] = floorRatio.aiming(fmt.Sprintf("at most %.1f", floorGoal), middle, func(f *vmFigures, _ int) bool {
			return f.Create.Floor.Seconds > 0 && f.Create.Ratio.Seconds <= floorGoal
		})
		beside[0].goal = &goal{text: fmt.Sprintf("at least %d x", handbookGoal), at: middle, met: func(m *vmMeasurement) bool {
			us, them := m.of(ourName), m.of(handbook(1).name)
			return us != nil && them != nil && them.Create.Operator.Seconds >= handbookGoal*us.Create.Operator.Seconds
		}}
	}
	return slices.Concat(rows, beside)
}

// exemplary names the phases.
func exemplary() *vmFigures {
	none := &virtualMachines{}
	return &vmFigures{
		Create: timed{Name: none.creation().name, Until: none.creation().until},
		Delete: timed{Name: none.deletion().name, Until: none.deletion().until},
	}
}

// own are the writes to VirtualMachines themselves.
func own(writes counts) int {
	return writes[patchVM] + writes[patchVMStatus] + writes["update virtualmachines"] + writes["update virtualmachines/status"]
}

// childWrites are those to what belongs to a VirtualMachine. A patch of a Secret is to
// the credentials.
func childWrites(writes counts) int {
	sum := 0
	for _, verb := range []string{"create", "update"} {
		for _, kind := range []string{"secrets", "services", "endpointslices"} {
			sum += writes[verb+" "+kind]
		}
	}
	return sum
}

func eventWrites(writes counts) int {
	return writes[createEvent] + writes["patch events"] + writes["update events"]
}

// shares are the three kinds of writes, for each VirtualMachine.
func shares(t *timed, n int) string {
	return fmt.Sprintf("%s + %s + %s", per(own(t.Writes), n), per(childWrites(t.Writes), n), per(eventWrites(t.Writes), n))
}

// withObjects is a row whose value needs the number of objects.
func withObjects(title, name string, value func(f *vmFigures, n int) string) vmRow {
	return vmRow{title: title, value: func(m *vmMeasurement) string {
		if f := m.of(name); f != nil {
			return value(f, m.Objects)
		}
		return none
	}}
}

func createRows() []vmRow {
	const title = "create: writes for each: VirtualMachine + children + Events"
	rows := []vmRow{
		withObjects(title, ourName, func(f *vmFigures, n int) string { return shares(&f.Create, n) }).
			aiming(fmt.Sprintf("%d + children + Events", writesGoal), 0, func(f *vmFigures, n int) bool { return own(f.Create.Writes) <= writesGoal*n }),
	}
	beside := rivalRows(func(r rival) []vmRow {
		return []vmRow{withObjects(title+", "+r.title, r.name, func(f *vmFigures, n int) string { return shares(&f.Create, n) })}
	})
	return slices.Concat(rows, beside, []vmRow{
		ourRow("create: writes for the ProviderConfig, in all", func(f *vmFigures) string {
			return fmt.Sprint(f.Create.Writes["patch providerconfigs"] + f.Create.Writes["patch providerconfigs/status"])
		}),
		ourRow("create: writes refused, in all", func(f *vmFigures) string { return fmt.Sprint(f.Create.RefusedWrites) }),
		withObjects("create: reads past the cache for each", ourName, func(f *vmFigures, n int) string { return per(f.Create.Reads.total(), n) }),
		ourRow("create: calls to the provider", func(f *vmFigures) string { return f.Create.Calls.String() }),
		withObjects("create: the operator's CPU time for each", ourName, func(f *vmFigures, n int) string { return milliseconds(f.Create.CPUSeconds / float64(n)) }),
	})
}

func lifeRows() []vmRow {
	lived := func(name, title string, value func(l *life, n int) string) vmRow {
		return withObjects(title, name, func(f *vmFigures, n int) string {
			if f.Life == nil {
				return none
			}
			return value(f.Life, n)
		})
	}
	calls := func(l *life, n int) string { return fmt.Sprintf("%s (%s)", per(l.Calls.total(), n), l.Calls) }
	rows := []vmRow{
		lived(ourName, "slow provider: time until all run", func(l *life, _ int) string { return seconds(l.Create.Operator.Seconds) }),
		lived(ourName, "slow provider: writes for each until Running: VirtualMachine + children + Events", func(l *life, n int) string { return shares(&l.Create, n) }).
			aiming(fmt.Sprintf("%d + children + Events", slowGoal), 0, func(f *vmFigures, n int) bool { return f.Life != nil && own(f.Life.Create.Writes) <= slowGoal*n }),
		lived(ourName, "slow provider: calls for each from apply to gone", calls).
			aiming(fmt.Sprintf("under %.1f", lifeCalls), middle, func(f *vmFigures, n int) bool {
				return f.Life != nil && float64(f.Life.Calls.total()) < lifeCalls*float64(n)
			}),
	}
	return slices.Concat(rows, rivalRows(func(r rival) []vmRow {
		return []vmRow{
			lived(r.name, "slow provider: time until all run, "+r.title, func(l *life, _ int) string { return seconds(l.Create.Operator.Seconds) }),
			lived(r.name, "slow provider: calls for each from apply to gone, "+r.title, calls),
		}
	}))
}

func deleteRows() []vmRow {
	return []vmRow{
		withObjects("delete: writes for each: VirtualMachine + children + Events", ourName, func(f *vmFigures, n int) string { return shares(&f.Delete, n) }),
		ourRow("delete: calls to the provider", func(f *vmFigures) string { return f.Delete.Calls.String() }),
	}
}

func hangRows() []vmRow {
	hung := func(name, title string, value func(h *hang) string) vmRow {
		return contenderRow(title, name, func(f *vmFigures) string {
			if f.Hang == nil {
				return none
			}
			return value(f.Hang)
		})
	}
	rows := []vmRow{
		hung(ourName, "another provider hangs: a new VM runs after (median)", func(h *hang) string { return h.Beside.String() }),
		hung(ourName, "no other provider hangs: a new VM runs after (median)", func(h *hang) string { return h.Alone.String() }),
		hung(ourName, "the one by the other", func(h *hang) string { return ratio(h.Ratio) }).
			aiming(fmt.Sprintf("under %.1f", hangGoal), middle, func(f *vmFigures, _ int) bool { return f.Hang != nil && f.Hang.Ratio > 0 && f.Hang.Ratio < hangGoal }),
	}
	return slices.Concat(rows, rivalRows(func(r rival) []vmRow {
		return []vmRow{hung(r.name, "another provider hangs: a new VM runs after, "+r.title, func(h *hang) string { return h.Beside.String() })}
	}))
}

// String tells the median, or that nothing came in time.
func (l latencies) String() string {
	if l.Late > 0 {
		return fmt.Sprintf("more than %s", late)
	}
	return milliseconds(l.MedianSeconds)
}

// totalCalls is their number, and what they were for.
func totalCalls(calls counts) string {
	if len(calls) == 0 {
		return "0"
	}
	return fmt.Sprintf("%d (%s)", calls.total(), calls)
}
