package gitops

import (
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// kubernetes is the version that Argo CD is told of the cluster.
const kubernetes = "1.37.0"

// clusterKinds are those without a namespace that the chart can render.
var clusterKinds = []string{"Namespace", "CustomResourceDefinition", "ClusterRole", "ClusterRoleBinding"}

// asArgoCD renders the chart of an Application as Argo CD's repo-server calls Helm.
func asArgoCD(t *testing.T, application unstructured.Unstructured) []unstructured.Unstructured {
	t.Helper()
	get := func(fields ...string) string {
		value, _, err := unstructured.NestedString(application.Object, fields...)
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
	args := []string{
		"template", path.Join(root, get("spec", "source", "path")), "--name-template", get("spec", "source", "helm", "releaseName"),
		"--namespace", get("spec", "destination", "namespace"), "--kube-version", kubernetes,
	}
	files, _, err := unstructured.NestedStringSlice(application.Object, "spec", "source", "helm", "valueFiles")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		// A slash at the beginning is the root of the repository.
		args = append(args, "--values", filepath.Join(root, file))
	}
	values, _, err := unstructured.NestedMap(application.Object, "spec", "source", "helm", "valuesObject")
	if err != nil {
		t.Fatal(err)
	}
	text, err := yaml.Marshal(values)
	if err != nil {
		t.Fatal(err)
	}
	extra := filepath.Join(t.TempDir(), "values.yaml")
	if err := os.WriteFile(extra, text, 0o600); err != nil {
		t.Fatal(err)
	}
	args = append(args, "--values", extra, "--api-versions", "apps/v1", "--api-versions", "apps/v1/Deployment", "--include-crds", "--skip-tests")
	return objects(t, helm(t, args...))
}

// delivered are all objects that Argo CD brings to a cluster for an environment.
func delivered(t *testing.T, environment string) []unstructured.Unstructured {
	t.Helper()
	rendered := applications(t, "--set=environment="+environment)
	all := asArgoCD(t, named(t, rendered, "Application", "vmoperator"))
	folder, _, err := unstructured.NestedString(named(t, rendered, "Application", "vms").Object, "spec", "source", "path")
	if err != nil {
		t.Fatal(err)
	}
	return append(all, inFolder(t, filepath.Join(root, folder))...)
}

// kindOf is a kind as a project names it: those of the cluster with their name.
func kindOf(object unstructured.Unstructured) string {
	kind := object.GroupVersionKind().GroupKind()
	if slices.Contains(clusterKinds, kind.Kind) {
		return kind.String() + " " + object.GetName()
	}
	return kind.String()
}

// permitted are the kinds that a project permits.
func permitted(t *testing.T, project unstructured.Unstructured) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for _, list := range []string{"clusterResourceWhitelist", "namespaceResourceWhitelist"} {
		items, _, err := unstructured.NestedSlice(project.Object, "spec", list)
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range items {
			fields := item.(map[string]any)
			text := schema.GroupKind{Group: fields["group"].(string), Kind: fields["kind"].(string)}.String()
			if name, found := fields["name"]; found {
				text += " " + name.(string)
			}
			all[text] = true
		}
	}
	return all
}

func TestTheProjectPermitsWhatIsDeliveredAndNothingElse(t *testing.T) {
	project := named(t, applications(t), "AppProject", "vmoperator")
	// The namespace of the operator is made by Argo CD itself.
	kinds := map[string]bool{"Namespace vmoperator-system": true}
	for _, environment := range environments(t) {
		for _, object := range delivered(t, environment) {
			kinds[kindOf(object)] = true
		}
	}
	if diff := cmp.Diff(kinds, permitted(t, project)); diff != "" {
		t.Errorf("delivered (-), permitted (+):\n%s", diff)
	}
}

func TestRootsProjectPermitsWhatRootBringsAndNothingElse(t *testing.T) {
	for name, args := range variants() {
		t.Run(name, func(t *testing.T) {
			kinds := map[string]bool{}
			for _, object := range brought(t, args...) {
				kinds[kindOf(object)] = true
			}
			project := named(t, applications(t, args...), "AppProject", "vmoperator-root")
			if diff := cmp.Diff(kinds, permitted(t, project)); diff != "" {
				t.Errorf("brought (-), permitted (+):\n%s", diff)
			}
		})
	}
}

func TestNoProjectHasAWildcard(t *testing.T) {
	for name, args := range variants() {
		for _, object := range applications(t, args...) {
			text, err := yaml.Marshal(object.Object)
			if err != nil {
				t.Fatal(err)
			}
			if object.GetKind() == "AppProject" && strings.Contains(string(text), "*") {
				t.Errorf("%s: project %s:\n%s", name, object.GetName(), text)
			}
		}
	}
}

func TestEveryObjectHasADestinationThatItsProjectPermits(t *testing.T) {
	for _, environment := range environments(t) {
		rendered := applications(t, "--set=environment="+environment)
		project := named(t, rendered, "AppProject", "vmoperator")
		destinations, _, err := unstructured.NestedSlice(project.Object, "spec", "destinations")
		if err != nil {
			t.Fatal(err)
		}
		namespaces := map[string]bool{}
		for _, destination := range destinations {
			namespaces[destination.(map[string]any)["namespace"].(string)] = true
		}
		for _, object := range delivered(t, environment) {
			if namespace := object.GetNamespace(); namespace != "" && !namespaces[namespace] {
				t.Errorf("%s: %s %s is in %s, not in one of %v", environment, object.GetKind(), object.GetName(), namespace, slices.Sorted(maps.Keys(namespaces)))
			}
		}
	}
}
