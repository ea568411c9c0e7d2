package docs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"sigs.k8s.io/yaml"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	computev1 "github.com/example/vmoperator/src/api/compute/v1"
)

func TestManifestsAreObjectsOfOurKinds(t *testing.T) {
	t.Parallel()
	for _, p := range pages(t) {
		for _, b := range p.blocks {
			if b.language == "yaml" {
				checkManifests(t, p.path, b.text)
			}
		}
	}
	samples, err := filepath.Glob(filepath.Join(root, "docs", "samples", "*.yaml"))
	if err != nil || len(samples) == 0 {
		t.Fatalf("samples %v, error %v", samples, err)
	}
	for _, sample := range samples {
		content, err := os.ReadFile(sample)
		if err != nil {
			t.Fatal(err)
		}
		checkManifests(t, sample, string(content))
	}
}

// ourKinds are all kinds of the operator.
var ourKinds = func() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(computev1.AddToScheme(scheme))
	utilruntime.Must(exampleappsv1.AddToScheme(scheme))
	return scheme
}()

func checkManifests(t *testing.T, where, manifests string) {
	t.Helper()
	for manifest := range strings.SplitSeq(manifests, "\n---\n") {
		var kind struct {
			APIVersion string `json:"apiVersion"`
			Kind       string `json:"kind"`
		}
		if err := yaml.Unmarshal([]byte(manifest), &kind); err != nil {
			t.Errorf("%s: %v", where, err)
			continue
		}
		group, _, _ := strings.Cut(kind.APIVersion, "/")
		if group != computev1.GroupVersion.Group && group != exampleappsv1.GroupVersion.Group {
			continue
		}
		object, err := ourKinds.New(schema.FromAPIVersionAndKind(kind.APIVersion, kind.Kind))
		if err != nil {
			t.Errorf("%s: %v", where, err)
			continue
		}
		if err := yaml.UnmarshalStrict([]byte(manifest), object); err != nil {
			t.Errorf("%s: %s: %v", where, kind.Kind, err)
		}
	}
}
