package main

// figures are everything that one run has measured, as bench.json has it. Times
// are in seconds, memory in bytes.
type figures struct {
	Machine machine `json:"machine"`
	// Began is when, as RFC 3339 has it.
	Began        string        `json:"began"`
	Measurements []measurement `json:"measurements"`
	// Failures are the counts that are not what they should be.
	Failures []string `json:"failures"`
}

// machine is what the times depend on.
type machine struct {
	Cores      int    `json:"cores"`
	OS         string `json:"os"`
	Arch       string `json:"arch"`
	Go         string `json:"go"`
	Kubernetes string `json:"kubernetes"`
}

// measurement is of one kind of objects, in one number.
type measurement struct {
	Kind    string  `json:"kind"`
	Objects int     `json:"objects"`
	Phases  []timed `json:"phases"`
	Steady  steady  `json:"steady"`
	Memory  memory  `json:"memory"`
}

// timed is what a phase has cost.
type timed struct {
	Name  string `json:"name"`
	Until string `json:"until"`
	// Operator is what it took with the operator, Floor with bare clients that make the
	// same writes, and Ratio the one by the other.
	Operator spent `json:"operator"`
	Floor    spent `json:"floor"`
	Ratio    spent `json:"ratio"`
	// CPUSeconds are those of the operator's process, of all cores together.
	CPUSeconds float64 `json:"cpuSeconds"`
	// Writes and Reads are the operator's, of all objects together.
	Writes        counts `json:"writes"`
	RefusedWrites int    `json:"refusedWrites"`
	Reads         counts `json:"reads"`
}

// spent is what something took of everyone.
type spent struct {
	// Seconds are by the clock.
	Seconds float64 `json:"seconds"`
	// WorkSeconds are the processor time of all processes: control plane, clients and
	// operator. Other work on the machine makes it take longer, and hardly be more.
	WorkSeconds float64 `json:"workSeconds"`
}

func (s spent) ratio(floor spent) spent {
	return spent{s.Seconds / floor.Seconds, s.WorkSeconds / floor.WorkSeconds}
}

// least is each figure's smallest value. The zero value stands for none.
func (s spent) least(other spent) spent {
	if s == (spent{}) {
		return other
	}
	return spent{min(s.Seconds, other.Seconds), min(s.WorkSeconds, other.WorkSeconds)}
}

// steady is a time in which nothing happens.
type steady struct {
	Seconds float64 `json:"seconds"`
	// ResyncSeconds is how often each object is looked at.
	ResyncSeconds float64 `json:"resyncSeconds"`
	// Passes are the looks.
	Passes int    `json:"passes"`
	Writes counts `json:"writes"`
	Reads  counts `json:"reads"`
	// RefusedWrites are none that changed anything, and were tried all the same.
	RefusedWrites int `json:"refusedWrites"`
	// Heartbeats are writes of Leases, which do not depend on the number of objects.
	Heartbeats int     `json:"heartbeats"`
	CPUSeconds float64 `json:"cpuSeconds"`
}

// memory is the operator's resident memory.
type memory struct {
	// EmptyBytes are those before the first object.
	EmptyBytes uint64 `json:"emptyBytes"`
	// PeakBytes are the most at any time.
	PeakBytes uint64 `json:"peakBytes"`
	// SettledBytes are those at the end of the steady state.
	SettledBytes uint64 `json:"settledBytes"`
}
