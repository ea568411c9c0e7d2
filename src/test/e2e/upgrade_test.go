//go:build e2e

package e2e

import (
	"cmp"
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func git(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(context.WithoutCancel(t.Context()), "git", append([]string{"-C", root}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// previous checks out the commit that is upgraded from, E2E_BASE, which is the one
// before this by default, and builds its image.
func previous(t *testing.T) (dir, tag string) {
	t.Helper()
	base := git(t, "rev-parse", cmp.Or(os.Getenv("E2E_BASE"), "HEAD^"))
	dir = filepath.Join(t.TempDir(), "previous")
	git(t, "worktree", "add", "--detach", "--force", dir, base)
	t.Cleanup(func() { git(t, "worktree", "remove", "--force", dir) })
	must(t, buildImage(t.Context(), image+":previous", dir))
	return dir, "previous"
}

func TestAnUpgradeFromThePreviousChartTouchesNoVMAndNoPod(t *testing.T) {
	t.Parallel()
	dir, tag := previous(t)
	p := newProvider(t)
	r := newRelease(t, "provider.defaultEndpoint="+p.endpoint())
	r.provider = p
	r.chart = filepath.Join(dir, "charts", "vmoperator")
	r.upgrade("image.tag=" + tag)
	for _, name := range []string{"web", "db", "cache"} {
		r.vm(name)
	}
	before := r.allRunning(3)
	r.shop(2)
	pods := r.shopPods(2)
	if made := p.effects("create"); made != 3 {
		t.Fatalf("the provider counts %v creations, want 3", made)
	}
	r.chart = chart
	r.upgrade("image.tag=")
	// What comes after the upgrade has been seen to by the new operator.
	r.vm("after")
	after := r.allRunning(4)
	r.deleteVM("after")
	r.gone("after")
	delete(after, "after")
	if now := r.shopPods(2); !maps.Equal(pods, now) {
		t.Errorf("the Pods of a MyApp, and their restarts, were %v and are %v", pods, now)
	}
	if !maps.Equal(before, after) {
		t.Errorf("the VMs were %v and are %v", before, after)
	}
	if made := p.machines(); !slices.Equal(made, slices.Sorted(maps.Values(before))) {
		t.Errorf("the provider has %v, want %v", made, before)
	}
	if made, deleted := p.effects("create"), p.effects("delete"); made != 4 || deleted != 1 {
		t.Errorf("the provider counts %v creations and %v deletions, want one more and one", made, deleted)
	}
}
