package main

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// holdVariable makes a process of this test hold the folder that it names, until
// its input ends.
const holdVariable = "DEMO_TEST_HOLD"

func TestMain(m *testing.M) {
	dir := os.Getenv(holdVariable)
	if dir == "" {
		os.Exit(m.Run())
	}
	lock, err := acquire(dir)
	if err != nil {
		_, _ = os.Stdout.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
	_, _ = os.Stdout.WriteString("held\n")
	_, _ = io.Copy(io.Discard, os.Stdin)
	_ = lock.Close()
}

// hold starts another process that takes the folder. It returns what that says
// of it, its id, and what ends it.
func hold(t *testing.T, dir string) (said string, pid int, end func()) {
	t.Helper()
	other := exec.CommandContext(t.Context(), os.Args[0])
	other.Env = append(os.Environ(), holdVariable+"="+dir)
	input, err := other.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	said, err = bufio.NewReader(output).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return said, other.Process.Pid, func() {
		_ = input.Close()
		_ = other.Wait()
	}
}

func TestAFolderIsHeldByOneProcessAndFreeWhenItEnds(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new")
	if pid, err := holder(dir); pid != 0 || err != nil {
		t.Errorf("before: process %d, error %v", pid, err)
	}
	said, pid, end := hold(t, dir)
	if said != "held\n" {
		t.Fatal(said)
	}
	if got, err := holder(dir); got != pid || err != nil {
		t.Errorf("held by process %d, seen %d, error %v", pid, got, err)
	}
	if said, _, endSecond := hold(t, dir); !strings.Contains(said, "in use by another process") {
		t.Errorf("a second process is told %q", said)
		endSecond()
	}
	end()
	if pid, err := holder(dir); pid != 0 || err != nil {
		t.Errorf("after: process %d, error %v", pid, err)
	}
}

func TestTheStateIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := readState(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("before: error %v", err)
	}
	want := &state{
		PID: 7, OperatorPID: 8, Kubeconfig: "/a/kubeconfig", Kubectl: "/b/kubectl",
		Provider: "http://127.0.0.1:8080", Metrics: "http://127.0.0.1:1/metrics",
	}
	if err := want.write(dir); err != nil {
		t.Fatal(err)
	}
	got, err := readState(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for range 2 {
		if err := removeState(dir); err != nil {
			t.Error(err)
		}
	}
	if _, err := readState(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after: error %v", err)
	}
}

func TestAStateThatIsNoJSONIsAnErrorThatNamesTheFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(statePath(dir), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readState(dir); err == nil || !strings.Contains(err.Error(), "state.json") {
		t.Errorf("error %v", err)
	}
}

func TestTheInstructionsSayWhatToType(t *testing.T) {
	t.Parallel()
	text := instructions(&state{
		Kubeconfig: "/a/kubeconfig", Kubectl: "/b/kubectl",
		Provider: "http://127.0.0.1:8080", Metrics: "http://127.0.0.1:1/metrics",
	})
	for _, typed := range []string{
		"export KUBECONFIG=/a/kubeconfig", "curl http://127.0.0.1:8080/vms", "curl http://127.0.0.1:1/metrics", "make down",
	} {
		if !strings.Contains(text, typed) {
			t.Errorf("%q is missing in\n%s", typed, text)
		}
	}
}

func TestASampleKeepsAllButTheSettings(t *testing.T) {
	t.Parallel()
	got, err := withSettings([]byte("# Where VMs are made.\nkind: ProviderConfig\nspec:\n  endpoint: http://127.0.0.1:8080\n  timeout: 5s\n"),
		map[string]string{"endpoint": "http://127.0.0.1:9", "pollInterval": "2s"})
	if err != nil {
		t.Fatal(err)
	}
	want := "kind: ProviderConfig\nspec:\n  endpoint: http://127.0.0.1:9\n  pollInterval: 2s\n  timeout: 5s\n"
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

func TestAnEmptySampleIsAnError(t *testing.T) {
	t.Parallel()
	if _, err := withSettings([]byte("# nothing\n"), map[string]string{"endpoint": "http://127.0.0.1:9"}); err == nil {
		t.Error("it is accepted")
	}
}
