package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	values      = "gitops/image.yaml"
	emptyValues = `# Ours.
image:
  registry: ""
  repository: ""
  tag: ""
  digest: ""
mock-provider:
  image:
    registry: ""
    repository: ""
    tag: ""
    digest: ""
`
)

// remoteRepository is a bare one with a values file on its main branch.
type remoteRepository struct {
	t    *testing.T
	path string
}

func newRemote(t *testing.T) remoteRepository {
	t.Helper()
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	for _, who := range []string{"AUTHOR", "COMMITTER"} {
		t.Setenv("GIT_"+who+"_NAME", "test")
		t.Setenv("GIT_"+who+"_EMAIL", "test@example.com")
	}
	r := remoteRepository{t: t, path: t.TempDir()}
	gitIn(t, r.path, "init", "--quiet", "--bare", "--initial-branch=main")
	first := r.clone()
	r.commit(first, values, emptyValues)
	return r
}

func (r remoteRepository) clone() string {
	r.t.Helper()
	dir := r.t.TempDir()
	gitIn(r.t, dir, "clone", "--quiet", r.path, ".")
	return dir
}

// commit writes a file in a clone, pushes it, and returns the commit.
func (r remoteRepository) commit(clone, name, text string) string {
	r.t.Helper()
	path := filepath.Join(clone, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
	gitIn(r.t, clone, "add", name)
	gitIn(r.t, clone, "commit", "--quiet", "--message", "Change "+name)
	gitIn(r.t, clone, "push", "--quiet", "origin", "HEAD:main")
	return gitIn(r.t, clone, "rev-parse", "HEAD")
}

// values returns the tag, and the digest of the mock provider, that the remote's main branch has.
func (r remoteRepository) values() (tag, mock string) {
	r.t.Helper()
	text := gitIn(r.t, r.path, "show", "main:"+values)
	tagNode, err := find(text, []string{"image", "tag"})
	if err != nil {
		r.t.Fatal(err)
	}
	mockNode, err := find(text, []string{"mock-provider", "image", "digest"})
	if err != nil {
		r.t.Fatal(err)
	}
	return tagNode.Value, mockNode.Value
}

func gitIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := repository(dir).git(t.Context(), args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// promoted runs promote in a clone, and returns what it says.
func promoted(t *testing.T, clone, tag string) (string, error) {
	t.Helper()
	images := built(t, tag)
	t.Chdir(clone)
	var out bytes.Buffer
	err := promote(t.Context(), &out, images, values)
	return out.String(), err
}

func TestPromotingCommitsTheDigestsAndLeavesTheCloneAsItWas(t *testing.T) {
	origin := newRemote(t)
	clone := origin.clone()
	revision := gitIn(t, clone, "rev-parse", "HEAD")
	if err := os.WriteFile(filepath.Join(clone, values), []byte("edited"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := promoted(t, clone, revision); err != nil || out != "release: gitops/image.yaml has "+revision+"\n" {
		t.Fatalf("%q, %v", out, err)
	}
	if tag, mock := origin.values(); tag != revision || mock != otherDigest {
		t.Errorf("main has %s and %s", tag, mock)
	}
	message := gitIn(t, origin.path, "log", "-1", "--format=%B", "main")
	want := "Deploy " + revision + "\n\nghcr.io/example/vmoperator@" + someDigest + "\nghcr.io/example/vmoperator-mock-provider@" + otherDigest
	if diff := cmp.Diff(want, message); diff != "" {
		t.Errorf("the commit's message, -want +got:\n%s", diff)
	}
	if status := gitIn(t, clone, "status", "--porcelain"); status != "M gitops/image.yaml" {
		t.Errorf("the clone's own edit is %q", status)
	}
	if trees := gitIn(t, clone, "worktree", "list"); strings.Count(trees, "\n") != 0 {
		t.Errorf("work trees are left:\n%s", trees)
	}
}

func TestPromotingTheSameImagesAgainCommitsNothing(t *testing.T) {
	origin := newRemote(t)
	clone := origin.clone()
	revision := gitIn(t, clone, "rev-parse", "HEAD")
	if _, err := promoted(t, clone, revision); err != nil {
		t.Fatal(err)
	}
	before := gitIn(t, origin.path, "rev-parse", "main")
	if out, err := promoted(t, clone, revision); err != nil || !strings.Contains(out, "already") {
		t.Errorf("%q, %v", out, err)
	}
	if after := gitIn(t, origin.path, "rev-parse", "main"); after != before {
		t.Errorf("main moved from %s to %s", before, after)
	}
}

func TestABuildThatTookLongerDoesNotUndoALaterOne(t *testing.T) {
	origin := newRemote(t)
	clone := origin.clone()
	earlier := origin.commit(clone, "a", "1")
	later := origin.commit(clone, "a", "2")
	if _, err := promoted(t, clone, later); err != nil {
		t.Fatal(err)
	}
	if out, err := promoted(t, clone, earlier); err != nil || !strings.Contains(out, "or a later one") {
		t.Errorf("%q, %v", out, err)
	}
	if tag, _ := origin.values(); tag != later {
		t.Errorf("main has %s, want %s", tag, later)
	}
}

func TestAPushThatLosesARaceIsMadeAgainOnWhatWon(t *testing.T) {
	origin := newRemote(t)
	clone, other := origin.clone(), origin.clone()
	revision := gitIn(t, clone, "rev-parse", "HEAD")
	// Just before the first push, somebody else pushes.
	won := filepath.Join(t.TempDir(), "won")
	hook := "#!/bin/sh\n[ -e " + won + " ] && exit 0\ntouch " + won + "\nunset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE\ncd " + other +
		" && echo 1 >theirs && git add theirs && git commit --quiet --message Theirs && git push --quiet origin HEAD:main\n"
	if err := os.WriteFile(filepath.Join(clone, ".git", "hooks", "pre-push"), []byte(hook), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := promoted(t, clone, revision); err != nil {
		t.Fatal(err)
	}
	if tag, _ := origin.values(); tag != revision {
		t.Errorf("main has %q, want %s", tag, revision)
	}
	if log := gitIn(t, origin.path, "log", "-2", "--format=%s", "main"); log != "Deploy "+revision+"\nTheirs" {
		t.Errorf("main has:\n%s", log)
	}
}

func TestAPushThatIsForbiddenFailsAtOnce(t *testing.T) {
	origin := newRemote(t)
	clone := origin.clone()
	tries := filepath.Join(t.TempDir(), "tries")
	hook := "#!/bin/sh\necho 1 >>" + tries + "\necho protected >&2\nexit 1\n"
	if err := os.WriteFile(filepath.Join(origin.path, "hooks", "pre-receive"), []byte(hook), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := promoted(t, clone, gitIn(t, clone, "rev-parse", "HEAD"))
	if err == nil || !strings.Contains(err.Error(), "protected") {
		t.Errorf("%v; want what the remote said", err)
	}
	if tried, err := os.ReadFile(tries); err != nil || string(tried) != "1\n" {
		t.Errorf("pushed %q times, %v; want once", tried, err)
	}
}

func TestOurOwnValuesCanBePromoted(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, values))
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range [][]string{imageKey, mockImageKey} {
		if _, err := pin(string(text), key, image{registry: "r", repository: "p", tag: "t", digest: someDigest}); err != nil {
			t.Error(err)
		}
	}
}
