// Command manager is vmoperator, the operator's only binary. Without a command
// it runs the controllers.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// version is set by the linker.
var version = "unknown"

const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		return dispatch(args[0], args[1:], stdout, stderr)
	}
	options, err := parse(args, stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		fmt.Fprintf(stderr, "vmoperator: %v\n", err)
		return exitUsage
	case options.version:
		fmt.Fprintf(stdout, "vmoperator %s\n", version)
		return exitOK
	}
	where, err := options.place(ownNamespace())
	if err != nil {
		fmt.Fprintf(stderr, "vmoperator: %v\n", err)
		return exitUsage
	}
	ctx, stop := untilSignal()
	defer stop()

	logger := setUpLogging(options.zap, stderr)
	if err := serve(ctx, options, where, logger); err != nil {
		logger.Error(err, "vmoperator failed")
		return exitFailed
	}
	return exitOK
}

// untilSignal is a context that ends with the first signal to stop. The second
// ends the process at once.
func untilSignal() (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}
