package gitops

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/vmoperator/src/test/crdschema"
)

// argoCD are the schemas of Argo CD's kinds.
func argoCD(t *testing.T) map[string]*crdschema.Schema {
	t.Helper()
	all := map[string]*crdschema.Schema{}
	for kind, file := range map[string]string{
		"Application": "application-crd.yaml.gz", "ApplicationSet": "applicationset-crd.yaml.gz", "AppProject": "appproject-crd.yaml.gz",
	} {
		compressed, err := os.ReadFile(filepath.Join("testdata", "argocd-3.5.7", file))
		if err != nil {
			t.Fatal(err)
		}
		reader, err := gzip.NewReader(bytes.NewReader(compressed))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(reader)
		if err != nil {
			t.Fatal(err)
		}
		if all[kind], err = crdschema.Read(file, text); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func TestAllThatRootRendersIsValidForArgoCD(t *testing.T) {
	schemas := argoCD(t)
	for name, args := range variants() {
		t.Run(name, func(t *testing.T) {
			for _, object := range applications(t, args...) {
				valid(t, schemas[object.GetKind()], object)
			}
		})
	}
}

// valid reports what Argo CD's schema has against an object.
func valid(t *testing.T, schema *crdschema.Schema, object unstructured.Unstructured) {
	t.Helper()
	if schema == nil {
		t.Errorf("%s %s is no kind of Argo CD's", object.GetKind(), object.GetName())
		return
	}
	if err := schema.Validate(object.Object); err != nil {
		t.Errorf("%s %s: %v", object.GetKind(), object.GetName(), err)
	}
	if unknown := schema.Unknown(object.Object); len(unknown) > 0 {
		t.Errorf("%s %s has fields that Argo CD does not know: %s", object.GetKind(), object.GetName(), strings.Join(unknown, ", "))
	}
}

func TestObjectsInGitAreValid(t *testing.T) {
	for _, environment := range environments(t) {
		t.Run(environment, func(t *testing.T) {
			for _, object := range inFolder(t, filepath.Join(root, "gitops", "environments", environment, "objects")) {
				crd := filepath.Join(root, "charts", "vmoperator", "files", "crds",
					object.GroupVersionKind().Group+"_"+strings.ToLower(object.GetKind())+"s.yaml")
				if !strings.Contains(object.GetAPIVersion(), ".example.") {
					continue
				}
				text, err := os.ReadFile(crd)
				if err != nil {
					t.Fatal(err)
				}
				schema, err := crdschema.Read(crd, text)
				if err != nil {
					t.Fatal(err)
				}
				valid(t, schema, object)
			}
		})
	}
}

// environments are the folders of gitops/environments.
func environments(t *testing.T) []string {
	t.Helper()
	folders, err := os.ReadDir(filepath.Join(root, "gitops", "environments"))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, folder := range folders {
		all = append(all, folder.Name())
	}
	return all
}
