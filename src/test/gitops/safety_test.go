package gitops

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// wave is when an object is delivered; it is deleted in the opposite order.
func wave(object unstructured.Unstructured) string {
	return object.GetAnnotations()["argocd.argoproj.io/sync-wave"]
}

func TestRootBringsNothingThatItDeliversItself(t *testing.T) {
	for name, args := range variants() {
		for _, object := range brought(t, args...) {
			if object.GetName() == "root" || object.GetName() == "vmoperator-root" {
				t.Errorf("%s: root brings %s %s, and would wait for its end in vain", name, object.GetKind(), object.GetName())
			}
		}
	}
}

func TestTheObjectsComeAfterTheOperatorAndGoBeforeIt(t *testing.T) {
	for name, args := range variants() {
		rendered := brought(t, args...)
		kind := "Application"
		if name == "an environment each" || name == "the same, of release" {
			kind = "ApplicationSet"
		}
		got := []string{
			wave(named(t, rendered, "AppProject", "vmoperator")), wave(named(t, rendered, kind, "vmoperator")), wave(named(t, rendered, kind, "vms")),
		}
		if diff := cmp.Diff([]string{"-1", "0", "1"}, got); diff != "" {
			t.Errorf("%s: project, operator, objects:\n%s", name, diff)
		}
	}
}

// Argo CD cannot finish the deletion of an Application whose project is gone.
func TestTheProjectOutlivesRootWhereApplicationsDo(t *testing.T) {
	for name, args := range variants() {
		rendered := brought(t, args...)
		outlive := slices.ContainsFunc(rendered, func(object unstructured.Unstructured) bool {
			policy, _, err := unstructured.NestedString(object.Object, "spec", "syncPolicy", "applicationsSync")
			if err != nil {
				t.Fatal(err)
			}
			return object.GetKind() == "ApplicationSet" && policy == "create-update"
		})
		project := named(t, rendered, "AppProject", "vmoperator")
		if kept := project.GetAnnotations()["argocd.argoproj.io/sync-options"] == "Delete=false"; kept != outlive {
			t.Errorf("%s: the project is kept: %t, Applications outlive root: %t", name, kept, outlive)
		}
	}
}

func TestEveryApplicationDeletesWhatItHasBrought(t *testing.T) {
	const finalizer = "resources-finalizer.argocd.argoproj.io"
	for name, args := range variants() {
		for _, object := range applications(t, args...) {
			finalizers := object.GetFinalizers()
			if object.GetKind() == "ApplicationSet" {
				var err error
				finalizers, _, err = unstructured.NestedStringSlice(object.Object, "spec", "template", "metadata", "finalizers")
				if err != nil {
					t.Fatal(err)
				}
			}
			if object.GetKind() != "AppProject" && !slices.Contains(finalizers, finalizer) {
				t.Errorf("%s: %s %s has no finalizer", name, object.GetKind(), object.GetName())
			}
		}
	}
}

func TestVMsComeAfterTheirProviderAndThatAfterItsKey(t *testing.T) {
	waves := map[string]string{"Secret": "0", "ProviderConfig": "1", "VirtualMachine": "2", "MyApp": "2", "Deployment": "2", "AppAutoscaler": "3"}
	for _, environment := range environments(t) {
		for _, object := range inFolder(t, root+"/gitops/environments/"+environment+"/objects") {
			if got := wave(object); got != waves[object.GetKind()] {
				t.Errorf("%s: %s %s is in wave %q, not %q", environment, object.GetKind(), object.GetName(), got, waves[object.GetKind()])
			}
		}
	}
}

func TestNothingThatArgoCDDeletesTakesVMsAlong(t *testing.T) {
	for _, environment := range environments(t) {
		for _, object := range delivered(t, environment) {
			options := object.GetAnnotations()["argocd.argoproj.io/sync-options"]
			switch object.GetKind() {
			case "Namespace":
				if options != "Prune=false,Delete=false" {
					t.Errorf("%s: namespace %s would be deleted: %q", environment, object.GetName(), options)
				}
			case "CustomResourceDefinition":
				// Argo CD spares kinds when an Application is deleted, whatever is said.
				if !strings.Contains(options, "Prune=false") {
					t.Errorf("%s: the kind %s would be pruned: %q", environment, object.GetName(), options)
				}
			}
		}
	}
}

func TestADeletionCanWaitForAPerson(t *testing.T) {
	options := func(args ...string) []string {
		application := named(t, brought(t, args...), "Application", "vms")
		all, _, err := unstructured.NestedStringSlice(application.Object, "spec", "syncPolicy", "syncOptions")
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	want := append(options(), "Prune=confirm", "Delete=confirm")
	if diff := cmp.Diff(want, options("--set=confirmDeletion=true")); diff != "" {
		t.Error(diff)
	}
}

func TestAnEnvironmentThatIsTakenOutKeepsItsOperatorUntilAPersonDeletesIt(t *testing.T) {
	rendered := brought(t, variants()["an environment each"]...)
	for set, want := range map[string]string{"vmoperator": "create-update", "vms": ""} {
		got, _, err := unstructured.NestedString(named(t, rendered, "ApplicationSet", set).Object, "spec", "syncPolicy", "applicationsSync")
		if err != nil || got != want {
			t.Errorf("%s: %q, want %q, error %v", set, got, want, err)
		}
	}
}
