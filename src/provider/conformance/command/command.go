// Package command is `vmoperator conformance`: it tries a provider against the
// contract and prints what it found.
package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/example/vmoperator/src/provider/conformance"
)

// Exit statuses.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

const name = "vmoperator conformance"

// output prints a run: as it goes on, and when it is over.
type output interface {
	conformance.Observer
	// finish prints what is known at the end. Its errors are those of writing.
	finish(report conformance.Report) error
}

// Run runs the command and returns its exit status: 0 if the provider conforms, 1
// if not, or if that could not be found out, 2 for wrong arguments. When ctx ends,
// what was made at the provider is still removed.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags, err := parse(args, stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		fmt.Fprintf(stderr, "%s: %v; see %s --help\n", name, err, name)
		return exitUsage
	case flags.list:
		list(stdout)
		return exitOK
	}
	kit, err := conformance.New(flags.options)
	if err != nil {
		fmt.Fprintf(stderr, "%s: --endpoint, --api-key-file or --ca-file: %v\n", name, err)
		return exitUsage
	}
	stop := context.AfterFunc(ctx, func() {
		fmt.Fprintf(stderr, "%s: interrupted: removing what was made; interrupt again to end at once\n", name)
	})
	defer stop()
	out := flags.outputTo(stdout, stderr)
	report, err := kit.Run(ctx, out)
	if err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", name, err)
		return exitFailed
	}
	if err := out.finish(report); err != nil {
		fmt.Fprintf(stderr, "%s: writing the result: %v\n", name, err)
		return exitFailed
	}
	if report.Count(conformance.Failed) > 0 || len(report.Left) > 0 || ctx.Err() != nil {
		return exitFailed
	}
	return exitOK
}

// summary is the last line of a run.
func summary(report *conformance.Report) string {
	return fmt.Sprintf("conformance: %d passed, %d failed, %d skipped",
		report.Count(conformance.Passed), report.Count(conformance.Failed), report.Count(conformance.Skipped))
}

// list prints what would be tried.
func list(out io.Writer) {
	for _, check := range conformance.Checks() {
		fmt.Fprintf(out, "%s\n    %s\n    %s\n", check.Name, check.Wants, check.Where)
	}
}
