package gitops

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// root is the repository's, from this package's folder.
const root = "../../.."

// variants are the ways to deliver that gitops/root offers, by what is set for them.
func variants() map[string][]string {
	two := "environments=[{\"name\":\"dev\",\"server\":\"https://dev.example.com\"},{\"name\":\"prod\",\"server\":\"https://prod.example.com\"}]"
	return map[string][]string{
		"dev":                  nil,
		"prod":                 {"--set=environment=prod"},
		"chart of a release":   {"--set=chart.version=0.1.0"},
		"two namespaces":       {"--set=namespaces={vms,team}"},
		"confirmed deletion":   {"--set=confirmDeletion=true"},
		"an environment each":  {"--set-json", two},
		"the same, of release": {"--set-json", two, "--set=chart.version=0.1.0"},
	}
}

// applications are all that Argo CD is given: what is applied by hand, and what that
// brings.
func applications(t *testing.T, args ...string) []unstructured.Unstructured {
	t.Helper()
	return brought(t, append([]string{"--set=bootstrap=true"}, args...)...)
}

// brought is what the Application root brings.
func brought(t *testing.T, args ...string) []unstructured.Unstructured {
	t.Helper()
	return objects(t, helm(t, append([]string{"template", filepath.Join(root, "gitops", "root")}, args...)...))
}

// helm runs the repository's own Helm.
func helm(t *testing.T, args ...string) []byte {
	t.Helper()
	out, err := run(t.Context(), filepath.Join(root, "bin", "helm"), args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func run(ctx context.Context, program string, args ...string) ([]byte, error) {
	out, err := exec.CommandContext(ctx, program, args...).Output()
	if failed := new(exec.ExitError); errors.As(err, &failed) {
		return nil, fmt.Errorf("%s %s: %s", program, strings.Join(args, " "), failed.Stderr)
	}
	return out, err
}

// objects decodes all documents of a YAML stream.
func objects(t *testing.T, stream []byte) []unstructured.Unstructured {
	t.Helper()
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(stream), 4096)
	var all []unstructured.Unstructured
	for {
		var object unstructured.Unstructured
		switch err := decoder.Decode(&object.Object); {
		case errors.Is(err, io.EOF):
			return all
		case err != nil:
			t.Fatal(err)
		case len(object.Object) > 0:
			all = append(all, object)
		}
	}
}

// inFolder are the objects of all files of a folder, as Argo CD reads a directory.
func inFolder(t *testing.T, dir string) []unstructured.Unstructured {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files in %s: %v", dir, err)
	}
	var all []unstructured.Unstructured
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, objects(t, content)...)
	}
	return all
}

// named is the object of a kind and name.
func named(t *testing.T, all []unstructured.Unstructured, kind, name string) unstructured.Unstructured {
	t.Helper()
	for _, object := range all {
		if object.GetKind() == kind && object.GetName() == name {
			return object
		}
	}
	t.Fatalf("there is no %s %s", kind, name)
	return unstructured.Unstructured{}
}
