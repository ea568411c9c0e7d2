package command

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/example/vmoperator/src/provider/conformance"
	"github.com/example/vmoperator/src/provider/httpapi"
)

const help = `Try a provider against VMOperator's contract (mockprovider/openapi.yaml,
docs/provider-contract.md): the minimum, and each capability that it offers.

  vmoperator conformance --endpoint http://127.0.0.1:8080
  vmoperator conformance --endpoint https://vms.example.com --api-key-file key --output junit
  vmoperator conformance --endpoint http://127.0.0.1:8080 --run '^idempotency/'

It makes some fifty small VMs, named conformance-..., one after the other, and
deletes each after its check; use an account that is for tests. What it made is
removed as well when it fails or is interrupted. What it cannot find again is
told by name. The exit status is 0 if the provider conforms, 1 if it does not, or
if that could not be found out, and 2 for wrong arguments.

Flags:
`

const maxCPU = 1024

// settings are the values of the flags.
type settings struct {
	options conformance.Options
	output  string
	list    bool
}

// The outputs.
const (
	outputTable = "table"
	outputJSON  = "json"
	outputJUnit = "junit"
)

// parse reads the flags. It writes help to out, when asked for it, and then
// returns flag.ErrHelp.
func parse(args []string, out io.Writer) (settings, error) {
	var s settings
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	o := &s.options
	var cpu int
	flags.IntVar(&cpu, "cpu", conformance.DefaultCPU, "Virtual CPUs of the VMs that are made; twice as many are tried with resize.")
	flags.StringVar(&o.Endpoint, "endpoint", "", "Base `URL` of the provider. Required.")
	flags.StringVar(&o.Image, "image", conformance.DefaultImage, "Image of the VMs that are made.")
	flags.StringVar(&o.Memory, "memory", conformance.DefaultMemory, "Memory of the VMs that are made; twice as much is tried with resize.")
	flags.DurationVar(&o.Patience, "timeout", conformance.DefaultPatience, "How long a VM may take to be Running, and to be gone.")
	flags.DurationVar(&o.Timeout, "call-timeout", conformance.DefaultTimeout, "How long one call may take.")
	flags.StringVar(&s.output, "output", outputTable, "How to print the result: table, json or junit.")
	flags.BoolVar(&s.list, "list", false, "Print the checks and what they want, and try nothing.")
	flags.Func("api-key-file", "`File` with the API key. Without it the checks of auth are skipped.", func(path string) error {
		key, err := readKey(path)
		o.APIKey = key
		return err
	})
	flags.Func("ca-file", "`File` with PEM certificates that an https endpoint is verified against, instead of the system's.", func(path string) error {
		var err error
		o.CACertificates, err = readFile(path)
		return err
	})
	flags.Func("run", "Run only the checks whose name the regular `expression` matches.", func(text string) error {
		var err error
		o.Only, err = regexp.Compile(text)
		return err
	})
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(out, help)
		flags.SetOutput(out)
		flags.PrintDefaults()
		return s, flag.ErrHelp
	case err != nil:
		return s, err
	case flags.NArg() > 0:
		return s, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	err = s.validate(cpu)
	return s, err
}

func (s *settings) validate(cpu int) error {
	if s.list {
		return nil
	}
	o := &s.options
	if cpu < 1 || cpu > maxCPU/2 {
		return fmt.Errorf("--cpu must be from 1 to %d", maxCPU/2)
	}
	o.CPU = int32(cpu)
	memory, err := resource.ParseQuantity(o.Memory)
	switch {
	case o.Endpoint == "":
		return errors.New("--endpoint is required")
	case o.Image == "":
		return errors.New("--image must not be empty")
	case err != nil || memory.Sign() <= 0:
		return errors.New("--memory must be a positive quantity such as 1Gi")
	case memory.Value()%(1<<20) != 0:
		return errors.New("--memory must be a multiple of 1Mi")
	case o.Patience <= 0 || o.Timeout <= 0:
		return errors.New("--timeout and --call-timeout must be more than nothing")
	case !slices.Contains([]string{outputTable, outputJSON, outputJUnit}, s.output):
		return errors.New("--output must be table, json or junit")
	case !selectsAny(o.Only):
		return errors.New("--run matches the name of no check; --list prints them")
	}
	return nil
}

func selectsAny(only *regexp.Regexp) bool {
	return only == nil || slices.ContainsFunc(conformance.Checks(), func(check conformance.Check) bool {
		return only.MatchString(check.Name)
	})
}

func readKey(path string) (httpapi.APIKey, error) {
	content, err := readFile(path)
	if err != nil {
		return "", err
	}
	key := strings.TrimSpace(string(content))
	if key == "" {
		return "", errors.New("the file is empty")
	}
	return httpapi.APIKey(key), nil
}

func readFile(path string) ([]byte, error) {
	content, err := os.ReadFile(path) //nolint:gosec // whoever runs the command names the file
	if err != nil {
		return nil, fmt.Errorf("reading the file: %w", err)
	}
	return content, nil
}

// outputTo returns the output that was asked for. Documents go to stdout alone,
// with the summary beside them.
func (s *settings) outputTo(stdout, stderr io.Writer) output {
	switch s.output {
	case outputJSON:
		return &document{stdout: stdout, stderr: stderr, write: writeJSON}
	case outputJUnit:
		return &document{stdout: stdout, stderr: stderr, write: writeJUnit}
	}
	return &table{out: stdout, endpoint: s.options.Endpoint, live: isTerminal(stdout)}
}
