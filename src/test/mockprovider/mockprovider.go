// Package mockprovider runs the mock provider, or the handbook's server, as a
// child process, for tests and the demo. It ends with the process that started
// it, even when that is killed.
package mockprovider

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// PythonVariable names the Python that runs the provider, in the environment. It
// must have the packages of mockprovider/requirements.txt.
const PythonVariable = "VMOPERATOR_PYTHON"

const (
	// Generous, for Python starts slowly on a machine that builds at the same time.
	startTimeout = time.Minute
	stopTimeout  = 10 * time.Second
)

// Options say what is started.
type Options struct {
	// Args are the provider's flags, beside --host, --port and --api-key-file.
	// Faults and requests need --enable-faults.
	Args []string
	// Handbook starts the handbook's server of three endpoints instead.
	Handbook bool
	// APIKey is required from callers; empty for none.
	APIKey string
	// Port to listen on at 127.0.0.1; 0 takes a free one.
	Port int
	// Output gets what the provider prints, one JSON object a line. Nil means
	// nowhere.
	Output io.Writer
}

// Provider is a running provider.
type Provider struct {
	options Options
	root    string
	python  string
	keyFile string // empty for none

	mu      sync.Mutex
	process *exec.Cmd
	ended   <-chan error // gets the process's end, once
	port    int
}

// Start returns when the provider listens. The end of ctx ends the start, but not
// a provider that has started: that is Stop's to do.
func Start(ctx context.Context, options Options) (*Provider, error) {
	root, err := moduleRoot()
	if err != nil {
		return nil, err
	}
	python, err := findPython(root)
	if err != nil {
		return nil, err
	}
	p := &Provider{options: options, root: root, python: python}
	if options.APIKey != "" {
		if err := p.writeKey(); err != nil {
			return nil, err
		}
	}
	if err := p.start(ctx, options.Port); err != nil {
		return nil, errors.Join(err, p.removeKey())
	}
	return p, nil
}

// URL is the endpoint. It changes with Restart.
func (p *Provider) URL() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return fmt.Sprintf("http://127.0.0.1:%d", p.port)
}

// Port is the one that URL names.
func (p *Provider) Port() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.port
}

// SetAPIKey changes the key that is required from now on.
func (p *Provider) SetAPIKey(key string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.keyFile == "" {
		return errors.New("the mock provider was started without an API key")
	}
	p.options.APIKey = key
	return replaceFile(p.keyFile, key)
}

// Restart stops the provider and starts it again with the same flags on another
// port. What it keeps with --data is there again; all else is not.
func (p *Provider) Restart(ctx context.Context) error {
	if err := p.halt(); err != nil {
		return err
	}
	return p.start(ctx, 0)
}

// Stop ends the provider; calls under way are finished first. It may be called
// more than once.
func (p *Provider) Stop() error { return errors.Join(p.halt(), p.removeKey()) }

func (p *Provider) start(ctx context.Context, port int) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	p.mu.Lock()
	defer p.mu.Unlock()
	process := exec.Command(p.python, p.arguments(port)...) //nolint:noctx // it outlives the start, whose context this is
	process.Dir = p.root
	process.SysProcAttr = diesWithParent()
	printed := newLines(p.options.Output)
	process.Stdout, process.Stderr = printed, printed
	if err := process.Start(); err != nil {
		return fmt.Errorf("starting the mock provider: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- process.Wait() }()
	p.process, p.ended = process, ended
	select {
	case p.port = <-printed.port:
		return nil
	case err := <-ended:
		p.process = nil
		return fmt.Errorf("the mock provider ended at its start: %w\n%s", err, printed.tail())
	case <-ctx.Done():
		return errors.Join(fmt.Errorf("waiting for the mock provider to listen: %w\n%s", ctx.Err(), printed.tail()), p.kill())
	}
}

func (p *Provider) arguments(port int) []string {
	script := filepath.Join("mockprovider", "app.py")
	if p.options.Handbook {
		script = filepath.Join("mockprovider", "tests", "handbook", "app.py")
	}
	arguments := []string{"-B", script, "--port", fmt.Sprint(port)}
	if p.keyFile != "" {
		arguments = append(arguments, "--api-key-file", p.keyFile)
	}
	return append(arguments, p.options.Args...)
}

// halt stops the process, politely at first.
func (p *Provider) halt() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.process == nil {
		return nil
	}
	if err := p.process.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stopping the mock provider: %w", err)
	}
	select {
	case <-p.ended:
		// Whatever its status says, it is gone.
		p.process = nil
		return nil
	case <-time.After(stopTimeout):
		return p.kill()
	}
}

func (p *Provider) kill() error {
	if err := p.process.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("killing the mock provider: %w", err)
	}
	<-p.ended
	p.process = nil
	return nil
}

func (p *Provider) writeKey() error {
	file, err := os.CreateTemp("", "mockprovider-key-")
	if err != nil {
		return fmt.Errorf("writing the API key: %w", err)
	}
	p.keyFile = file.Name()
	_, err = file.WriteString(p.options.APIKey)
	return errors.Join(err, file.Close())
}

func (p *Provider) removeKey() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.keyFile == "" {
		return nil
	}
	path := p.keyFile
	p.keyFile = ""
	return os.Remove(path)
}

// replaceFile changes a file's content at once, for the provider may read it at
// any moment.
func replaceFile(path, content string) error {
	next := path + ".next"
	if err := os.WriteFile(next, []byte(content), 0o600); err != nil {
		return fmt.Errorf("writing the API key: %w", err)
	}
	return os.Rename(next, path)
}

func findPython(root string) (string, error) {
	python := os.Getenv(PythonVariable)
	if python == "" {
		python = filepath.Join(root, ".venv", "bin", "python")
	}
	path, err := exec.LookPath(python)
	if err != nil {
		return "", fmt.Errorf("the mock provider needs Python: run `make venv`, or set %s: %w", PythonVariable, err)
	}
	return path, nil
}

// moduleRoot is the folder of go.mod, in which the provider is found, above the
// working folder: a test's is that of its package.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("looking for the mock provider: %w", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "mockprovider", "app.py")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("looking for the mock provider: mockprovider/app.py is not in this folder or one above")
		}
		dir = parent
	}
}
