package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

func run(args []string, stdout *os.File, stderr io.Writer) int {
	act, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		return exitUsage
	}
	// A second signal ends the process at once; what it started ends with it.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop)
	defer stop()

	if err := act(ctx, newScreen(stdout)); err != nil {
		if ctx.Err() != nil && !errors.Is(err, errLeft) {
			err = errors.New("interrupted: everything that was started is stopped")
		}
		fmt.Fprintf(stderr, "demo: %v\n", err)
		return exitFailed
	}
	return exitOK
}

// action is what one call of the command does.
type action func(ctx context.Context, screen *screen) error

// parse tells what to do. It says itself what is wrong with the arguments.
func parse(args []string, stderr io.Writer) (action, error) {
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	flags.SetOutput(stderr)
	upFlag := flags.Bool("up", false, "start control plane, mock provider and operator, and leave them running")
	downFlag := flags.Bool("down", false, "stop what -up started")
	serveFlag := flags.Bool("serve", false, "as -up, but stay in the foreground until a signal comes")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	switch {
	case flags.NArg() > 0 || flags.NFlag() > 1:
		err := errors.New("at most one of -up, -down and -serve, and nothing else")
		fmt.Fprintf(stderr, "demo: %v\n", err)
		return nil, err
	case *upFlag:
		return up, nil
	case *downFlag:
		return down, nil
	case *serveFlag:
		return serve, nil
	}
	return demo, nil
}
