package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	// downTimeout is how long everything may take to end in order.
	downTimeout = time.Minute
	killTimeout = 10 * time.Second
)

// up starts serve in the background and returns when all is there.
func up(ctx context.Context, screen *screen) error {
	pid, err := holder(upDir)
	if err != nil {
		return err
	}
	if pid != 0 {
		return tellUp(screen, pid)
	}
	if err := errors.Join(os.MkdirAll(upDir, 0o750), removeState(upDir)); err != nil {
		return err
	}
	server, err := startServer()
	if err != nil {
		return err
	}
	printed := func(string) { screen.show(server.printed()) }
	err = lookUntil(ctx, server, "everything to be up", printed, func(context.Context) (string, bool) {
		if _, err := readState(upDir); err != nil {
			return err.Error(), false
		}
		return "", true
	})
	printed("")
	if err != nil {
		return errors.Join(err, server.stop())
	}
	state, err := readState(upDir)
	if err != nil {
		return err
	}
	screen.say("\n%s", instructions(state))
	return nil
}

func tellUp(screen *screen, pid int) error {
	state, err := readState(upDir)
	if err != nil {
		return fmt.Errorf("process %d is starting or stopping everything just now: %w", pid, err)
	}
	screen.say("It is up already.\n\n%s", instructions(state))
	return nil
}

// server is serve in a process of its own.
type server struct {
	process *exec.Cmd
	ended   chan struct{}
	endErr  error
	// log gets what it prints; read is how much of that was shown.
	log  string
	read int
}

func startServer() (*server, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	s := &server{ended: make(chan struct{}), log: filepath.Join(upDir, "up.log")}
	log, err := os.Create(s.log)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	s.process = exec.Command(self, "-serve") //nolint:noctx // it outlives this process
	// A session of its own outlives the terminal, and gets none of its signals.
	s.process.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	s.process.Stdout, s.process.Stderr = log, log
	if err := s.process.Start(); err != nil {
		return nil, err
	}
	go func() {
		s.endErr = s.process.Wait()
		close(s.ended)
	}()
	return s, nil
}

func (s *server) alive() error {
	select {
	case <-s.ended:
		return fmt.Errorf("it has ended (%s tells more): %w", s.log, endedBy(s.endErr))
	default:
		return nil
	}
}

// printed is what it has printed since the last call.
func (s *server) printed() string {
	content, err := os.ReadFile(s.log)
	if err != nil {
		return err.Error()
	}
	fresh := content[min(s.read, len(content)):]
	s.read = len(content)
	return string(fresh)
}

func (s *server) stop() error {
	if err := s.process.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-s.ended:
		return nil
	case <-time.After(downTimeout):
		return errors.Join(fmt.Errorf("%w within %s", errLeft, downTimeout), s.process.Process.Kill())
	}
}

// down stops what up started; there need not be anything.
func down(ctx context.Context, screen *screen) error {
	pid, err := holder(upDir)
	if err != nil {
		return err
	}
	if pid == 0 {
		screen.say("Nothing is up.")
		return removeState(upDir)
	}
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		return fmt.Errorf("stopping process %d: %w", pid, err)
	}
	if err := untilFree(ctx, screen, downTimeout); err != nil {
		if ctx.Err() != nil {
			return err
		}
		// What it started ends with it, whichever way it ends.
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			return fmt.Errorf("killing process %d: %w", pid, err)
		}
		if err := untilFree(ctx, screen, killTimeout); err != nil {
			return err
		}
	}
	screen.say("Everything is stopped.")
	return removeState(upDir)
}

// always is alive.
type always struct{}

func (always) alive() error { return nil }

func untilFree(ctx context.Context, screen *screen, limit time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("not within %s", limit))
	defer cancel()
	p := screen.progress("everything to stop")
	defer p.end()
	return lookUntil(ctx, always{}, "everything to stop", p.tick, func(context.Context) (string, bool) {
		pid, err := holder(upDir)
		if err != nil {
			return err.Error(), false
		}
		return fmt.Sprintf("process %d still runs", pid), pid == 0
	})
}

// instructions are what to type while everything is up.
func instructions(s *state) string {
	kubectl := "kubectl"
	if _, err := exec.LookPath(kubectl); err != nil {
		kubectl = s.Kubectl
	}
	lines := []string{
		"Everything is up. Type",
		"",
		"    export KUBECONFIG=" + quoted([]string{s.Kubeconfig}),
		"    alias k=" + quoted([]string{kubectl}),
		"",
		"and then, for example,",
		"",
		"    k get vm,pcfg,aas,myapp",
		"    k describe vm",
		"    k get secret,service,endpointslice",
		"    k explain vm.spec",
		"    k scale deployment order-service --replicas=2      # and: k describe aas",
		"    k delete vm --all",
		"",
		"The provider's side:",
		"",
		"    curl " + s.Provider + "/vms",
		"    curl -X DELETE " + s.Provider + "/vms/<id>         # and watch: k get vm -w",
		`    curl ` + s.Provider + `/faults -d '{"operation":"create","status":503,"count":3}'`,
		"    curl " + s.Provider + "/requests",
		"    curl " + s.Metrics,
		"",
		"Logs are in " + upDir + ". Stop everything with",
		"",
		"    make down",
	}
	return strings.Join(lines, "\n")
}
