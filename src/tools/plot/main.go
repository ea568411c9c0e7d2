// Command plot draws how cost grows with the number of VirtualMachines, from what
// the benchmark has measured. The same figures give the same file, byte by byte.
//
//	go -C src/tools/plot run . "$PWD/out/bench.json" "$PWD/docs/performance.svg"
//
// It is a module of its own, so that what draws does not decide about the
// operator's dependencies.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	os.Exit(run(os.Args[1:], os.Stderr))
}

func run(args []string, stderr io.Writer) int {
	if len(args) != 2 {
		fmt.Fprintln(stderr, "usage: plot FIGURES.json PLOT.svg")
		return exitUsage
	}
	if err := plotFile(args[0], args[1]); err != nil {
		fmt.Fprintf(stderr, "plot: %v\n", err)
		return exitFailed
	}
	return exitOK
}

func plotFile(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return fmt.Errorf("reading the figures: %w", err)
	}
	var measured figures
	if err := json.Unmarshal(text, &measured); err != nil {
		return fmt.Errorf("reading the figures: %w", err)
	}
	if len(measured.VirtualMachines) == 0 {
		return errors.New("the figures tell of no VirtualMachines")
	}
	drawn, err := draw(panels(measured.VirtualMachines))
	if err != nil {
		return err
	}
	if err := os.WriteFile(to, drawn, 0o644); err != nil {
		return fmt.Errorf("writing the plot: %w", err)
	}
	return nil
}
