package main

import (
	"bufio"
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/fake"
	"github.com/example/vmoperator/src/provider/fake/wire"
)

func TestAConformanceRunThatIsInterruptedRemovesWhatItMade(t *testing.T) {
	p := fake.New(fake.Options{Capabilities: fake.Full(), Phase: provider.PhaseRunning})
	const last = 3
	abandoned := make(chan struct{})
	var posts atomic.Int32
	handler := wire.Handler(p)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && posts.Add(1) == last {
			// It is not answered before release, so its end is the client's.
			context.AfterFunc(r.Context(), func() { close(abandoned) })
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	made, release := make(chan struct{}), make(chan struct{})
	p.Inject(fake.Fault{
		Op: provider.OperationCreate, When: fake.After, Skip: last - 1, Block: release, Hook: func(fake.Entry) { close(made) },
	})
	command := exec.CommandContext(t.Context(), os.Args[0], "conformance", "--endpoint="+server.URL)
	command.Env = append(os.Environ(), operatorEnv+"=1")
	var stdout bytes.Buffer
	command.Stdout = &stdout
	stderr, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	<-made
	if err := command.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stderr).ReadString('\n')
	if err != nil || !strings.Contains(line, "interrupted: removing what was made") {
		t.Errorf("said %q, error %v", line, err)
	}
	// The answer comes when nobody waits for it any more.
	<-abandoned
	close(release)
	if err := command.Wait(); err == nil || command.ProcessState.ExitCode() != exitFailed {
		t.Errorf("ended with %v", err)
	}
	if live := p.Live(); len(live) != 0 || p.Effects()[provider.OperationCreate] != last {
		t.Errorf("left: %+v, effects %v", live, p.Effects())
	}
	if !strings.Contains(stdout.String(), "\nconformance: 3 passed, 0 failed, ") {
		t.Errorf("printed %s", stdout.String())
	}
}
