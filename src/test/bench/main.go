package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/example/vmoperator/src/controller/appautoscaler"
)

const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

func run(args []string, stdout, stderr io.Writer) int {
	plan, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		return exitUsage
	}
	// What goes wrong is returned; what client-go would say beside it is not read by
	// anyone.
	ctrl.SetLogger(logr.Discard())
	// A second signal ends the process at once; what it started ends with it.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop)
	defer stop()

	if err := bench(ctx, plan, stdout, stderr); err != nil {
		if ctx.Err() != nil {
			err = errors.New("interrupted: everything that was started is stopped")
		}
		fmt.Fprintf(stderr, "bench: %v\n", err)
		return exitFailed
	}
	return exitOK
}

// plan says what is measured.
type plan struct {
	// sizes are the numbers of objects, each measured by itself.
	sizes []int
	// resync is how often the operator looks at what is settled.
	resync time.Duration
	// rounds is how often the floor is measured; the least counts.
	rounds int
	// out is the path of the JSON file; logs are in a folder beside it.
	out string
}

// parse says itself what is wrong with the arguments.
func parse(args []string, stderr io.Writer) (plan, error) {
	p := plan{sizes: []int{100, 1000}}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Func("sizes", "Comma-separated `numbers` of objects to measure, each by itself. (default: 100,1000)", func(value string) (err error) {
		p.sizes, err = parseSizes(value)
		return err
	})
	flags.DurationVar(&p.resync, "resync", 30*time.Second,
		"How often the operator looks at what is settled; steady state lasts three times as long. It must not be shorter than the interval for what is not settled.")
	flags.IntVar(&p.rounds, "rounds", 2, "How often the floor is measured; the least counts.")
	flags.StringVar(&p.out, "out", "out/bench.json", "Path of the file that gets the figures.")
	if err := flags.Parse(args); err != nil {
		return p, err
	}
	var err error
	switch {
	case flags.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case p.resync < appautoscaler.DefaultRetry:
		err = fmt.Errorf("-resync must be at least %s", appautoscaler.DefaultRetry)
	case p.rounds < 1:
		err = errors.New("-rounds must be at least 1")
	}
	if err != nil {
		fmt.Fprintf(stderr, "bench: %v\n", err)
	}
	return p, err
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
