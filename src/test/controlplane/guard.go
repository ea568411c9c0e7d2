package controlplane

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// guardScript waits until its standard input ends, which it does when this process closes it or dies in whatever way,
// SIGKILL and panics included; then it kills what left its process id in the folder, and removes the folder. The starters
// go first, so that nothing is started any more.
const guardScript = `cat >/dev/null
rm -rf "$1/bin"
for file in "$1"/*.pid; do
	[ ! -e "$file" ] || kill -KILL "$(cat "$file")"
done
rm -rf "$1"`

// guard owns a folder and the processes started through it.
type guard struct {
	dir     string
	process *exec.Cmd
	life    io.Closer
}

func newGuard() (*guard, error) {
	dir, err := os.MkdirTemp("", "vmoperator-control-plane-")
	if err != nil {
		return nil, err
	}
	if err := os.Mkdir(filepath.Join(dir, "bin"), 0o700); err != nil {
		return nil, err
	}
	//nolint:noctx // It must outlive all that this process can cancel.
	process := exec.Command("/bin/sh", "-c", guardScript, "guard", dir)
	// A process group of its own: a terminal's Ctrl-C goes to the whole group of the caller, and must not end the guard.
	process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	life, err := process.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := process.Start(); err != nil {
		return nil, err
	}
	return &guard{dir: dir, process: process, life: life}, nil
}

// starter returns the path of a script that becomes the executable, after it left its process id for the guard. envtest
// runs executables by path and keeps their process ids to itself; it also asks them for --help, which needs no guarding.
func (g *guard) starter(executable string) (string, error) {
	name := filepath.Base(executable)
	path := filepath.Join(g.dir, "bin", name)
	script := fmt.Sprintf("#!/bin/sh\n[ \"$1\" = --help ] || echo $$ >%s\nexec %s \"$@\"\n",
		shellQuote(filepath.Join(g.dir, name+".pid")), shellQuote(executable))
	return path, os.WriteFile(path, []byte(script), 0o700)
}

// release is for processes that have ended in good order: their ids may belong to others by now.
func (g *guard) release(names ...string) {
	for _, name := range names {
		_ = os.Remove(filepath.Join(g.dir, name+".pid"))
	}
}

// end kills what is left and removes the folder.
func (g *guard) end() error {
	_ = g.life.Close()
	if err := g.process.Wait(); err != nil {
		return fmt.Errorf("cleaning up after the control plane: %w", err)
	}
	return nil
}

func shellQuote(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
