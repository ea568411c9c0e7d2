package chart

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/vmoperator/src/test/chart/rendering"
)

const (
	// root is the repository's, from this package's folder.
	root  = "../../.."
	chart = root + "/charts/vmoperator"
	// release and namespace are those of every rendering, unless it says otherwise.
	release   = "vmoperator"
	namespace = "vmoperator-system"
	// longest is as long as Helm lets the name of a release be.
	longest = "a-name-of-53-characters-is-the-longest-that-helm-take"
)

// variant is one way to install the chart.
type variant struct {
	name    string
	release string
	args    []string
	objects []unstructured.Unstructured
}

// variants are all values files that the chart is tried with, and those with names
// that are hard to fit in. Each is rendered once for all tests.
var variants = sync.OnceValues(func() ([]variant, error) {
	files, err := filepath.Glob(chart + "/ci/*-values.yaml")
	if err != nil || len(files) == 0 {
		return nil, errors.Join(errors.New("the chart has no ci/*-values.yaml"), err)
	}
	all := []variant{
		{name: "two namespaces", release: release, args: []string{"--set=watchNamespaces={default,team}"}},
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), "-values.yaml")
		all = append(all,
			variant{name: name, release: release, args: []string{"--values=" + file}},
			variant{name: name + ", longest name", release: longest, args: []string{"--values=" + file}},
		)
	}
	for i := range all {
		if all[i].objects, err = rendered(all[i].release, all[i].args...); err != nil {
			return nil, fmt.Errorf("%s: %w", all[i].name, err)
		}
	}
	return all, nil
})

// all are the variants, rendered.
func all(t *testing.T) []variant {
	t.Helper()
	rendered, err := variants()
	if err != nil {
		t.Fatal(err)
	}
	return rendered
}

// render renders the chart.
func render(t *testing.T, args ...string) []unstructured.Unstructured {
	t.Helper()
	objects, err := rendered(release, args...)
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

func rendered(release string, args ...string) ([]unstructured.Unstructured, error) {
	// All tests share what is rendered: it must not end with one of them.
	return rendering.Chart(context.Background(), root, release, namespace, args...)
}

// ofKind are the objects of a kind, decoded into its type.
func ofKind[T any](t *testing.T, objects []unstructured.Unstructured, kind string) []T {
	t.Helper()
	found, err := rendering.OfKind[T](objects, kind)
	if err != nil {
		t.Fatal(err)
	}
	return found
}
