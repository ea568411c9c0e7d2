package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	etcd              = "etcd"
	apiServer         = "kube-apiserver"
	controllerManager = "kube-controller-manager"
	kubectl           = "kubectl"

	// assetsEnv is the variable that envtest and its users know: a folder with the executables.
	assetsEnv = "KUBEBUILDER_ASSETS"

	// downloadTimeout bounds the try to download what setup-envtest offers. Where its server cannot be reached some
	// firewalls drop packets without a word, and building is then the better use of the time.
	downloadTimeout = time.Minute
)

// A released envtest archive holds basicComponents. Owner references and the deletion of namespaces only work with
// allComponents.
var (
	basicComponents = []string{etcd, apiServer, kubectl}
	allComponents   = append([]string{controllerManager}, basicComponents...)
)

// Assets returns a folder with etcd, kube-apiserver and kubectl, and kube-controller-manager where possible: the one that
// KUBEBUILDER_ASSETS names, an earlier build, setup-envtest's download, or else a new build from source, which takes
// minutes. It tells progress what it does.
func Assets(ctx context.Context, progress io.Writer) (string, error) {
	return find(ctx, progress, basicComponents)
}

// CompleteAssets is Assets for callers that cannot do without kube-controller-manager, which no download has.
func CompleteAssets(ctx context.Context, progress io.Writer) (string, error) {
	return find(ctx, progress, allComponents)
}

func find(ctx context.Context, progress io.Writer, needed []string) (string, error) {
	if dir := os.Getenv(assetsEnv); dir != "" {
		missing := missingFrom(dir, needed)
		if len(missing) == 0 {
			return filepath.Abs(dir)
		}
		// A folder made for envtest is no mistake of whoever set the variable; any other gap is.
		if len(missingFrom(dir, basicComponents)) > 0 {
			return "", fmt.Errorf("%s=%s has no %s", assetsEnv, dir, strings.Join(missing, ", "))
		}
		say(progress, "%s=%s has no %s: not used here", assetsEnv, dir, strings.Join(missing, ", "))
	}
	source, err := findSource()
	if err != nil {
		return "", err
	}
	if dir, err := source.cached(); err == nil && len(missingFrom(dir, needed)) == 0 {
		return dir, nil
	}
	// No use in asking for kube-controller-manager there.
	if !slices.Contains(needed, controllerManager) {
		dir, err := download(ctx, source)
		if err == nil && len(missingFrom(dir, needed)) == 0 {
			return dir, nil
		}
		say(progress, "setup-envtest has nothing to offer here (%v)", err)
	}
	return source.build(ctx, progress)
}

// download returns the folder in which setup-envtest, pinned in the module of generators, keeps its download.
func download(ctx context.Context, source source) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, downloadTimeout)
	defer cancel()
	minor := source.version[:strings.LastIndex(source.version, ".")]
	command := exec.CommandContext(ctx, "go", "-C", filepath.Join(source.dir, "..", "generate"),
		"tool", "setup-envtest", "use", "-p", "path", strings.TrimPrefix(minor, "v")+".x")
	// Go waits for the grandchild's end of the pipe as well: without this, a hanging download outlives its time.
	command.WaitDelay = time.Second
	out, err := command.Output()
	if err != nil {
		if ctx.Err() != nil {
			return "", fmt.Errorf("no answer within %s", downloadTimeout)
		}
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			return "", errors.New(lastLine(string(exit.Stderr)))
		}
		return "", err
	}
	return strings.TrimSpace(string(out)), nil
}

// missingFrom returns the names of the components that dir has no executable for.
func missingFrom(dir string, components []string) []string {
	var missing []string
	for _, name := range components {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.IsDir() || info.Mode()&0o111 == 0 {
			missing = append(missing, name)
		}
	}
	return missing
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

func say(progress io.Writer, format string, args ...any) {
	if progress != nil {
		fmt.Fprintf(progress, "control plane: "+format+"\n", args...)
	}
}
