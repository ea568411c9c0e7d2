package chart

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
)

// args are the arguments of the Deployments of a component.
func args(t *testing.T, v variant, component string) [][]string {
	t.Helper()
	var found [][]string
	for _, deployment := range ofKind[appsv1.Deployment](t, v.objects, "Deployment") {
		if deployment.Labels["app.kubernetes.io/component"] == component {
			found = append(found, deployment.Spec.Template.Spec.Containers[0].Args)
		}
	}
	return found
}

// TestTheOperatorTakesTheFlagsThatItIsGiven asks for the version beside them, for
// which flags are read and checked, and nothing is begun.
func TestTheOperatorTakesTheFlagsThatItIsGiven(t *testing.T) {
	t.Parallel()
	all, err := variants()
	if err != nil {
		t.Fatal(err)
	}
	operator := filepath.Join(t.TempDir(), "vmoperator")
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", operator, "./src/cmd/manager")
	build.Dir = root
	// As make build does, and so with what that has compiled.
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, v := range all {
		for _, flags := range args(t, v, "controller-manager") {
			//nolint:gosec // The operator, built above.
			command := exec.CommandContext(t.Context(), operator, append(flags, "--version")...)
			if out, err := command.CombinedOutput(); err != nil {
				t.Errorf("%s: %v: %s", v.name, err, out)
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
	each(t, func(t *testing.T, v variant) {
		for _, flags := range args(t, v, "provider") {
			for _, flag := range flags {
				name, _, _ := strings.Cut(flag, "=")
				if !strings.Contains(string(settings), `"`+name+`"`) {
					t.Errorf("the mock provider has no flag %s", name)
				}
			}
		}
	})
}
