package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/example/vmoperator/src/controller/appautoscaler"
)

// row is a figure and its value in each measurement.
type row struct {
	title string
	value func(measurement) string
}

// tables tell the figures in Markdown: a table for each subject, with a column for
// each number of objects.
func tables(f figures) string {
	if len(f.AppAutoscalers)+len(f.VirtualMachines) == 0 {
		return ""
	}
	return fmt.Sprintf("%s%s%d cores, %s/%s, %s, Kubernetes %s\n", table(f.AppAutoscalers), vmTable(f.VirtualMachines),
		f.Machine.Cores, f.Machine.OS, f.Machine.Arch, f.Machine.Go, f.Machine.Kubernetes)
}

func table(all []measurement) string {
	if len(all) == 0 {
		return ""
	}
	var text strings.Builder
	fmt.Fprintf(&text, "| %s |", all[0].Kind)
	for _, m := range all {
		fmt.Fprintf(&text, " %d |", m.Objects)
	}
	text.WriteString("\n|---|" + strings.Repeat("---:|", len(all)) + "\n")
	for _, r := range rows(all) {
		fmt.Fprintf(&text, "| %s |", r.title)
		for _, m := range all {
			fmt.Fprintf(&text, " %s |", r.value(m))
		}
		text.WriteString("\n")
	}
	return text.String() + "\n"
}

func rows(measurements []measurement) []row {
	var all []row
	for i, p := range measurements[0].Phases {
		all = append(all, phaseRows(i, p)...)
		for _, call := range called(measurements, i) {
			all = append(all, row{fmt.Sprintf("%s: %#q for each", p.Name, call), func(m measurement) string { return per(m.Phases[i].Writes[call], m.Objects) }})
		}
	}
	return slices.Concat(all, steadyRows(), memoryRows(measurements[0]))
}

func phaseRows(i int, p timed) []row {
	return []row{
		{p.Name + ": time " + p.Until, func(m measurement) string { return seconds(m.Phases[i].Operator.Seconds) }},
		{p.Name + ": time, floor", func(m measurement) string { return seconds(m.Phases[i].Floor.Seconds) }},
		{p.Name + ": time, ratio to the floor", func(m measurement) string { return ratio(m.Phases[i].Ratio.Seconds) }},
		{p.Name + ": work, CPU time of all processes", func(m measurement) string { return seconds(m.Phases[i].Operator.WorkSeconds) }},
		{p.Name + ": work, floor", func(m measurement) string { return seconds(m.Phases[i].Floor.WorkSeconds) }},
		{p.Name + ": work, ratio to the floor", func(m measurement) string { return ratio(m.Phases[i].Ratio.WorkSeconds) }},
		{p.Name + ": the operator's CPU time for each", func(m measurement) string { return milliseconds(m.Phases[i].CPUSeconds / float64(m.Objects)) }},
		{p.Name + ": reads for each", func(m measurement) string { return per(m.Phases[i].Reads.total(), m.Objects) }},
		{p.Name + ": writes refused, in all", func(m measurement) string { return fmt.Sprint(m.Phases[i].RefusedWrites) }},
		{p.Name + ": writes for each", func(m measurement) string { return per(m.Phases[i].Writes.total(), m.Objects) }},
	}
}

// called are the writes of a phase, in whichever measurement.
func called(measurements []measurement, phase int) []string {
	all := counts{}
	for _, m := range measurements {
		for call, count := range m.Phases[phase].Writes {
			all[call] += count
		}
	}
	return all.calls()
}

func steadyRows() []row {
	return []row{
		{"steady state: time, of three resyncs", func(m measurement) string { return seconds(m.Steady.Seconds) }},
		{"steady state: looks", func(m measurement) string { return fmt.Sprint(m.Steady.Passes) }},
		{"steady state: writes", func(m measurement) string { return fmt.Sprint(m.Steady.Writes.total()) }},
		{"steady state: reads", func(m measurement) string { return fmt.Sprint(m.Steady.Reads.total()) }},
		{"steady state: heartbeats", func(m measurement) string { return fmt.Sprint(m.Steady.Heartbeats) }},
		{"steady state: CPU time", func(m measurement) string { return seconds(m.Steady.CPUSeconds) }},
		{"steady state: share of one core", func(m measurement) string { return percent(m.Steady.CPUSeconds / m.Steady.Seconds) }},
		{"steady state: CPU time of a look, all else included", func(m measurement) string {
			return milliseconds(m.Steady.CPUSeconds / float64(m.Steady.Passes))
		}},
		{fmt.Sprintf("share of one core with a resync of %s, by that", appautoscaler.DefaultResync), func(m measurement) string {
			return percent(m.Steady.CPUSeconds / float64(m.Steady.Passes) * float64(m.Objects) / appautoscaler.DefaultResync.Seconds())
		}},
	}
}

func memoryRows(smallest measurement) []row {
	return []row{
		{"memory: before the first object", func(m measurement) string { return mebibytes(m.Memory.EmptyBytes) }},
		{"memory: most", func(m measurement) string { return mebibytes(m.Memory.PeakBytes) }},
		{"memory: settled", func(m measurement) string { return mebibytes(m.Memory.SettledBytes) }},
		{fmt.Sprintf("memory: settled, for each object more than %d", smallest.Objects), func(m measurement) string {
			if m.Objects <= smallest.Objects {
				return "-"
			}
			more := float64(m.Memory.SettledBytes) - float64(smallest.Memory.SettledBytes)
			return fmt.Sprintf("%.1f KiB", more/float64(m.Objects-smallest.Objects)/(1<<10))
		}},
	}
}

func per(count, objects int) string { return fmt.Sprintf("%.2f", float64(count)/float64(objects)) }

func ratio(value float64) string { return fmt.Sprintf("%.2f", value) }

func seconds(s float64) string { return fmt.Sprintf("%.2f s", s) }

func milliseconds(s float64) string { return fmt.Sprintf("%.2f ms", s*1000) }

func percent(share float64) string { return fmt.Sprintf("%.2f %%", share*100) }

func mebibytes(bytes uint64) string { return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20)) }

func marshal(f figures) ([]byte, error) {
	text, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("writing the figures: %w", err)
	}
	return append(text, '\n'), nil
}
