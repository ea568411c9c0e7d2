package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/test/builders"
	"github.com/example/vmoperator/src/test/operator"
)

// chartRules are rights that the chart gives beside those that are generated.
func chartRules(t *testing.T, name string) []rbacv1.PolicyRule {
	t.Helper()
	content, err := os.ReadFile("../../../charts/vmoperator/files/rules/" + name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file rbacv1.Role
	if err := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096).Decode(&file); err != nil {
		t.Fatal(err)
	}
	return file.Rules
}

// asCommand returns a user that has in some namespaces the rights that the chart
// gives to a command, and no others.
func asCommand(t *testing.T, command string, namespaces ...string) *rest.Config {
	t.Helper()
	rules := chartRules(t, command)
	user := command + "-" + strings.ToLower(t.Name())
	for _, place := range namespaces {
		grantRules(t, user, place, rules)
	}
	config, err := plane.AddUser(user)
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// process is a command that runs.
type process struct {
	*exec.Cmd
	stdout, stderr bytes.Buffer
}

func startCommand(t *testing.T, config *rest.Config, args ...string) *process {
	t.Helper()
	args = append(args, "--kubeconfig="+operator.Kubeconfig(t, config))
	p := &process{Cmd: exec.CommandContext(t.Context(), os.Args[0], args...)}
	p.Env = append(os.Environ(), operatorEnv+"=1")
	p.Stdout, p.Stderr = &p.stdout, &p.stderr
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// end waits for the end and returns the exit status.
func (p *process) end() int {
	_ = p.Wait() // the status tells
	return p.ProcessState.ExitCode()
}

// wantEnd waits for an exit status, and for parts of what was said, in order.
func (p *process) wantEnd(t *testing.T, status int, parts ...string) {
	t.Helper()
	got := p.end()
	said := p.stdout.String() + p.stderr.String()
	if got != status {
		t.Errorf("exit status %d, want %d; it said:\n%s", got, status, said)
	}
	rest := said
	for _, part := range parts {
		_, after, found := strings.Cut(rest, part)
		if !found {
			t.Errorf("%q is not said, or not in this order:\n%s", part, said)
			return
		}
		rest = after
	}
}

// wantNoVM fails if a VirtualMachine is left.
func wantNoVM(t *testing.T, namespace string) {
	t.Helper()
	vms := &computev1.VirtualMachineList{}
	if err := kube.List(t.Context(), vms, client.InNamespace(namespace)); err != nil {
		t.Fatal(err)
	}
	for i := range vms.Items {
		t.Errorf("VirtualMachine %s is left", vms.Items[i].Name)
	}
}

func TestTheSmokeTestSeesAVMRunAndGo(t *testing.T) {
	place := namespace(t)
	provider := startProvider(t)
	close(provider.answer)
	startOperator(t, plane.Config, "--watch-namespaces="+place, "--leader-election-namespace="+place,
		"--allow-endpoint-cidrs=127.0.0.0/8", "--default-provider-endpoint="+provider.URL)
	test := startCommand(t, asCommand(t, "smoke-test", place), "smoke-test", "--namespace="+place, "--await-provider")
	test.wantEnd(t, exitOK, "ProviderConfig default is there", "is created", "Ready=True (Running: the VM runs), id vm-1, addresses 192.0.2.1",
		"is to be deleted", "is gone", "ProviderConfig default is let go", "passed")
	wantNoVM(t, place)
	if provider.exists.Load() {
		t.Error("the VM is left at the provider")
	}
}

func TestTheSmokeTestSaysWhatItMissesWithoutAProvider(t *testing.T) {
	place := namespace(t)
	test := startCommand(t, asCommand(t, "smoke-test", place), "smoke-test", "--namespace="+place)
	test.wantEnd(t, exitFailed, "failed: there is no ProviderConfig default in namespace "+place, "mock-provider.enabled=true")
}

func TestTheSmokeTestDoesNotWaitForWhatOnlyAPersonCanMend(t *testing.T) {
	place := namespace(t)
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(provider.Close)
	create(t, builders.ProviderConfig(place, "default", provider.URL))
	startOperator(t, plane.Config, "--watch-namespaces="+place, "--leader-election-namespace="+place, "--allow-endpoint-cidrs=127.0.0.0/8")
	test := startCommand(t, asCommand(t, "smoke-test", place), "smoke-test", "--namespace="+place, "--timeout=5m")
	test.wantEnd(t, exitFailed, "is gone", "is stalled, and only a person can help: Rejected")
	wantNoVM(t, place)
}

func TestTheSmokeTestSaysThatNoOperatorIsThere(t *testing.T) {
	place := namespace(t)
	create(t, builders.ProviderConfig(place, "other", "http://192.0.2.1"))
	test := startCommand(t, asCommand(t, "smoke-test", place), "smoke-test", "--namespace="+place, "--provider=other", "--timeout=2s")
	test.wantEnd(t, exitFailed, "is not Ready after 2s: the operator has not looked at it", "watches namespace "+place)
	wantNoVM(t, place)
}

func TestASmokeTestThatIsStoppedLeavesNothing(t *testing.T) {
	place := namespace(t)
	provider := startProvider(t)
	create(t, builders.ProviderConfig(place, "default", provider.URL, func(config *computev1.ProviderConfig) {
		config.Spec.Timeout = &metav1.Duration{Duration: operator.Patience}
	}))
	startOperator(t, plane.Config, "--watch-namespaces="+place, "--leader-election-namespace="+place, "--allow-endpoint-cidrs=127.0.0.0/8")
	test := startCommand(t, asCommand(t, "smoke-test", place), "smoke-test", "--namespace="+place, "--timeout=5m")
	select {
	case <-provider.asked:
	case <-t.Context().Done():
		t.Fatal("no VM was asked for")
	}
	if err := test.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	// It comes only after the object is to be deleted.
	operator.WaitFor(t, "the VirtualMachine to be deleted", func(ctx context.Context) bool {
		vms := &computev1.VirtualMachineList{}
		return kube.List(ctx, vms, client.InNamespace(place)) == nil && len(vms.Items) == 1 && !vms.Items[0].DeletionTimestamp.IsZero()
	})
	close(provider.answer)
	test.wantEnd(t, exitFailed, "is gone", "interrupted before VirtualMachine")
	wantNoVM(t, place)
	if provider.exists.Load() {
		t.Error("the VM is left at the provider")
	}
}

func TestTheUninstallGuardRefusesWhileThereIsSomethingLeft(t *testing.T) {
	places := []string{namespace(t), namespace(t)}
	slices.Sort(places)
	first, second := places[0], places[1]
	config := asCommand(t, "uninstall-guard", places...)
	args := []string{"uninstall-guard", "--namespaces=" + first + "," + second, "--release=vms", "--release-namespace=ops"}
	for i := range 5 {
		create(t, builders.VirtualMachine(first, fmt.Sprintf("web-%d", i)))
	}
	create(t, builders.ProviderConfig(second, "default", "http://192.0.2.1"))
	// Of no interest: nobody watches it.
	create(t, builders.VirtualMachine(namespace(t), "elsewhere"))
	startCommand(t, config, args...).wantEnd(t, exitFailed,
		"in namespace "+first+": 5 VirtualMachines (web-0, web-1, web-2 and 2 more)\n",
		"in namespace "+second+": 1 ProviderConfig (default)\n",
		"kubectl delete virtualmachines,providerconfigs --all -n "+first+"\n",
		"kubectl delete virtualmachines,providerconfigs --all -n "+second+"\n",
		"helm uninstall vms -n ops\n", "--no-hooks")

	for _, object := range []client.Object{&computev1.VirtualMachine{}, &computev1.ProviderConfig{}} {
		for _, place := range places {
			if err := kube.DeleteAllOf(t.Context(), object, client.InNamespace(place)); err != nil {
				t.Fatal(err)
			}
		}
	}
	startCommand(t, config, args...).wantEnd(t, exitOK, "no VirtualMachine and no ProviderConfig is left in "+first+", "+second)
}

func TestTheUninstallGuardRefusesWhatItCannotSee(t *testing.T) {
	seen, unseen := namespace(t), namespace(t)
	guard := startCommand(t, asCommand(t, "uninstall-guard", seen), "uninstall-guard", "--namespaces="+seen+","+unseen)
	guard.wantEnd(t, exitFailed, "cannot be told what is left", "listing VirtualMachines in namespace "+unseen, "forbidden", "--no-hooks")
}

func TestTheUninstallGuardOfAllNamespacesLooksIntoAll(t *testing.T) {
	place := namespace(t)
	create(t, builders.VirtualMachine(place, "web"))
	startCommand(t, plane.Config, "uninstall-guard", "--namespaces=*").wantEnd(t, exitFailed,
		"in namespace "+place+": 1 VirtualMachine (web)\n", "--all --all-namespaces\n")
}

func TestWrongArgumentsOfCommandsAreRefusedInOneLine(t *testing.T) {
	for args, want := range map[string]string{
		"smoke-test --namespace=No":         `--namespace: "No" cannot be a namespace`,
		"smoke-test --cpu=0":                "--cpu must be from 1 to 1024",
		"smoke-test --memory=much":          `invalid value "much" for flag -memory`,
		"smoke-test --timeout=1ms":          "--timeout must be at least 1s",
		"smoke-test --provider=":            "--provider must not be empty",
		"smoke-test now":                    `unexpected argument "now"`,
		"uninstall-guard":                   "--namespaces is needed",
		"uninstall-guard --namespaces=a,*":  `--namespaces: "*" cannot be a namespace`,
		"uninstall-guard --namespaces=a ns": `unexpected argument "ns"`,
	} {
		t.Run(args, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if status := run(strings.Fields(args), &stdout, &stderr); status != exitUsage {
				t.Errorf("exit status %d, want %d", status, exitUsage)
			}
			if said := stderr.String(); !strings.Contains(said, want) || strings.Count(said, "\n") != 1 {
				t.Errorf("said %q, want one line with %q", said, want)
			}
		})
	}
}
