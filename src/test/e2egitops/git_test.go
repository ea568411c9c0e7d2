//go:build e2e

package e2egitops

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/cgi" //nolint:gosec // G504 is about versions of Go before 1.6.3.
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// root is the repository's, from this package's folder.
const root = "../../.."

// repository is a clone of this repository that Argo CD reads over HTTP, and the
// test writes.
type repository struct {
	t    *testing.T
	tree string
	url  string
}

// serve clones what is checked out, as the branch main, and serves it until the
// test ends.
func serve(t *testing.T) *repository {
	t.Helper()
	dir := t.TempDir()
	bare, tree := filepath.Join(dir, "vmoperator.git"), filepath.Join(dir, "tree")
	r := &repository{t: t, tree: tree}
	run(t, dir, "git", "clone", "--quiet", "--bare", absolute(t, root), bare)
	run(t, bare, "git", "update-ref", "refs/heads/main", "HEAD")
	run(t, bare, "git", "symbolic-ref", "HEAD", "refs/heads/main")
	run(t, dir, "git", "clone", "--quiet", "--branch=main", bare, tree)
	address := os.Getenv("GITOPS_ADDRESS")
	if address == "" {
		address = "127.0.0.1:0"
	}
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	backend := strings.TrimSpace(run(t, dir, "git", "--exec-path")) + "/git-http-backend"
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: &cgi.Handler{
		Path: backend, Env: []string{"GIT_PROJECT_ROOT=" + dir, "GIT_HTTP_EXPORT_ALL=1"},
	}}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	t.Cleanup(func() {
		if err := errors.Join(server.Close(), <-ended); !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	r.url = fmt.Sprintf("http://%s/vmoperator.git", listener.Addr())
	return r
}

// edit replaces a text in a file, wherever it is there.
func (r *repository) edit(file, from, to string) {
	r.t.Helper()
	path := filepath.Join(r.tree, file)
	content, err := os.ReadFile(path)
	if err != nil {
		r.t.Fatal(err)
	}
	changed := bytes.ReplaceAll(content, []byte(from), []byte(to))
	if bytes.Equal(changed, content) {
		r.t.Fatalf("%s has no %q", file, from)
	}
	if err := os.WriteFile(path, changed, 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// commit publishes what was edited, and has Argo CD look.
func (r *repository) commit(message string) {
	r.t.Helper()
	run(r.t, r.tree, "git", "add", "--all")
	run(r.t, r.tree, "git", "-c", "user.name=Test", "-c", "user.email=test@example.com", "commit", "--quiet", "--message", message)
	run(r.t, r.tree, "git", "push", "--quiet", "origin", "main")
}

// revert publishes the state before the last commit.
func (r *repository) revert() {
	r.t.Helper()
	run(r.t, r.tree, "git", "-c", "user.name=Test", "-c", "user.email=test@example.com", "revert", "--no-edit", "HEAD")
	run(r.t, r.tree, "git", "push", "--quiet", "origin", "main")
}

// revision is the commit that is published.
func (r *repository) revision() string {
	r.t.Helper()
	return strings.TrimSpace(run(r.t, r.tree, "git", "rev-parse", "HEAD"))
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	whole, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return whole
}

func run(t *testing.T, dir, program string, args ...string) string {
	t.Helper()
	// What cleans up runs after the test's own context has ended.
	command := exec.CommandContext(context.WithoutCancel(t.Context()), program, args...)
	command.Dir = dir
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
	return string(out)
}

func TestWhatIsPublishedIsServed(t *testing.T) {
	r := serve(t)
	r.edit("gitops/root/values.yaml", "https://github.com/example/vmoperator.git", r.url)
	r.commit("Deliver from here")
	published := r.revision()
	if served := run(t, "", "git", "ls-remote", r.url, "refs/heads/main"); !strings.HasPrefix(served, published) {
		t.Errorf("%q is served, not %s", served, published)
	}
	run(t, t.TempDir(), "git", "clone", "--quiet", r.url, "clone")
	r.revert()
	if r.revision() == published {
		t.Error("the revert is not published")
	}
}
