// Package uninstallguard is `vmoperator uninstall-guard`: it fails while there are
// objects that only a running operator can let go, so that whoever uninstalls the
// operator before them is stopped and told what to do.
package uninstallguard

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/config"
)

// Exit statuses.
const (
	exitOK      = 0
	exitRefused = 1
	exitUsage   = 2
)

const name = "vmoperator uninstall-guard"

// allNamespaces is what --namespaces means by all of them.
const allNamespaces = "*"

// settings are the values of the flags.
type settings struct {
	namespaces       []string
	release          string
	releaseNamespace string
}

// Run runs the command and returns its exit status: 0 if nothing is left, 1 if
// something is, or if that could not be found out, 2 for wrong arguments. connect
// returns a client of the Kubernetes API; it is called once, after the arguments,
// --kubeconfig among them, were read.
func Run(ctx context.Context, args []string, connect func() (client.Client, error), stdout, stderr io.Writer) int {
	set, err := parse(args, stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		fmt.Fprintf(stderr, "%s: %v; see %s --help\n", name, err, name)
		return exitUsage
	}
	left, err := look(ctx, connect, set.namespaces)
	if err != nil {
		fmt.Fprintf(stderr, "%s: refused, for it cannot be told what is left: %v\nTo uninstall all the same: %s --no-hooks\n",
			name, err, set.uninstall())
		return exitRefused
	}
	if len(left) > 0 {
		fmt.Fprint(stderr, set.refusal(left))
		return exitRefused
	}
	fmt.Fprintf(stdout, "%s: no VirtualMachine and no ProviderConfig is left in %s\n", name, strings.Join(set.namespaces, ", "))
	return exitOK
}

func look(ctx context.Context, connect func() (client.Client, error), namespaces []string) ([]remains, error) {
	kube, err := connect()
	if err != nil {
		return nil, err
	}
	return find(ctx, kube, namespaces)
}

// parse reads the flags. It writes help to out, when asked for it, and then
// returns flag.ErrHelp.
func parse(args []string, out io.Writer) (settings, error) {
	set := settings{}
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	// The package prints usage, a screenful, with each error.
	flags.SetOutput(io.Discard)
	config.RegisterFlags(flags)
	flags.Func("namespaces", "Comma-separated `namespaces` that the operator watches; * means all.", func(value string) error {
		set.namespaces = strings.Split(value, ",")
		return nil
	})
	flags.StringVar(&set.release, "release", "vmoperator", "Name of the release, for the advice.")
	flags.StringVar(&set.releaseNamespace, "release-namespace", "vmoperator-system", "Namespace of the release, for the advice.")
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintf(out, "%s fails while there are VirtualMachines or ProviderConfigs, which only a running operator can let go.\n\nFlags:\n", name)
		flags.SetOutput(out)
		flags.PrintDefaults()
		return set, flag.ErrHelp
	case err != nil:
		return set, err
	case flags.NArg() > 0:
		return set, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	err = set.validate()
	return set, err
}

func (s *settings) validate() error {
	if len(s.namespaces) == 0 {
		return errors.New("--namespaces is needed")
	}
	for _, namespace := range s.namespaces {
		if (namespace != allNamespaces || len(s.namespaces) > 1) && len(validation.IsDNS1123Label(namespace)) > 0 {
			return fmt.Errorf("--namespaces: %q cannot be a namespace", namespace)
		}
	}
	return nil
}
