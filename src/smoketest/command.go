// Package smoketest is `vmoperator smoke-test`: it makes a VirtualMachine, sees it
// run, deletes it and sees it go, to find out whether an installation works.
package smoketest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/config"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
)

// Exit statuses.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

const name = "vmoperator smoke-test"

// settings are the values of the flags.
type settings struct {
	namespace     string
	provider      string
	awaitProvider bool
	image         string
	cpu           int
	memory        resource.Quantity
	timeout       time.Duration
}

// Run runs the command and returns its exit status: 0 if the VM ran and is gone, 1
// if not, 2 for wrong arguments. When ctx ends, what was made is still removed.
// connect returns a client of the Kubernetes API; it is called once, after the
// arguments, --kubeconfig among them, were read.
func Run(ctx context.Context, args []string, connect func() (client.Client, error), stdout, stderr io.Writer) int {
	set, err := parse(args, stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		fmt.Fprintf(stderr, "%s: %v; see %s --help\n", name, err, name)
		return exitUsage
	}
	kube, err := connect()
	if err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", name, err)
		return exitFailed
	}
	t := &trial{settings: set, kube: kube, out: stdout, began: time.Now()}
	if err := t.run(ctx); err != nil {
		fmt.Fprintf(stderr, "%s: failed: %v\n", name, err)
		return exitFailed
	}
	t.say("passed")
	return exitOK
}

// parse reads the flags. It writes help to out, when asked for it, and then
// returns flag.ErrHelp.
func parse(args []string, out io.Writer) (settings, error) {
	set := settings{memory: resource.MustParse("1Gi")}
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	// The package prints usage, a screenful, with each error.
	flags.SetOutput(io.Discard)
	config.RegisterFlags(flags)
	flags.StringVar(&set.namespace, "namespace", "default", "Namespace to make the VirtualMachine in.")
	flags.StringVar(&set.provider, "provider", computev1.DefaultProviderConfig, "Name of the ProviderConfig to make it at.")
	flags.BoolVar(&set.awaitProvider, "await-provider", false,
		"Wait for the ProviderConfig, which the operator makes with --default-provider-endpoint. Otherwise it must be there.")
	flags.StringVar(&set.image, "image", "ubuntu-24.04", "Image of the VM, as the provider knows it.")
	flags.IntVar(&set.cpu, "cpu", 1, "Number of CPUs.")
	flags.Func("memory", "Memory, as in 512Mi. (default 1Gi)", func(value string) (err error) {
		set.memory, err = resource.ParseQuantity(value)
		return err
	})
	flags.DurationVar(&set.timeout, "timeout", 2*time.Minute,
		"How long the VM may take to run, and then how long to go.")
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintf(out, "%s makes a VirtualMachine, sees its VM run, and deletes it.\n\nFlags:\n", name)
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
	switch {
	case len(validation.IsDNS1123Label(s.namespace)) > 0:
		return fmt.Errorf("--namespace: %q cannot be a namespace", s.namespace)
	case s.provider == "":
		return errors.New("--provider must not be empty")
	case s.cpu < 1 || s.cpu > 1024:
		return errors.New("--cpu must be from 1 to 1024")
	case s.timeout < time.Second:
		return errors.New("--timeout must be at least 1s")
	}
	return nil
}
