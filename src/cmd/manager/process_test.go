package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/vmoperator/src/test/controlplane"
)

const (
	// startPatience is for the first run, which builds the control plane.
	startPatience = 30 * time.Minute
	// patience is for a loaded machine.
	patience = time.Minute
	// operatorEnv makes a copy of this test's executable be the operator: signals
	// and exit codes are a process's, and so it has the race detector as well.
	operatorEnv = "VMOPERATOR_TEST_PROCESS"
	crds        = "../../../charts/vmoperator/files/crds"
)

var (
	plane *controlplane.ControlPlane
	kube  client.Client
)

func TestMain(m *testing.M) {
	if os.Getenv(operatorEnv) != "" {
		main()
	}
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	ctx, cancel := context.WithTimeout(context.Background(), startPatience)
	defer cancel()
	var err error
	if plane, err = controlplane.Start(ctx, controlplane.Options{CRDPaths: []string{crds}}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() {
		if err := plane.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}()
	if kube, err = client.New(plane.Config, client.Options{Scheme: newScheme()}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// operator is a running operator.
type operator struct {
	t       *testing.T
	command *exec.Cmd
	ended   chan struct{}
	mu      sync.Mutex
	lines   []string
}

// startOperator runs the operator as a user until the test ends. It serves
// probes and metrics where nobody else does.
func startOperator(t *testing.T, config *rest.Config, args ...string) *operator {
	t.Helper()
	args = append([]string{
		"--kubeconfig=" + kubeconfig(t, config), "--health-probe-bind-address=127.0.0.1:0", "--metrics-bind-address=0",
	}, args...)
	o := &operator{t: t, command: exec.CommandContext(t.Context(), os.Args[0], args...), ended: make(chan struct{})}
	o.command.Env = append(os.Environ(), operatorEnv+"=1")
	stderr, err := o.command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := o.command.Start(); err != nil {
		t.Fatal(err)
	}
	go o.read(stderr)
	t.Cleanup(func() {
		_ = o.command.Process.Kill() // it may have ended long ago
		<-o.ended
		if t.Failed() {
			t.Logf("the operator with %v said:\n%s", args, strings.Join(o.log(), "\n"))
		}
	})
	return o
}

func (o *operator) read(stderr io.Reader) {
	scanner := bufio.NewScanner(stderr)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		o.mu.Lock()
		o.lines = append(o.lines, scanner.Text())
		o.mu.Unlock()
	}
	_ = o.command.Wait() // ProcessState tells
	close(o.ended)
}

func (o *operator) log() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]string(nil), o.lines...)
}

func (o *operator) terminate() {
	o.t.Helper()
	if err := o.command.Process.Signal(syscall.SIGTERM); err != nil {
		o.t.Fatal(err)
	}
}

// wantEnd waits for an end without failure.
func (o *operator) wantEnd() {
	o.t.Helper()
	select {
	case <-o.ended:
	case <-time.After(patience):
		o.t.Fatal("the operator does not end")
	}
	if got := o.command.ProcessState.ExitCode(); got != exitOK {
		o.t.Fatalf("exit status %d, want %d", got, exitOK)
	}
}

// wantLine waits for a line of the log that has all parts, and returns it.
func (o *operator) wantLine(parts ...string) string {
	o.t.Helper()
	var found string
	waitFor(o.t, fmt.Sprintf("a line with %q", parts), func(context.Context) bool {
		for _, line := range o.log() {
			has := true
			for _, part := range parts {
				has = has && strings.Contains(line, part)
			}
			if has {
				found = line
				return true
			}
		}
		return false
	})
	return found
}

// wantProbe waits until /healthz or /readyz answers with a status.
func (o *operator) wantProbe(path string, want int) {
	o.t.Helper()
	var line struct {
		Address string `json:"address"`
	}
	if err := json.Unmarshal([]byte(o.wantLine("serving probes")), &line); err != nil {
		o.t.Fatal(err)
	}
	waitFor(o.t, fmt.Sprintf("%s to answer %d", path, want), func(ctx context.Context) bool {
		return get(ctx, "http://"+line.Address+path) == want
	})
}

func get(ctx context.Context, url string) int {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return 0
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0
	}
	_ = response.Body.Close()
	return response.StatusCode
}

// runOperator runs the operator to its end.
func runOperator(t *testing.T, config *rest.Config, args ...string) (status int, stderr string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), os.Args[0], append([]string{"--kubeconfig=" + kubeconfig(t, config), "--health-probe-bind-address=0"}, args...)...)
	command.Env = append(os.Environ(), operatorEnv+"=1")
	var out bytes.Buffer
	command.Stderr = &out
	var exit *exec.ExitError
	if err := command.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return command.ProcessState.ExitCode(), out.String()
}

func kubeconfig(t *testing.T, config *rest.Config) string {
	t.Helper()
	const name = "test"
	content := clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{name: {Server: config.Host, CertificateAuthorityData: config.CAData}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{name: {ClientCertificateData: config.CertData, ClientKeyData: config.KeyData}},
		Contexts:       map[string]*clientcmdapi.Context{name: {Cluster: name, AuthInfo: name}},
		CurrentContext: name,
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(content, path); err != nil {
		t.Fatal(err)
	}
	return path
}

func waitFor(t *testing.T, what string, condition func(context.Context) bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		return condition(ctx), nil
	})
	if err != nil {
		t.Fatalf("waiting for %s: %v", what, err)
	}
}
