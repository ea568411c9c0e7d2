package controlplane

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

const (
	// sourceEnv names the folder of the module to build, for callers outside the repository.
	sourceEnv = "VMOPERATOR_CONTROL_PLANE_SOURCE"

	progressInterval = 30 * time.Second
)

// sourceFiles are all of the module's files: what is built depends on nothing else.
var sourceFiles = []string{"go.mod", "go.sum", "main.go"}

// source is the nested module that the control plane is built from.
type source struct {
	dir     string
	version string // of Kubernetes, as in v1.37.2
}

// findSource looks for the module from the working directory upward, for `go test` runs in the package's folder.
func findSource() (source, error) {
	if dir := os.Getenv(sourceEnv); dir != "" {
		return readSource(dir)
	}
	dir, err := os.Getwd()
	if err != nil {
		return source{}, err
	}
	for {
		candidate := filepath.Join(dir, "src", "tools", "controlplane")
		if _, err := os.Stat(filepath.Join(candidate, "go.mod")); err == nil {
			return readSource(candidate)
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return source{}, fmt.Errorf("no src/tools/controlplane above the working directory: set %s to its path, or %s to a folder with executables", sourceEnv, assetsEnv)
		}
		dir = parent
	}
}

func readSource(dir string) (source, error) {
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return source{}, err
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) == 2 && fields[0] == "k8s.io/kubernetes" {
			return source{dir: dir, version: fields[1]}, nil
		}
	}
	return source{}, fmt.Errorf("%s/go.mod does not require k8s.io/kubernetes", dir)
}

// cached returns the folder that the build of these very sources is kept in, whether it exists or not.
func (s source) cached() (string, error) {
	home, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	fmt.Fprintln(hash, runtime.GOOS, runtime.GOARCH)
	for _, name := range sourceFiles {
		text, err := os.ReadFile(filepath.Join(s.dir, name))
		if err != nil {
			return "", err
		}
		hash.Write(text)
	}
	return filepath.Join(home, "vmoperator", fmt.Sprintf("control-plane-%s-%.6x", s.version, hash.Sum(nil))), nil
}

// build compiles the control plane into its cache folder. Of several processes that ask at once one builds, and the
// others wait for it: go test runs packages side by side.
func (s source) build(ctx context.Context, progress io.Writer) (string, error) {
	dir, err := s.cached()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return "", err
	}
	unlock, err := lock(ctx, dir+".lock", func() { say(progress, "waiting for another process that builds it") })
	if err != nil {
		return "", err
	}
	defer unlock()
	if len(missingFrom(dir, allComponents)) == 0 {
		return dir, nil
	}
	unfinished, err := os.MkdirTemp(filepath.Dir(dir), "unfinished-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(unfinished)
	if err := s.compile(ctx, progress, filepath.Join(unfinished, "kube")); err != nil {
		return "", err
	}
	for _, name := range allComponents {
		if err := os.Symlink("kube", filepath.Join(unfinished, name)); err != nil {
			return "", err
		}
	}
	// MkdirTemp's 0700 would keep other users of a shared cache out.
	if err := os.Chmod(unfinished, 0o755); err != nil {
		return "", err
	}
	// What stands in the way is incomplete, or it would have been returned above.
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	return dir, os.Rename(unfinished, dir)
}

func (s source) compile(ctx context.Context, progress io.Writer, output string) error {
	say(progress, "building Kubernetes %s from source, once; about ten minutes on two cores", s.version)
	command := exec.CommandContext(ctx, "go", "build", "-mod=readonly", "-trimpath", "-ldflags", s.ldflags(), "-o", output, ".")
	command.Dir = s.dir
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	// The compiler's processes are the go command's children: interrupt it, so that it ends them.
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGINT) }
	command.WaitDelay = 10 * time.Second
	var messages bytes.Buffer
	command.Stdout, command.Stderr = &messages, &messages

	started := time.Now()
	if err := command.Start(); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- command.Wait() }()
	tick := time.NewTicker(progressInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			say(progress, "still building (%s)", time.Since(started).Round(time.Second))
		case err := <-done:
			if err != nil {
				return errors.Join(ctx.Err(), fmt.Errorf("building %s: %w\n%s", s.dir, err, tail(&messages)))
			}
			say(progress, "built in %s", time.Since(started).Round(time.Second))
			return nil
		}
	}
}

// ldflags give the executables the version that they report: clients that parse it fail on the default.
func (s source) ldflags() string {
	parts := strings.SplitN(strings.TrimPrefix(s.version, "v"), ".", 3)
	const variables = "k8s.io/component-base/version."
	return fmt.Sprintf("-s -w -X %[1]sgitVersion=%[2]s -X %[1]sgitMajor=%[3]s -X %[1]sgitMinor=%[4]s",
		variables, s.version, parts[0], parts[1])
}

// tail leaves out the hundreds of lines that tell of downloads before the one that tells of the failure.
func tail(messages *bytes.Buffer) string {
	const keep = 20
	var lines []string
	for scanner := bufio.NewScanner(messages); scanner.Scan(); {
		lines = append(lines, scanner.Text())
	}
	return strings.Join(lines[max(0, len(lines)-keep):], "\n")
}

// lock takes an exclusive lock on the file at path, which ends with this process at the latest.
func lock(ctx context.Context, path string, waiting func()) (unlock func(), err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { file.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			file.Close()
			return nil, fmt.Errorf("locking %s: %w", path, err)
		}
		if waiting != nil {
			waiting()
			waiting = nil
		}
		select {
		case <-ctx.Done():
			file.Close()
			return nil, ctx.Err()
		case <-tick.C:
		}
	}
}
