package chart

import (
	"os"
	"os/exec"
	"path/filepath"
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

// TestTheOperatorTakesTheFlagsThatItIsGiven asks beside them for something that is
// answered when flags have been read, and before anything is begun.
func TestTheOperatorTakesTheFlagsThatItIsGiven(t *testing.T) {
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
		for _, flags := range args(t, v, true) {
			asked := "--version"
			if !strings.HasPrefix(flags[0], "-") {
				// A command, which has no version of its own.
				asked = "--help"
			}
			command := exec.CommandContext(t.Context(), operator, append(flags, asked)...)
			if out, err := command.CombinedOutput(); err != nil {
				t.Errorf("%s: %v: %v: %s", v.name, flags, err, out)
			}
		}
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
