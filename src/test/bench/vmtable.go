package main

import (
	"fmt"
	"slices"
	"strings"
)

// none stands for what was not measured.
const none = "-"

// vmRow is a figure, its value with each number of VirtualMachines, and what it should
// be.
type vmRow struct {
	title string
	value func(m *vmMeasurement) string
	goal  *goal
}

// goal is what a figure should be. Whether it is, is told: it fails nothing.
type goal struct {
	text string
	// at is the number of VirtualMachines that it is about; 0 for any.
	at  int
	met func(m *vmMeasurement) bool
}

// answer says whether the goal is met where it is meant.
func (g *goal) answer(all []vmMeasurement) string {
	if g == nil {
		return ""
	}
	index := len(all) - 1
	if g.at > 0 {
		index = slices.IndexFunc(all, func(m vmMeasurement) bool { return m.Objects == g.at })
	}
	where := ""
	if g.at > 0 {
		where = fmt.Sprintf(" with %d", g.at)
	}
	switch {
	case index < 0:
		return g.text + where + ": not measured"
	case g.met(&all[index]):
		return g.text + where + ": yes"
	default:
		return g.text + where + ": **no**"
	}
}

func vmTable(all []vmMeasurement) string {
	if len(all) == 0 {
		return ""
	}
	var text strings.Builder
	fmt.Fprintf(&text, "| %s |", vmKind)
	for _, m := range all {
		fmt.Fprintf(&text, " %d |", m.Objects)
	}
	text.WriteString(" goal |\n|---|" + strings.Repeat("---:|", len(all)) + "---|\n")
	for _, r := range vmRows(all) {
		values := make([]string, 0, len(all))
		for i := range all {
			values = append(values, r.value(&all[i]))
		}
		if !slices.ContainsFunc(values, func(value string) bool { return value != none }) {
			continue
		}
		fmt.Fprintf(&text, "| %s | %s | %s |\n", r.title, strings.Join(values, " | "), r.goal.answer(all))
	}
	return text.String() + "\n" + remark(all)
}

// remark says what a reader of the ratios must know.
func remark(all []vmMeasurement) string {
	if !slices.ContainsFunc(all, func(m vmMeasurement) bool { return m.of(handbook(1).name) != nil }) {
		return ""
	}
	return "The handbook's operator stops looking once a VM runs: its steady state costs nothing, and sees no drift.\n\n"
}

func vmRows(all []vmMeasurement) []vmRow {
	rows := slices.Concat(timeRows("create", createOf), createRows(), lifeRows(), timeRows("delete", deleteOf), deleteRows(), idleRows(), restartRows(), changeRows())
	return slices.Concat(rows, hangRows(), vmMemoryRows(all))
}

// contenderRow is a row for whichever contender, ours included.
func contenderRow(title, name string, value func(f *vmFigures) string) vmRow {
	return vmRow{title: title, value: func(m *vmMeasurement) string {
		if f := m.of(name); f != nil {
			return value(f)
		}
		return none
	}}
}

func ourRow(title string, value func(f *vmFigures) string) vmRow {
	return contenderRow(title, ourName, value)
}

// aiming is a row with a goal.
func (r vmRow) aiming(text string, at int, met func(f *vmFigures, n int) bool) vmRow {
	r.goal = &goal{text: text, at: at, met: func(m *vmMeasurement) bool {
		f := m.of(ourName)
		return f != nil && met(f, m.Objects)
	}}
	return r
}

// rival is a contender beside ours, with what the table calls it.
type rival struct{ name, title string }

func rivals() []rival {
	return []rival{
		{handbook(1).name, "the handbook's operator, 1 worker"},
		{handbook(vmWorkers).name, fmt.Sprintf("the handbook's operator, %d workers", vmWorkers)},
		{other("").name, "the other operator"},
	}
}

// rivalRows are some rows for each rival.
func rivalRows(rowsOf func(rival) []vmRow) []vmRow {
	all := make([]vmRow, 0, len(rivals()))
	for _, each := range rivals() {
		all = append(all, rowsOf(each)...)
	}
	return all
}

// besideRow is a rival's value with, in brackets, how many times ours it is.
func besideRow(title, name string, figure func(f *vmFigures) float64, show func(float64) string) vmRow {
	return vmRow{title: title, value: func(m *vmMeasurement) string {
		us, them := m.of(ourName), m.of(name)
		switch {
		case us == nil || them == nil:
			return none
		case figure(us) == 0:
			return show(figure(them))
		default:
			return fmt.Sprintf("%s (%.1f x)", show(figure(them)), figure(them)/figure(us))
		}
	}}
}
