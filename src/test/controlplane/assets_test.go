package controlplane

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestTheNamedFolderIsUsedIfItHasAllThatIsNeeded(t *testing.T) {
	dir := folderWith(t, allComponents)
	t.Setenv(assetsEnv, dir)
	got, err := CompleteAssets(t.Context(), t.Output())
	if err != nil || got != dir {
		t.Errorf("got %q, %v; want %q", got, err, dir)
	}
}

func TestAnEnvtestFolderWillDoWithoutGarbageCollection(t *testing.T) {
	dir := folderWith(t, basicComponents)
	t.Setenv(assetsEnv, dir)
	got, err := Assets(t.Context(), t.Output())
	if err != nil || got != dir {
		t.Errorf("got %q, %v; want %q", got, err, dir)
	}
}

func TestAnEnvtestFolderMakesWayForABuildWhereAllIsNeeded(t *testing.T) {
	fakeSource(t, "func main() {}")
	named := folderWith(t, basicComponents)
	t.Setenv(assetsEnv, named)
	got, err := CompleteAssets(t.Context(), t.Output())
	if err != nil || got == named || len(missingFrom(got, allComponents)) > 0 {
		t.Errorf("got %q, %v; want a build", got, err)
	}
}

func TestANamedFolderWithoutKubeAPIServerIsAMistakeThatIsNamed(t *testing.T) {
	t.Setenv(assetsEnv, folderWith(t, []string{etcd, kubectl}))
	_, err := Assets(t.Context(), t.Output())
	if err == nil || !strings.Contains(err.Error(), "has no kube-apiserver") {
		t.Errorf("got %v", err)
	}
}

func TestAFolderIsFoundFromWhereverInTheRepository(t *testing.T) {
	t.Setenv(sourceEnv, "")
	found, err := findSource()
	if err != nil || !strings.HasPrefix(found.version, "v1.") {
		t.Errorf("got %+v, %v", found, err)
	}
}

func TestSeveralBuildersBuildOnce(t *testing.T) {
	source := fakeSource(t, "func main() {}")
	var progress output
	var group sync.WaitGroup
	for range 3 {
		group.Go(func() {
			dir, err := source.build(t.Context(), &progress)
			if err != nil || len(missingFrom(dir, allComponents)) > 0 {
				t.Errorf("got %q, %v", dir, err)
			}
		})
	}
	group.Wait()
	if got := strings.Count(progress.tail(), "built in"); got != 1 {
		t.Errorf("built %d times:\n%s", got, progress.tail())
	}
}

func TestOtherSourcesAreAnotherBuild(t *testing.T) {
	source := fakeSource(t, "func main() {}")
	before, err := source.cached()
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(source.dir, "main.go"), "package main\n\nfunc main() { println() }\n")
	after, err := source.cached()
	if err != nil || before == after {
		t.Errorf("got %q again, %v", after, err)
	}
}

func TestAFailedBuildSaysWhyAndLeavesNothing(t *testing.T) {
	source := fakeSource(t, "func main() { undefined() }")
	_, err := source.build(t.Context(), nil)
	if err == nil || !strings.Contains(err.Error(), "undefined: undefined") {
		t.Errorf("got %v", err)
	}
	dir, err := source.cached()
	if err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(dir), "*-*"))
	if err != nil || len(left) != 1 || left[0] != dir+".lock" {
		t.Errorf("left %v, %v", left, err)
	}
}

func TestABuildEndsWithItsContext(t *testing.T) {
	source := fakeSource(t, "func main() {}")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := source.build(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestTheExecutablesKnowTheirVersion(t *testing.T) {
	const want = "-s -w -X k8s.io/component-base/version.gitVersion=v1.37.2" +
		" -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=37"
	if got := (source{version: "v1.37.2"}).ldflags(); got != want {
		t.Errorf("got %s", got)
	}
}

func TestOnlyTheEndOfTheOutputIsKept(t *testing.T) {
	var next bytes.Buffer
	kept := output{next: &next}
	for range keptOutput {
		if _, err := kept.Write([]byte("ab")); err != nil {
			t.Fatal(err)
		}
	}
	if len(kept.tail()) != keptOutput || next.Len() != 2*keptOutput {
		t.Errorf("kept %d and passed on %d bytes", len(kept.tail()), next.Len())
	}
}

func folderWith(t *testing.T, components []string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range components {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// fakeSource is a module that builds in a second, in the place of Kubernetes, with a cache of its own.
func fakeSource(t *testing.T, mainFunction string) source {
	t.Helper()
	// Go's own caches and settings lie in the same folders, and should stay.
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOENV"} {
		value, err := exec.CommandContext(t.Context(), "go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		t.Setenv(name, strings.TrimSpace(string(value)))
	}
	// os.UserCacheDir reads the one on Linux, the other on macOS.
	for _, name := range []string{"XDG_CACHE_HOME", "HOME"} {
		t.Setenv(name, t.TempDir())
	}
	dir := filepath.Join(t.TempDir(), "controlplane")
	if err := os.MkdirAll(filepath.Join(dir, "kubernetes"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "go.mod"), "module fake\n\ngo 1.26.0\n\nrequire (\n\tk8s.io/kubernetes v1.37.2\n)\n\nreplace k8s.io/kubernetes => ./kubernetes\n")
	write(t, filepath.Join(dir, "kubernetes", "go.mod"), "module k8s.io/kubernetes\n")
	write(t, filepath.Join(dir, "go.sum"), "")
	write(t, filepath.Join(dir, "main.go"), "package main\n\n"+mainFunction+"\n")
	t.Setenv(sourceEnv, dir)
	found, err := findSource()
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
