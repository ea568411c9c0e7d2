// Package operator runs the operator as a process of its own, for tests: signals,
// exit statuses, logs and metrics are a process's.
package operator

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

const (
	// Patience is how long the operator may take for a step: long, for a loaded
	// machine.
	Patience = time.Minute
	interval = 50 * time.Millisecond
	// maxLine is more than the longest line of a log.
	maxLine = 1 << 20
)

// Options say what is started.
type Options struct {
	// Executable is the path of the operator's.
	Executable string
	// Environment is added to that of this process, as in "NAME=value".
	Environment []string
	// Config says where the apiserver is, and who the operator is to it: by a client
	// certificate, or by none where a proxy speaks for it.
	Config *rest.Config
	// Args are the operator's flags, beside those for kubeconfig, probes and metrics.
	Args []string
	// Output gets what the operator prints. Nil means nowhere.
	Output io.Writer
	// Silent leaves it to the caller to show the log of a test that failed.
	Silent bool
}

// Operator is a running operator, or one that has ended.
type Operator struct {
	t       *testing.T
	command *exec.Cmd
	metrics string
	ended   chan struct{}

	mu    sync.Mutex
	lines []string
}

// Start starts the operator. It is killed when the test ends, if it has not ended
// before, and its log is shown if the test has failed, unless Silent. Probes and metrics are
// served where nobody else does.
func Start(t *testing.T, options Options) *Operator {
	t.Helper()
	metrics, err := freeAddress(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	args := append([]string{
		"--kubeconfig=" + Kubeconfig(t, options.Config), "--health-probe-bind-address=127.0.0.1:0", "--metrics-bind-address=" + metrics,
	}, options.Args...)
	o := &Operator{
		t: t, metrics: metrics, ended: make(chan struct{}),
		// The test's context ends before what the test has left to clean up, which may
		// need the operator.
		command: exec.CommandContext(context.WithoutCancel(t.Context()), options.Executable, args...),
	}
	o.command.Env = append(os.Environ(), options.Environment...)
	stderr, err := o.command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := o.command.Start(); err != nil {
		t.Fatal(err)
	}
	go o.read(stderr, options.Output)
	t.Cleanup(func() {
		o.Kill()
		if t.Failed() && !options.Silent {
			t.Logf("the operator with %v said:\n%s", options.Args, strings.Join(o.Log(), "\n"))
		}
	})
	return o
}

func (o *Operator) read(stderr io.Reader, next io.Writer) {
	scanner := bufio.NewScanner(stderr)
	scanner.Buffer(nil, maxLine)
	for scanner.Scan() {
		o.mu.Lock()
		o.lines = append(o.lines, scanner.Text())
		o.mu.Unlock()
		if next != nil {
			// Whether anyone reads along must not matter to the operator.
			_, _ = fmt.Fprintln(next, scanner.Text())
		}
	}
	_ = o.command.Wait() // ProcessState tells
	close(o.ended)
}

// Log is what the operator has printed so far, line by line.
func (o *Operator) Log() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.lines)
}

// Lines are the lines of the log that have all parts.
func (o *Operator) Lines(parts ...string) []string {
	var found []string
	for _, line := range o.Log() {
		if hasAll(line, parts) {
			found = append(found, line)
		}
	}
	return found
}

func hasAll(line string, parts []string) bool {
	for _, part := range parts {
		if !strings.Contains(line, part) {
			return false
		}
	}
	return true
}

// WantLine waits for a line of the log that has all parts, and returns it.
func (o *Operator) WantLine(parts ...string) string {
	o.t.Helper()
	var found string
	WaitFor(o.t, fmt.Sprintf("a line with %q", parts), func(context.Context) bool {
		if lines := o.Lines(parts...); len(lines) > 0 {
			found = lines[0]
		}
		return found != ""
	})
	return found
}

// Running reports whether the operator has not ended.
func (o *Operator) Running() bool {
	select {
	case <-o.ended:
		return false
	default:
		return true
	}
}

// Terminate asks the operator to end, as Kubernetes does.
func (o *Operator) Terminate() {
	o.t.Helper()
	if err := o.command.Process.Signal(syscall.SIGTERM); err != nil {
		o.t.Fatal(err)
	}
}

// Suspend stops the operator where it is: it does nothing, and hears nothing, until
// Resume.
func (o *Operator) Suspend() {
	o.t.Helper()
	if err := o.command.Process.Signal(syscall.SIGSTOP); err != nil {
		o.t.Fatal(err)
	}
	// The signal is only on its way: what the caller does next must find the operator
	// stopped.
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(o.command.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		o.t.Fatalf("the operator does not stop: %v, status %v", err, status)
	}
}

// Resume lets a suspended operator go on.
func (o *Operator) Resume() {
	o.t.Helper()
	if err := o.command.Process.Signal(syscall.SIGCONT); err != nil {
		o.t.Fatal(err)
	}
}

// Kill ends the operator wherever it is, and waits until it has.
func (o *Operator) Kill() {
	o.t.Helper()
	if err := o.command.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		o.t.Error(err)
	}
	<-o.ended
}

// WantEnd waits for an end without failure.
func (o *Operator) WantEnd() {
	o.t.Helper()
	if got := o.ExitStatus(); got != 0 {
		o.t.Fatalf("exit status %d, want 0", got)
	}
}

// ExitStatus waits for the end; it is -1 for an operator that was killed.
func (o *Operator) ExitStatus() int {
	o.t.Helper()
	select {
	case <-o.ended:
	case <-time.After(Patience):
		o.t.Fatal("the operator does not end")
	}
	return o.command.ProcessState.ExitCode()
}

// Kubeconfig writes a file that gives its reader the rights of config, by its
// client certificate if it has one. It goes with the test.
func Kubeconfig(t *testing.T, config *rest.Config) string {
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

// WaitFor waits until a condition holds, and ends the test if that takes longer
// than Patience.
func WaitFor(t *testing.T, what string, condition func(context.Context) bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), interval, Patience, true, func(ctx context.Context) (bool, error) {
		return condition(ctx), nil
	})
	if err != nil {
		t.Fatalf("waiting for %s: %v", what, err)
	}
}
