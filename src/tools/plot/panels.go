package main

import "slices"

// ours is the contender whose floor is drawn.
const ours = "vmoperator"

// panel is one plot: a cost against the number of VirtualMachines.
type panel struct {
	// title names the cost and its unit.
	title string
	// logarithmic: the cost has a logarithmic axis. The number always has.
	logarithmic bool
	lines       []line
}

// line is the cost of one contender, or what it is compared with.
type line struct {
	name string
	// bound: nobody's cost, but what a cost can be compared with.
	bound  bool
	points []point
}

type point struct {
	objects, cost float64
}

// panels are in the order in which they are drawn.
func panels(measured []measurement) []panel {
	floor := lines(measured, func(c contender) (float64, bool) { return c.Create.Floor.Seconds, c.Name == ours })
	for i := range floor {
		floor[i].name, floor[i].bound = "the floor: bare clients", true
	}
	times := lines(measured, func(c contender) (float64, bool) { return c.Create.Operator.Seconds, true })
	calls := lines(measured, func(c contender) (float64, bool) {
		if c.Steady == nil {
			return 0, false
		}
		return c.Steady.callsPerInterval(), true
	})
	memory := lines(measured, func(c contender) (float64, bool) { return c.Memory.PeakBytes / (1 << 20), true })
	return []panel{
		{title: "Seconds from apply until all are Running", logarithmic: true, lines: slices.Concat(floor, times)},
		{title: "Provider calls per poll interval, all settled", logarithmic: true, lines: slices.Concat(one(measured), calls)},
		{title: "Resident memory at its most, in MiB", lines: memory},
	}
}

// lines are the costs of each contender that has one, in the order of the figures.
func lines(measured []measurement, cost func(contender) (float64, bool)) []line {
	var all []line
	for _, m := range measured {
		for _, c := range m.Contenders {
			value, known := cost(c)
			if !known {
				continue
			}
			index := slices.IndexFunc(all, func(l line) bool { return l.name == c.Name })
			if index < 0 {
				index, all = len(all), append(all, line{name: c.Name})
			}
			all[index].points = append(all[index].points, point{float64(m.Objects), value})
		}
	}
	return all
}

// one is what a look at each VM by itself would cost.
func one(measured []measurement) []line {
	each := line{name: "one GET for each VM", bound: true}
	for _, m := range measured {
		each.points = append(each.points, point{float64(m.Objects), float64(m.Objects)})
	}
	return []line{each}
}

// drawn are the points that the panel's axis has a place for.
func (p *panel) drawn(l *line) []point {
	return slices.DeleteFunc(slices.Clone(l.points), func(at point) bool { return p.logarithmic && at.cost <= 0 })
}
