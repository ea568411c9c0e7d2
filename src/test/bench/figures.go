package main

import "maps"

// figures are everything that one run has measured, as bench.json has it. Times
// are in seconds, memory in bytes.
type figures struct {
	Machine machine `json:"machine"`
	// Began is when, as RFC 3339 has it.
	Began string `json:"began"`
	// AppAutoscalers and VirtualMachines have one element for each number of objects.
	AppAutoscalers  []measurement   `json:"appAutoscalers,omitempty"`
	VirtualMachines []vmMeasurement `json:"virtualMachines,omitempty"`
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
	// Seconds are how long the counts were taken: until all was quiet.
	Seconds float64 `json:"seconds"`
	// Writes and Reads are the operator's, of all objects together.
	Writes        counts `json:"writes"`
	RefusedWrites int    `json:"refusedWrites"`
	Reads         counts `json:"reads"`
	// Calls are those to the provider, by operation, where there is one.
	Calls counts `json:"calls,omitempty"`
}

// made are writes and calls together, as a phase names them.
func (t *timed) made() counts {
	all := counts{}
	maps.Copy(all, t.Writes)
	for call, count := range t.Calls {
		all[callPrefix+call] = count
	}
	return all
}

// spent is what something took of everyone.
type spent struct {
	// Seconds are by the clock.
	Seconds float64 `json:"seconds"`
	// WorkSeconds are the processor time of all processes: control plane, clients and
	// operator. Other work on the machine makes it take longer, and hardly be more.
	WorkSeconds float64 `json:"workSeconds"`
}

// ratio is each figure by that of another; 0 where there is no other.
func (s spent) ratio(other spent) spent {
	if other.Seconds == 0 || other.WorkSeconds == 0 {
		return spent{}
	}
	return spent{s.Seconds / other.Seconds, s.WorkSeconds / other.WorkSeconds}
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
	// IntervalSeconds is how often each object, or its provider, is looked at.
	IntervalSeconds float64 `json:"intervalSeconds"`
	// Passes are reconciles.
	Passes int    `json:"passes"`
	Writes counts `json:"writes"`
	Reads  counts `json:"reads"`
	// RefusedWrites are none that changed anything, and were tried all the same.
	RefusedWrites int `json:"refusedWrites"`
	// Heartbeats are writes of Leases, which do not depend on the number of objects.
	Heartbeats int     `json:"heartbeats"`
	CPUSeconds float64 `json:"cpuSeconds"`
	// Calls are those to the provider, by operation, where there is one.
	Calls counts `json:"calls,omitempty"`
}

// memory is the operator's resident memory. Anonymous memory is what of it no file
// backs: without the pages of the binary.
type memory struct {
	// EmptyBytes are those before the first object.
	EmptyBytes uint64 `json:"emptyBytes"`
	// PeakBytes are the most at any time.
	PeakBytes uint64 `json:"peakBytes"`
	// SettledBytes are those at the end of the steady state.
	SettledBytes     uint64 `json:"settledBytes"`
	SettledAnonymous uint64 `json:"settledAnonymousBytes"`
}
