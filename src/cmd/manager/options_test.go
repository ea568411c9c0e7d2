package main

import (
	"bytes"
	"flag"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/leaderelection"

	"github.com/example/vmoperator/src/controller/labeller"
)

func TestFlagsThatMakeNoSenseAreRefusedInOneLine(t *testing.T) {
	for args, want := range map[string]string{
		"serve":                          `unknown command "serve": there are conformance, smoke-test, uninstall-guard; see vmoperator --help`,
		"--leader-elect extra":           `unexpected argument "extra"`,
		"--no-such-flag":                 "flag provided but not defined: -no-such-flag",
		"--leader-elect=perhaps":         `invalid boolean value "perhaps" for -leader-elect`,
		"--provider-qps=fast":            `invalid value "fast" for flag -provider-qps`,
		"--transition-poll-interval=1ms": "--transition-poll-interval must be at least 100ms",
		"--provider-qps=0":               "--provider-qps and --provider-burst must be at least 1",
		"--provider-burst=-1":            "--provider-qps and --provider-burst must be at least 1",
		"--kube-api-qps=-1":              "--kube-api-qps and --kube-api-burst must not be negative",
		"--kube-api-burst=5":             "--kube-api-burst needs --kube-api-qps",
		"--watch-namespaces=A,b":         `invalid value "A,b" for flag -watch-namespaces: "A" cannot be a namespace: a lowercase RFC 1123 label must consist`,
		"--watch-namespaces=*,b":         "* already means all namespaces",
		"--controllers=vm":               `there is no controller "vm", but appautoscaler, labeller, myapp, orphan, providerconfig, virtualmachine`,
		"--controllers=virtualmachine":   "--controllers: virtualmachine needs providerconfig, which connects to the providers",
		"--controllers=appautoscaler --default-provider-endpoint=http://vms": "--default-provider-endpoint and --keep-role-binding need the controller providerconfig",
		"--controllers=orphan":                            "--controllers: orphan needs providerconfig, which connects to the providers",
		"--orphan-interval=10ms":                          "--orphan-interval must be at least 1s",
		"--resync-interval=0s":                            "--resync-interval must be at least 1s",
		"--max-concurrent-reconciles=0":                   `"0" is not a number of at least 1`,
		"--max-concurrent-reconciles=virtualmachine=many": `"many" is not a number of at least 1`,
		"--max-concurrent-reconciles=vm=1":                `there is no controller "vm", but appautoscaler, labeller, myapp, orphan, providerconfig, virtualmachine`,
		"--labeller-key=-":                                `--labeller-key, --labeller-value, --labeller-selector: "-" cannot be the key of a label: name part must consist of`,
		"--labeller-value=a/b --labeller-selector=a=b=c":  `"a/b" cannot be the value of a label: a valid label must be`,
		"--labeller-selector=a=b=c":                       `"a=b=c" is not a label selector: found '=', expected`,
		"--labeller-key=compute.example.com/watched":      "is a label that the operator tells its own objects by",
		"--allow-endpoint-cidrs=localhost":                `"localhost" is not a CIDR such as 10.0.0.0/8`,
		"--vm-address-cidrs=10.0.0.0":                     `"10.0.0.0" is not a CIDR such as 10.0.0.0/8`,
		"--default-provider-endpoint=vms.example.com":     "--default-provider-endpoint must be an http or https URL with a host and without user, query and fragment",
		"--default-provider-endpoint=http://u:p@h":        "--default-provider-endpoint must be an http or https URL",
		"--leader-elect-lease-duration=5s":                "--leader-elect-lease-duration must exceed --leader-elect-renew-deadline",
		"--leader-elect-retry-period=0s":                  "--leader-elect-lease-duration must exceed --leader-elect-renew-deadline",
		"--graceful-shutdown-timeout=5":                   `invalid value "5" for flag -graceful-shutdown-timeout: parse error`,
		"--graceful-shutdown-timeout=1ms":                 "--graceful-shutdown-timeout must be at least 1s",
		"--zap-log-level=loud":                            `invalid value "loud" for flag -zap-log-level`,
		"--leader-elect":                                  "--leader-elect outside a cluster needs --leader-election-namespace",
		"--default-provider-endpoint=http://vms":          "--default-provider-endpoint needs --watch-namespaces",
		"--keep-role-binding=mine":                        "--keep-role-binding needs --watch-namespaces",
	} {
		t.Run(args, func(t *testing.T) {
			t.Setenv("POD_NAMESPACE", "")
			var stdout, stderr bytes.Buffer
			if got := run(strings.Fields(args), &stdout, &stderr); got != exitUsage {
				t.Errorf("exit status %d, want %d", got, exitUsage)
			}
			if got := stderr.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, want) {
				t.Errorf("says %q, want one line with %q", got, want)
			}
			if strings.Contains(stderr.String(), "u:p@h") {
				t.Error("the password in the URL was repeated")
			}
			if stdout.Len() > 0 {
				t.Errorf("printed %q", stdout.String())
			}
		})
	}
}

