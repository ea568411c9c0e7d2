package main

import "slices"

// vmMeasurement is of VirtualMachines, in one number.
type vmMeasurement struct {
	Objects int `json:"objects"`
	// Contenders are ours first.
	Contenders []vmFigures `json:"contenders"`
}

// of are the figures of a contender; nil if it was not measured.
func (m *vmMeasurement) of(name string) *vmFigures {
	index := slices.IndexFunc(m.Contenders, func(f vmFigures) bool { return f.Name == name })
	if index < 0 {
		return nil
	}
	return &m.Contenders[index]
}

// vmFigures are those of one operator. What is nil was not measured.
type vmFigures struct {
	// Name is vmoperator, handbook-1, handbook-5 (by the number of workers) or other.
	Name string `json:"name"`
	// Create and Delete are with a provider that provisions at once.
	Create  timed    `json:"create"`
	Steady  *steady  `json:"steady,omitempty"`
	Restart *restart `json:"restart,omitempty"`
	Change  *reached `json:"change,omitempty"`
	Delete  timed    `json:"delete"`
	Memory  memory   `json:"memory"`
	// Life is with a provider that takes its time.
	Life *life `json:"life,omitempty"`
	Hang *hang `json:"hang,omitempty"`
}

// reached is what it took until all settled objects had been looked at again.
type reached struct {
	// Seconds are until the last of the passes that followed.
	Seconds float64 `json:"seconds"`
	// CountedSeconds are how long the counts were taken: until no pass had followed for a
	// while.
	CountedSeconds float64 `json:"countedSeconds"`
	// IntervalSeconds is how often the provider is looked at in any case.
	IntervalSeconds float64 `json:"intervalSeconds"`

	Passes int    `json:"passes"`
	Writes counts `json:"writes"`
	// RefusedWrites were tried.
	RefusedWrites int     `json:"refusedWrites"`
	Reads         counts  `json:"reads"`
	Calls         counts  `json:"calls"`
	CPUSeconds    float64 `json:"cpuSeconds"`
}

// restart is of a new process that finds settled objects.
type restart struct {
	// ReadySeconds are from the start of the process until it is ready: its caches are
	// filled.
	ReadySeconds float64 `json:"readySeconds"`

	// All else is from the start of the process as well.
	reached

	// SettledBytes is the resident memory after that, SettledAnonymous what of it no file
	// backs.
	SettledBytes     uint64 `json:"settledBytes"`
	SettledAnonymous uint64 `json:"settledAnonymousBytes"`
}

// life is of VirtualMachines whose VMs take a while to be made, from the first
// apply until the last is gone.
type life struct {
	ProvisionSeconds float64 `json:"provisionSeconds"`
	Create           timed   `json:"create"`
	Delete           timed   `json:"delete"`
	// Calls are all that the provider got.
	Calls counts `json:"calls"`
}

// hang is of new VirtualMachines at a provider that works, without and with another
// provider that answers nothing.
type hang struct {
	// Hanging is the number of VirtualMachines at the provider that hangs.
	Hanging int `json:"hanging"`
	// Alone and Beside are how long each new VirtualMachine took from its creation until
	// it ran.
	Alone  latencies `json:"alone"`
	Beside latencies `json:"beside"`
	// Ratio is of the medians; 0 where one did not run in time.
	Ratio float64 `json:"ratio"`
}

// latencies are how long some took.
type latencies struct {
	Count         int     `json:"count"`
	MedianSeconds float64 `json:"medianSeconds"`
	MostSeconds   float64 `json:"mostSeconds"`
	// Late is how many did not run in time; nothing was measured after the first.
	Late int `json:"late"`
}

func newLatencies(took []float64, late int) latencies {
	l := latencies{Count: len(took), Late: late}
	if len(took) > 0 {
		sorted := slices.Sorted(slices.Values(took))
		l.MedianSeconds, l.MostSeconds = sorted[len(sorted)/2], sorted[len(sorted)-1]
	}
	return l
}
