package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap/zapcore"
	"sigs.k8s.io/controller-runtime/pkg/client/config"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/example/vmoperator/src/controller/appautoscaler"
	"github.com/example/vmoperator/src/controller/labeller"
	"github.com/example/vmoperator/src/controller/orphan"
	"github.com/example/vmoperator/src/controller/virtualmachine"
	"github.com/example/vmoperator/src/provider/httpapi/dial"
)

// options are the values of the flags.
type options struct {
	leaderElection   leaderElection
	metricsAddress   string
	metricsSecure    bool
	probeAddress     string
	pprofAddress     string
	watchNamespaces  []string
	controllers      []string
	workers          map[string]int
	providerQPS      int
	providerBurst    int
	endpoints        dial.Policy
	transitionPoll   time.Duration
	vmAddresses      []netip.Prefix
	defaultEndpoint  string
	keepRoleBinding  string
	orphanInterval   time.Duration
	resync           time.Duration
	label            label
	kubeQPS          float64
	kubeBurst        int
	gracefulShutdown time.Duration
	version          bool
	zap              *zap.Options
}

// label is what the labeller keeps: as it was given, and as it is understood.
type label struct {
	key, value, selector string

	rule labeller.Rule
}

type leaderElection struct {
	enabled       bool
	namespace     string
	leaseDuration time.Duration
	renewDeadline time.Duration
	retryPeriod   time.Duration
}

// parse reads the flags. It writes help to out, when asked for it, and then
// returns flag.ErrHelp. Other errors say in one line what is wrong.
func parse(args []string, out io.Writer) (options, error) {
	o := options{
		workers: defaultWorkers(),
		zap:     &zap.Options{TimeEncoder: zapcore.RFC3339NanoTimeEncoder, StacktraceLevel: zapcore.DPanicLevel},
	}
	flags := flag.NewFlagSet("vmoperator", flag.ContinueOnError)
	// The package prints usage, a screenful, with each error.
	flags.SetOutput(io.Discard)
	config.RegisterFlags(flags)
	o.bindManager(flags)
	o.bindWork(flags)
	o.zap.BindFlags(flags)
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintf(out, "vmoperator turns VirtualMachine objects into VMs at external providers.\n\n%s\nFlags:\n", usage())
		flags.SetOutput(out)
		flags.PrintDefaults()
		return o, flag.ErrHelp
	case err != nil:
		return o, err
	case flags.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	err = o.validate()
	return o, err
}

func (o *options) bindManager(flags *flag.FlagSet) {
	flags.BoolVar(&o.leaderElection.enabled, "leader-elect", false,
		"Let one of several replicas work at a time. Needed with more than one.")
	flags.DurationVar(&o.leaderElection.leaseDuration, "leader-elect-lease-duration", 15*time.Second,
		"How long a leader that is not heard of stays the leader.")
	flags.DurationVar(&o.leaderElection.renewDeadline, "leader-elect-renew-deadline", 10*time.Second,
		"How long a leader tries to stay the leader before it ends. Shorter than the lease.")
	flags.DurationVar(&o.leaderElection.retryPeriod, "leader-elect-retry-period", time.Second,
		"How often replicas try to become, or to stay, the leader.")
	flags.StringVar(&o.leaderElection.namespace, "leader-election-namespace", "",
		"Namespace of the leader's lease, and the name of this release to others. (default: the operator's own namespace)")
	flags.StringVar(&o.metricsAddress, "metrics-bind-address", ":8082", "Address of the metrics endpoint; 0 turns it off.")
	flags.BoolVar(&o.metricsSecure, "metrics-secure", false,
		"Serve metrics over HTTPS, to those only whom the cluster gives the right to get /metrics.\nNeeds the right to make TokenReviews and SubjectAccessReviews, which are cluster-wide.")
	flags.StringVar(&o.probeAddress, "health-probe-bind-address", ":8081", "Address of /healthz and /readyz; 0 turns them off.")
	flags.StringVar(&o.pprofAddress, "pprof-bind-address", "0",
		"Address of profiles of this process, under /debug/pprof/; 0 turns them off. They ask for no credentials: keep to loopback, as in 127.0.0.1:6060.")
	flags.Float64Var(&o.kubeQPS, "kube-api-qps", 0,
		"Requests per second to the Kubernetes API; 0 leaves the limit to the API server.")
	flags.IntVar(&o.kubeBurst, "kube-api-burst", 0, "Requests to the Kubernetes API at once, with --kube-api-qps.")
	flags.DurationVar(&o.gracefulShutdown, "graceful-shutdown-timeout", 30*time.Second,
		"How long work under way may take to end when the operator is stopped: a call to a provider and a write.\nThe pod's terminationGracePeriodSeconds must be longer.")
	flags.BoolVar(&o.version, "version", false, "Print the version and end.")
}

