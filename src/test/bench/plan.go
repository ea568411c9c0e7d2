package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/example/vmoperator/src/controller/appautoscaler"
)

// plan says what is measured.
type plan struct {
	subjects []*subjectOf
	// sizes are the numbers of objects, each measured by itself. Without, each subject
	// has its own.
	sizes []int
	// resync is how often the operator looks at AppAutoscalers that are settled.
	resync time.Duration
	// poll is how often it looks at VirtualMachines that are settled.
	poll time.Duration
	// provision is how long a VM takes to be made, where that is what is measured.
	provision time.Duration
	// comparable is the largest number of VirtualMachines at which the handbook's operator
	// is measured.
	comparable int
	// other is a command that starts another operator to be measured, if not empty.
	other string
	// rounds is how often the floor is measured; the least counts.
	rounds int
	// out is the path of the JSON file; logs are in a folder beside it.
	out string
}

// parse says itself what is wrong with the arguments.
func parse(args []string, stderr io.Writer) (plan, error) {
	p := plan{subjects: subjects()}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Func("subjects", "Comma-separated `kinds` to measure: "+names(subjects())+". (default: all)", func(value string) (err error) {
		p.subjects, err = parseSubjects(value)
		return err
	})
	flags.Func("sizes", "Comma-separated `numbers` of objects to measure, each by itself. (default: "+defaultSizes()+")", func(value string) (err error) {
		p.sizes, err = parseSizes(value)
		return err
	})
	flags.DurationVar(&p.resync, "resync", 30*time.Second,
		"How often the operator looks at AppAutoscalers that are settled; steady state lasts three times as long. It must not be shorter than the interval for what is not settled.")
	flags.DurationVar(&p.poll, "poll", 30*time.Second,
		"How often it looks at VirtualMachines that are settled; steady state lasts three times as long.")
	flags.DurationVar(&p.provision, "provision", 10*time.Second,
		"How long a VM takes to be made, where the calls of a life are counted.")
	flags.IntVar(&p.comparable, "handbook", 1000,
		"The most VirtualMachines that the handbook's operator is measured with, and that a life and a provider that hangs are tried with.")
	flags.StringVar(&p.other, "other", "",
		"Shell `command` of another operator to measure, with KUBECONFIG, NAMESPACE and PROVIDER_URL in its environment.")
	flags.IntVar(&p.rounds, "rounds", 1, "How often the floor is measured; the least counts.")
	flags.StringVar(&p.out, "out", "out/bench.json", "Path of the file that gets the figures.")
	if err := flags.Parse(args); err != nil {
		return p, err
	}
	err := p.check(flags.Args())
	if err != nil {
		fmt.Fprintf(stderr, "bench: %v\n", err)
	}
	return p, err
}

// check finds what no flag alone can be wrong about.
func (p *plan) check(args []string) error {
	switch {
	case len(args) > 0:
		return fmt.Errorf("unexpected argument %q", args[0])
	case p.resync < appautoscaler.DefaultRetry:
		return fmt.Errorf("-resync must be at least %s", appautoscaler.DefaultRetry)
	case p.poll < time.Second:
		return errors.New("-poll must be at least 1s")
	case p.provision < 0:
		return errors.New("-provision must not be negative")
	case p.rounds < 1:
		return errors.New("-rounds must be at least 1")
	}
	return nil
}

// of are the numbers of objects of a subject.
func (p *plan) of(s *subjectOf) []int {
	if len(p.sizes) > 0 {
		return p.sizes
	}
	return s.sizes
}

// contenders are the operators that are measured with so many VirtualMachines, ours
// first.
func (p *plan) contenders(n int) []*contender {
	all := []*contender{ours()}
	if n <= p.comparable {
		all = append(all, handbook(1), handbook(vmWorkers))
	}
	if p.other != "" {
		all = append(all, other(p.other))
	}
	return all
}

// detailed is the number of VirtualMachines that a life and a provider that hangs are
// tried with: the largest with which all operators are measured; 0 for none.
func (p *plan) detailed() int {
	most := 0
	for _, n := range p.of(vmSubject()) {
		if n <= p.comparable {
			most = max(most, n)
		}
	}
	return most
}

func parseSubjects(value string) ([]*subjectOf, error) {
	var chosen []*subjectOf
	for name := range strings.SplitSeq(value, ",") {
		all := subjects()
		index := slices.IndexFunc(all, func(s *subjectOf) bool { return s.name == strings.TrimSpace(name) })
		if index < 0 {
			return nil, fmt.Errorf("%q is none of %s", name, names(all))
		}
		chosen = append(chosen, all[index])
	}
	return chosen, nil
}

func names(all []*subjectOf) string {
	names := make([]string, 0, len(all))
	for _, s := range all {
		names = append(names, s.name)
	}
	return strings.Join(names, ",")
}

func defaultSizes() string {
	all := make([]string, 0, len(subjects()))
	for _, s := range subjects() {
		sizes := make([]string, 0, len(s.sizes))
		for _, size := range s.sizes {
			sizes = append(sizes, strconv.Itoa(size))
		}
		all = append(all, s.name+" "+strings.Join(sizes, ","))
	}
	return strings.Join(all, "; ")
}

func parseSizes(value string) ([]int, error) {
	var sizes []int
	for member := range strings.SplitSeq(value, ",") {
		size, err := strconv.Atoi(strings.TrimSpace(member))
		if err != nil || size < 1 {
			return nil, fmt.Errorf("%q is not a number of objects", member)
		}
		sizes = append(sizes, size)
	}
	return sizes, nil
}
