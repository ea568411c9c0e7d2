package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/prometheus/procfs"
)

// usage is what a process has used of the machine.
type usage struct {
	// cpu is the time of all cores together, since its start.
	cpu time.Duration
	// memory is resident memory now, anonymous what of it no file backs, and peak the
	// most so far, in bytes.
	memory, anonymous, peak uint64
}

// usage asks the kernel, for the process itself would have to work to tell.
func (p *process) usage() (usage, error) {
	process, err := procfs.NewProc(p.command.Process.Pid)
	if err != nil {
		return usage{}, fmt.Errorf("looking at the process of %s: %w", p.name, err)
	}
	stat, statErr := process.Stat()
	status, statusErr := process.NewStatus()
	if err := errors.Join(statErr, statusErr); err != nil {
		return usage{}, fmt.Errorf("looking at the process of %s: %w", p.name, err)
	}
	return usage{cpu: cpuTime(stat), memory: status.VmRSS, anonymous: status.RssAnon, peak: status.VmHWM}, nil
}

func cpuTime(stat procfs.ProcStat) time.Duration {
	return time.Duration(stat.CPUTime() * float64(time.Second))
}

// work is the processor time of everything that runs here: this process, the
// control plane and the operator, which are all its children.
func work() (time.Duration, error) {
	all, err := procfs.AllProcs()
	if err != nil {
		return 0, fmt.Errorf("looking at the processes: %w", err)
	}
	var sum time.Duration
	for _, process := range all {
		stat, err := process.Stat()
		if err != nil {
			// It has ended, and was a stranger's: ours live as long as this.
			continue
		}
		if self := os.Getpid(); stat.PID == self || stat.PPID == self {
			sum += cpuTime(stat)
		}
	}
	return sum, nil
}
