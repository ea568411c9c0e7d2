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

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"
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
