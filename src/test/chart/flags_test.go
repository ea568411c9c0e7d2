package chart

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// args are the arguments of the pods of the operator's image, or of another one.
func args(t *testing.T, v variant, ofOperator bool) [][]string {
	t.Helper()
	var found [][]string
	for _, pod := range templates(t, v.objects) {
		if container := pod.Spec.Containers[0]; strings.Contains(container.Image, "/vmoperator:") == ofOperator {
			found = append(found, container.Args)
		}
	}
	return found
}

// TestTheOperatorAndItsFlags builds the operator once.
func TestTheOperatorAndItsFlags(t *testing.T) {
	t.Parallel()
	rendered := all(t)
	operator := filepath.Join(t.TempDir(), "vmoperator")
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", operator, "./src/cmd/manager")
	build.Dir = root
	// As make build does, and so with what that has compiled.
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, v := range rendered {
		t.Run("it takes what it is given: "+v.name, func(t *testing.T) {
			for _, flags := range args(t, v, true) {
				wantTaken(t, operator, flags)
			}
		})
	}
	t.Run("its defaults are the chart's", func(t *testing.T) {
		flags := args(t, variant{objects: render(t)}, true)
		if len(flags) != 1 {
			t.Fatalf("there are %d pods", len(flags))
		}
		wantDefaults(t, operator, flags[0])
	})
}

// wantTaken asks beside flags for something that is answered when they have been
// read, and before anything is begun.
func wantTaken(t *testing.T, operator string, flags []string) {
	t.Helper()
	asked := "--version"
	if !strings.HasPrefix(flags[0], "-") {
		// A command, which has no version of its own.
		asked = "--help"
	}
	if out, err := exec.CommandContext(t.Context(), operator, append(flags, asked)...).CombinedOutput(); err != nil {
		t.Errorf("%v: %v: %s", flags, err, out)
	}
}

// workersOf is what the operator tells of the default of a flag that names controllers.
var workersOf = regexp.MustCompile(`(?m)\(default: (\w+=\d+(?:,\w+=\d+)*)\)$`)

var defaultOf = regexp.MustCompile(`(?m)^ {2}-([a-z-]+).*\n.*\(default "?([^:")]+|:\d+)"?\)$`)

// wantDefaults compares flags with the defaults that the operator tells.
func wantDefaults(t *testing.T, operator string, flags []string) {
	t.Helper()
	help, err := exec.CommandContext(t.Context(), operator, "--help").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, help)
	}
	defaults := map[string]string{}
	for _, match := range defaultOf.FindAllStringSubmatch(string(help), -1) {
		defaults["--"+match[1]] = match[2]
	}
	if workers := workersOf.FindSubmatch(help); len(workers) > 1 {
		defaults["--max-concurrent-reconciles"] = string(workers[1])
	}
	compared := 0
	for _, flag := range flags {
		name, value, _ := strings.Cut(flag, "=")
		want, isTold := defaults[name]
		if !isTold {
			continue
		}
		compared++
		if value != want {
			t.Errorf("the chart sets %s to %s, and the operator to %s", name, value, want)
		}
	}
	if compared < 8 {
		t.Errorf("of %v only %d have a default, as in %v", flags, compared, defaults)
	}
}

func TestTheMockProviderHasTheFlagsThatItIsGiven(t *testing.T) {
	t.Parallel()
	settings, err := os.ReadFile(filepath.Join(root, "mockprovider", "settings.py"))
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range all(t) {
		t.Run(v.name, func(t *testing.T) {
			for _, flags := range args(t, v, false) {
				for _, flag := range flags {
					name, _, _ := strings.Cut(flag, "=")
					if !strings.Contains(string(settings), `"`+name+`"`) {
						t.Errorf("the mock provider has no flag %s", name)
					}
				}
			}
		})
	}
}
