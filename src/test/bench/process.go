package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	// readyTimeout is generous, for a machine may build something else meanwhile.
	readyTimeout = 2 * time.Minute
	// graceTimeout is longer than an operator takes to end in order.
	graceTimeout = 40 * time.Second
	lookInterval = 10 * time.Millisecond
)

// process is something that was started here, and is stopped here.
type process struct {
	// name is what errors call it.
	name    string
	command *exec.Cmd
	ended   chan struct{}
	// log is the path of what it prints.
	log string
	// began is when it was started.
	began time.Time
}

// start starts a command, whose output goes to a file of this name.
func (w *world) start(name, logName string, command *exec.Cmd) (*process, error) {
	output, err := w.output(logName + ".log")
	if err != nil {
		return nil, err
	}
	p := &process{name: name, command: command, ended: make(chan struct{}), log: output.Name(), began: time.Now()}
	command.Stdout, command.Stderr, command.SysProcAttr = output, output, diesWithParent()
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	go func() {
		_ = command.Wait() // ProcessState tells
		close(p.ended)
	}()
	return p, nil
}

// alive is an error when the process has ended, which nobody asked it to.
func (p *process) alive() error {
	select {
	case <-p.ended:
		return fmt.Errorf("%s has ended with %s: see %s", p.name, p.command.ProcessState, p.log)
	default:
		return nil
	}
}

// await waits until the process is ready.
func (p *process) await(ctx context.Context, ready func(context.Context) (bool, error)) error {
	err := wait.PollUntilContextTimeout(ctx, lookInterval, readyTimeout, true, func(ctx context.Context) (bool, error) {
		if err := p.alive(); err != nil {
			return false, err
		}
		return ready(ctx)
	})
	if err != nil {
		return fmt.Errorf("waiting for %s to be ready: %w", p.name, err)
	}
	return nil
}

// stop ends the process, politely at first. It may be called more than once.
func (p *process) stop() error {
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stopping %s: %w", p.name, err)
	}
	select {
	case <-p.ended:
		return nil
	case <-time.After(graceTimeout):
	}
	if err := p.command.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("killing %s: %w", p.name, err)
	}
	<-p.ended
	return nil
}

// freeAddress is one on loopback that nobody listens on now.
func freeAddress(ctx context.Context) (string, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("looking for a free port: %w", err)
	}
	return listener.Addr().String(), listener.Close()
}

func get(ctx context.Context, url string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody) //nolint:gosec // at an address that the bench has given out
	if err != nil {
		return nil, err
	}
	return http.DefaultClient.Do(request) //nolint:gosec // at an address that the bench has given out
}

// answers reports whether a URL is answered with 200.
func answers(ctx context.Context, url string) bool {
	response, err := get(ctx, url)
	if err != nil {
		// Nobody listens yet.
		return false
	}
	_ = response.Body.Close() // only the status was asked for
	return response.StatusCode == http.StatusOK
}
