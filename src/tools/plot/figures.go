package main

// figures are what is drawn of the benchmark's file.
type figures struct {
	VirtualMachines []measurement `json:"virtualMachines"`
}

// measurement is of one number of VirtualMachines.
type measurement struct {
	Objects    int         `json:"objects"`
	Contenders []contender `json:"contenders"`
}

// contender is an operator, and what it cost.
type contender struct {
	Name   string `json:"name"`
	Create struct {
		Operator spent `json:"operator"`
		Floor    spent `json:"floor"`
	} `json:"create"`
	// Steady is nil where it was not measured.
	Steady *steady `json:"steady"`
	Memory struct {
		PeakBytes float64 `json:"peakBytes"`
	} `json:"memory"`
}

type spent struct {
	Seconds float64 `json:"seconds"`
}

type steady struct {
	Seconds         float64            `json:"seconds"`
	IntervalSeconds float64            `json:"intervalSeconds"`
	Calls           map[string]float64 `json:"calls"`
}

// callsPerInterval are all operations together.
func (s *steady) callsPerInterval() float64 {
	var all float64
	for _, count := range s.Calls {
		all += count
	}
	return all * s.IntervalSeconds / s.Seconds
}