func TestFlagsAreRead(t *testing.T) {
	standard := func() options {
		o, err := parse(nil, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	for args, change := range map[string]func(*options){
		"":                             func(*options) {},
		"--watch-namespaces=b,a,,b":    func(o *options) { o.watchNamespaces = []string{"a", "b"} },
		"--watch-namespaces=*":         func(o *options) { o.watchNamespaces = []string{"*"} },
		"--controllers=providerconfig": func(o *options) { o.controllers = []string{"providerconfig"} },
		"--max-concurrent-reconciles=3": func(o *options) {
			o.workers = map[string]int{"virtualmachine": 3, "providerconfig": 3, "orphan": 3, "labeller": 3, "appautoscaler": 3, "myapp": 3}
		},
		"--max-concurrent-reconciles=1,virtualmachine=9": func(o *options) {
			o.workers = map[string]int{"virtualmachine": 9, "providerconfig": 1, "orphan": 1, "labeller": 1, "appautoscaler": 1, "myapp": 1}
		},
		"--provider-qps=1 --provider-burst=2":    func(o *options) { o.providerQPS, o.providerBurst = 1, 2 },
		"--kube-api-qps=50 --kube-api-burst=100": func(o *options) { o.kubeQPS, o.kubeBurst = 50, 100 },
		"--leader-elect --leader-election-namespace=ops": func(o *options) {
			o.leaderElection.enabled, o.leaderElection.namespace = true, "ops"
		},
		"--transition-poll-interval=500ms": func(o *options) { o.transitionPoll = 500 * time.Millisecond },
		"--orphan-interval=1h":             func(o *options) { o.orphanInterval = time.Hour },
		"--resync-interval=1m":             func(o *options) { o.resync = time.Minute },
		"--controllers=labeller --labeller-key=team --labeller-value=a --labeller-selector=tier=web": func(o *options) {
			o.controllers = []string{"labeller"}
			o.label.key, o.label.value, o.label.selector = "team", "a", "tier=web"
			o.label.rule = rule(t, "team", "a", "tier=web")
		},
		"--graceful-shutdown-timeout=1m":                func(o *options) { o.gracefulShutdown = time.Minute },
		"--pprof-bind-address=127.0.0.1:6060":           func(o *options) { o.pprofAddress = "127.0.0.1:6060" },
		"--default-provider-endpoint=http://vms:8080/a": func(o *options) { o.defaultEndpoint = "http://vms:8080/a" },
	} {
		t.Run(args, func(t *testing.T) {
			got, err := parse(strings.Fields(args), io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			want := standard()
			change(&want)
			ignore := cmp.FilterPath(func(p cmp.Path) bool { name := p.String(); return name == "zap" || name == "endpoints" }, cmp.Ignore())
			selectors := cmp.Comparer(func(a, b labels.Selector) bool { return a.String() == b.String() })
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(options{}, leaderElection{}, label{}), ignore, selectors); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func rule(t *testing.T, key, value, selector string) labeller.Rule {
	t.Helper()
	parsed, err := labeller.ParseRule(key, value, selector)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func TestDefaults(t *testing.T) {
	o, err := parse(nil, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if o.runs(labellerController) {
		t.Error("the labeller works on what nobody has given to the operator, and nobody has asked for it")
	}
	if diff := cmp.Diff(map[string]int{"virtualmachine": 5, "providerconfig": 8, "orphan": 2, "labeller": 2, "appautoscaler": 8, "myapp": 5}, o.workers); diff != "" {
		t.Error(diff)
	}
	if o.metricsAddress == ":8080" {
		t.Error("the metrics are where the mock provider listens")
	}
	if o.leaderElection.enabled || o.kubeQPS != 0 {
		t.Error("leader election and the limit of Kubernetes calls are off unless asked for")
	}
}

func TestEveryFlagIsExplained(t *testing.T) {
	var help bytes.Buffer
	if got := run([]string{"--help"}, &help, io.Discard); got != exitOK {
		t.Errorf("--help exits with %d", got)
	}
	var o options
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	o.bindManager(flags)
	o.bindWork(flags)
	flags.VisitAll(func(f *flag.Flag) {
		if f.Usage == "" || !strings.Contains(help.String(), "-"+f.Name) {
			t.Errorf("--%s has no help", f.Name)
		}
	})
}

func TestVersionIsPrinted(t *testing.T) {
	var stdout bytes.Buffer
	if got := run([]string{"--version"}, &stdout, io.Discard); got != exitOK || stdout.String() != "vmoperator "+version+"\n" {
		t.Errorf("exit status %d, printed %q", got, stdout.String())
	}
}

func TestWhereItRunsDecidesWhatItWatches(t *testing.T) {
	for name, test := range map[string]struct {
		own  string
		args string
		want place
	}{
		"in a cluster, its own namespace":           {"ops", "", place{"ops", "ops/vmoperator-leader", []string{"ops"}}},
		"in a cluster, those that it is told":       {"ops", "--watch-namespaces=a,b", place{"ops", "ops/vmoperator-leader", []string{"a", "b"}}},
		"in a cluster, all if it is told so":        {"ops", "--watch-namespaces=*", place{"ops", "ops/vmoperator-leader", nil}},
		"outside, all, under the name that it got":  {"", "--leader-election-namespace=me", place{"me", "me/vmoperator-leader", nil}},
		"the leader's namespace names the release":  {"ops", "--leader-election-namespace=me", place{"me", "me/vmoperator-leader", []string{"ops"}}},
		"outside, those that it is told, with name": {"", "--leader-election-namespace=me --watch-namespaces=a", place{"me", "me/vmoperator-leader", []string{"a"}}},
	} {
		t.Run(name, func(t *testing.T) {
			o, err := parse(strings.Fields(test.args), io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			got, err := o.place(test.own)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(place{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A replica waits for up to retry * (1 + JitterFactor) before it tries again. It
// must see that the lease was not renewed any more, and then that it has run out.
func TestByTheDefaultsAKilledLeaderIsReplacedWithinFiveSecondsOfItsLease(t *testing.T) {
	o, err := parse(nil, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	try := time.Duration(float64(o.leaderElection.retryPeriod) * (1 + leaderelection.JitterFactor))
	if latest := 2 * try; latest > 5*time.Second {
		t.Errorf("it can take %s longer than the lease", latest)
	}
}
