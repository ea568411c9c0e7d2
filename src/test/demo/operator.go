package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

const (
	operatorBinary = "bin/vmoperator"
	// readyTimeout is generous, for a machine may build something else meanwhile.
	readyTimeout = 2 * time.Minute
	// graceTimeout is how long work under way may take to end.
	graceTimeout = 15 * time.Second
	// shownLines of the operator's log are shown when a step fails.
	shownLines = 20
)

// operator is the running operator, a process of its own as in a cluster.
type operator struct {
	process *exec.Cmd
	// ended is closed when the process has; endErr says how.
	ended  chan struct{}
	endErr error

	logPath string
	health  string
	metrics string
}

// startOperator returns when the operator is ready. Its log goes to a file.
func startOperator(ctx context.Context, kubeconfig, logPath string) (*operator, error) {
	addresses, err := freeAddresses(ctx, 2)
	if err != nil {
		return nil, err
	}
	log, err := os.Create(logPath)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	o := &operator{ended: make(chan struct{}), logPath: logPath, health: addresses[0], metrics: addresses[1]}
	//nolint:noctx // It outlives the start, and is stopped with patience.
	o.process = exec.Command(operatorBinary,
		"--kubeconfig="+kubeconfig,
		"--watch-namespaces="+namespace,
		// All of them: the labeller is off unless it is named.
		"--controllers=appautoscaler,labeller,myapp,orphan,providerconfig,virtualmachine",
		"--allow-endpoint-cidrs=127.0.0.0/8,::1/128",
		"--health-probe-bind-address="+o.health,
		"--metrics-bind-address="+o.metrics,
	)
	o.process.Stdout, o.process.Stderr = log, log
	o.process.SysProcAttr = diesWithParent()
	if err := o.process.Start(); err != nil {
		return nil, fmt.Errorf("starting the operator (make build makes it): %w", err)
	}
	go func() {
		o.endErr = o.process.Wait()
		close(o.ended)
	}()
	if err := o.waitUntilReady(ctx); err != nil {
		return nil, errors.Join(err, o.stop())
	}
	return o, nil
}

func (o *operator) waitUntilReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	return lookUntil(ctx, o, "the operator to be ready", func(string) {}, func(ctx context.Context) (string, bool) {
		status, err := get(ctx, "http://"+o.health+"/readyz")
		if err != nil {
			return "it does not answer", false
		}
		return fmt.Sprintf("/readyz says %d", status), status == http.StatusOK
	})
}

// alive is an error when the operator has ended, which nobody asked it to.
func (o *operator) alive() error {
	select {
	case <-o.ended:
		return fmt.Errorf("the operator has ended: %w", endedBy(o.endErr))
	default:
		return nil
	}
}

func endedBy(err error) error {
	if err == nil {
		return errors.New("exit status 0")
	}
	return err
}

// stop ends the operator, politely at first. It may be called more than once.
func (o *operator) stop() error {
	if err := o.process.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stopping the operator: %w", err)
	}
	select {
	case <-o.ended:
		return nil
	case <-time.After(graceTimeout):
	}
	if err := o.process.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("killing the operator: %w", err)
	}
	<-o.ended
	return nil
}

// lastLog is the end of the operator's log.
func (o *operator) lastLog() string {
	content, err := os.ReadFile(o.logPath)
	if err != nil {
		return fmt.Sprintf("the operator's log cannot be read: %v", err)
	}
	lines := strings.Split(strings.TrimSpace(string(content)), "\n")
	return strings.Join(lines[max(len(lines)-shownLines, 0):], "\n")
}

// freeAddresses are addresses on loopback that nobody listens on now.
func freeAddresses(ctx context.Context, count int) ([]string, error) {
	listeners := make([]net.Listener, 0, count)
	// Closed when all are found, so that no two are the same.
	defer func() {
		for _, listener := range listeners {
			_ = listener.Close() // it has served its purpose
		}
	}()
	addresses := make([]string, 0, count)
	for range count {
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("looking for a free port: %w", err)
		}
		listeners = append(listeners, listener)
		addresses = append(addresses, listener.Addr().String())
	}
	return addresses, nil
}

// get returns the status of an answer.
func get(ctx context.Context, url string) (int, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return 0, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	return response.StatusCode, response.Body.Close()
}
