package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	conformance "github.com/example/vmoperator/src/provider/conformance/command"
	"github.com/example/vmoperator/src/smoketest"
	"github.com/example/vmoperator/src/uninstallguard"
)

// command is something that the binary does instead of running the controllers.
type command struct {
	name, does string
	// run returns the exit status.
	run func(ctx context.Context, args []string, stdout, stderr io.Writer) int
}

func commands() []command {
	return []command{
		{"conformance", "Try a provider against the contract", conformance.Run},
		{"smoke-test", "Make a VirtualMachine, see it run, and delete it", withCluster(smoketest.Run)},
		{"uninstall-guard", "Fail while there are objects that need the operator", withCluster(uninstallguard.Run)},
	}
}

// dispatch runs a command.
func dispatch(name string, args []string, stdout, stderr io.Writer) int {
	all := commands()
	i := slices.IndexFunc(all, func(c command) bool { return c.name == name })
	if i < 0 {
		fmt.Fprintf(stderr, "vmoperator: unknown command %q: there are %s; see vmoperator --help\n", name, commandNames())
		return exitUsage
	}
	// A command prints what there is to say; the libraries would only add to it.
	ctrl.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	ctx, stop := untilSignal()
	defer stop()
	return all[i].run(ctx, args, stdout, stderr)
}

func commandNames() string {
	all := commands()
	names := make([]string, 0, len(all))
	for _, c := range all {
		names = append(names, c.name)
	}
	return strings.Join(names, ", ")
}

// usage lists what can be run.
func usage() string {
	var text strings.Builder
	fmt.Fprintf(&text, "  vmoperator %-16s Run the controllers.\n", "[flags]")
	for _, c := range commands() {
		fmt.Fprintf(&text, "  vmoperator %-16s %s; see vmoperator %s --help.\n", c.name, c.does, c.name)
	}
	return text.String()
}

// withCluster gives a command a way to the Kubernetes API.
func withCluster(
	run func(ctx context.Context, args []string, connect func() (client.Client, error), stdout, stderr io.Writer) int,
) func(context.Context, []string, io.Writer, io.Writer) int {
	return func(ctx context.Context, args []string, stdout, stderr io.Writer) int {
		return run(ctx, args, connect, stdout, stderr)
	}
}

func connect() (client.Client, error) {
	config, err := kubeConfig(options{})
	if err != nil {
		return nil, err
	}
	kube, err := client.New(config, client.Options{Scheme: newScheme()})
	if err != nil {
		return nil, fmt.Errorf("connecting to the Kubernetes API: %w", err)
	}
	return kube, nil
}