func (o *options) bindWork(flags *flag.FlagSet) {
	flags.Func("watch-namespaces",
		"Comma-separated `namespaces` to work in; * means all, which needs cluster-wide rights.\n(default: in a cluster the operator's own, outside all)",
		func(value string) error { return parseNamespaces(value, &o.watchNamespaces) })
	flags.Func("controllers", "Comma-separated `names` of the controllers to run, of "+strings.Join(controllerNames(), ", ")+
		".\n(default: "+strings.Join(defaultControllers(), ",")+")",
		func(value string) error { return parseControllers(value, &o.controllers) })
	flags.Func("max-concurrent-reconciles",
		"Objects that a controller works on at once: a `number` for all, or one for each, as in virtualmachine=5,providerconfig=2.\n(default: "+shownWorkers(defaultWorkers())+")",
		func(value string) error { return parseWorkers(value, o.workers) })
	flags.IntVar(&o.providerQPS, "provider-qps", 10, "Calls per second to a provider whose ProviderConfig sets no rateLimit.")
	flags.IntVar(&o.providerBurst, "provider-burst", 20, "Calls at once to a provider whose ProviderConfig sets no rateLimit.")
	flags.DurationVar(&o.transitionPoll, "transition-poll-interval", virtualmachine.DefaultTransitionPoll,
		"How often a VM that is being made or deleted is looked at. Settled ones: see pollInterval of their ProviderConfig.")
	flags.Func("allow-endpoint-cidrs",
		"Comma-separated `CIDRs` of loopback, link-local or metadata addresses that a provider's endpoint may have all the same.",
		func(value string) (err error) {
			o.endpoints, err = dial.ParsePolicy(split(value))
			return err
		})
	flags.Func("vm-address-cidrs",
		"Comma-separated `CIDRs` that a VM's addresses must be in to be published in EndpointSlices. (default: all but loopback and link-local)",
		func(value string) error { return parsePrefixes(value, &o.vmAddresses) })
	flags.DurationVar(&o.orphanInterval, "orphan-interval", orphan.DefaultInterval,
		"How often each provider that tells owners is listed for VMs without a VirtualMachine; at least 1s.")
	flags.DurationVar(&o.resync, "resync-interval", appautoscaler.DefaultResync,
		"How often the Deployment of an AppAutoscaler is looked at that is as declared, in case an event was missed; at least 1s.")
	o.label.bind(flags)
	flags.StringVar(&o.defaultEndpoint, "default-provider-endpoint", "",
		"URL of a provider. Each watched namespace that has no ProviderConfig named default gets one with it.")
	flags.StringVar(&o.keepRoleBinding, "keep-role-binding", "",
		"Name of the RoleBinding that gives the operator the rules of a ClusterRole, in each watched namespace. When the namespace is deleted, it\nis kept until VirtualMachines and ProviderConfigs are gone. Needs the right to get and to patch it.")
}

// validate checks what no single flag can.
func (o *options) validate() error {
	if len(o.controllers) == 0 {
		o.controllers = defaultControllers()
	}
	switch {
	case !o.leaderElection.inOrder():
		return errors.New("--leader-elect-lease-duration must exceed --leader-elect-renew-deadline, and that --leader-elect-retry-period")
	case o.providerQPS < 1 || o.providerBurst < 1:
		return errors.New("--provider-qps and --provider-burst must be at least 1")
	case o.kubeQPS < 0 || o.kubeBurst < 0:
		return errors.New("--kube-api-qps and --kube-api-burst must not be negative")
	case o.kubeBurst > 0 && o.kubeQPS == 0:
		return errors.New("--kube-api-burst needs --kube-api-qps")
	case o.gracefulShutdown < time.Second:
		return errors.New("--graceful-shutdown-timeout must be at least 1s")
	}
	if err := cmp.Or(o.checkIntervals(), o.checkTogether()); err != nil {
		return err
	}
	if err := o.label.parse(); err != nil {
		return err
	}
	if o.defaultEndpoint != "" {
		return checkEndpoint(o.defaultEndpoint)
	}
	return nil
}

// checkIntervals keeps a typing error from becoming a storm of calls.
func (o *options) checkIntervals() error {
	for _, interval := range []struct {
		flag         string
		value, least time.Duration
	}{
		{"transition-poll-interval", o.transitionPoll, 100 * time.Millisecond},
		{"orphan-interval", o.orphanInterval, time.Second},
		{"resync-interval", o.resync, time.Second},
	} {
		if interval.value < interval.least {
			return fmt.Errorf("--%s must be at least %s", interval.flag, interval.least)
		}
	}
	return nil
}

// runsCompute reports whether any controller of compute.example.com runs: none does
// without the one that connects to the providers.
func (o *options) runsCompute() bool { return o.runs(providerConfigController) }

// checkTogether asks for the controller that the others get their providers from.
func (o *options) checkTogether() error {
	if (o.defaultEndpoint != "" || o.keepRoleBinding != "") && !o.runsCompute() {
		return errors.New("--default-provider-endpoint and --keep-role-binding need the controller providerconfig")
	}
	for _, name := range []string{virtualMachineController, orphanController} {
		if o.runs(name) && !o.runs(providerConfigController) {
			return fmt.Errorf("--controllers: %s needs providerconfig, which connects to the providers", name)
		}
	}
	return nil
}

func (l *label) bind(flags *flag.FlagSet) {
	flags.StringVar(&l.key, "labeller-key", labeller.DefaultKey, "Key of the label that the labeller keeps on Deployments, where --controllers names it.")
	flags.StringVar(&l.value, "labeller-value", labeller.DefaultValue, "Value of that label; another value is overwritten.")
	flags.StringVar(&l.selector, "labeller-selector", "",
		"Label `selector` of the Deployments that get the label, as in tier=web,!legacy. (default: all Deployments in the watched namespaces)")
}

// parse is for values that were given: with the labeller off they do nothing, and
// are still meant to be right.
func (l *label) parse() (err error) {
	if l.rule, err = labeller.ParseRule(l.key, l.value, l.selector); err != nil {
		return fmt.Errorf("--labeller-key, --labeller-value, --labeller-selector: %w", err)
	}
	return nil
}

// inOrder reports whether a leader has time to renew before it must end, and ends
// before another may lead.
func (l leaderElection) inOrder() bool {
	return 0 < l.retryPeriod && l.retryPeriod < l.renewDeadline && l.renewDeadline < l.leaseDuration
}

func (o *options) runs(controller string) bool { return slices.Contains(o.controllers, controller) }
