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

// run returns the exit status. Commands other than the manager get their place
// here.
func run(args []string, stdout, stderr io.Writer) int {
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		fmt.Fprintf(stderr, "vmoperator: unknown command %q: vmoperator has flags only; see vmoperator --help\n", args[0])
		return exitUsage
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
	// A second signal ends the process at once.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	defer stop()

	logger := setUpLogging(options.zap, stderr)
	if err := serve(ctx, options, where, logger); err != nil {
		logger.Error(err, "vmoperator failed")
		return exitFailed
	}
	return exitOK
}
