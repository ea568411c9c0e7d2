package chart

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
)

const (
	// root is the repository's, from this package's folder.
	root  = "../../.."
	chart = root + "/charts/vmoperator"
	helm  = root + "/bin/helm"
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
	if _, err := os.Stat(helm); err != nil {
		return nil, fmt.Errorf("make bin/helm builds what is missing: %w", err)
	}
	args = append([]string{
		"template", release, chart, "--namespace=" + namespace, "--kube-version=1.37.0",
		"--api-versions=monitoring.coreos.com/v1/ServiceMonitor,monitoring.coreos.com/v1/PrometheusRule",
	}, args...)
	//nolint:noctx // Our own Helm, with arguments of tests; all tests share what it renders.
	out, err := exec.Command(helm, args...).Output()
	if failed := new(exec.ExitError); errors.As(err, &failed) {
		return nil, fmt.Errorf("helm %s: %s", strings.Join(args, " "), failed.Stderr)
	}
	if err != nil {
		return nil, err
	}
	return documents(out)
}

// documents decodes all objects of a YAML stream.
func documents(stream []byte) ([]unstructured.Unstructured, error) {
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(stream), 4096)
	var objects []unstructured.Unstructured
	for {
		var object unstructured.Unstructured
		switch err := decoder.Decode(&object.Object); {
		case errors.Is(err, io.EOF):
			return objects, nil
		case err != nil:
			return nil, fmt.Errorf("decoding what was rendered: %w", err)
		case len(object.Object) > 0:
			objects = append(objects, object)
		}
	}
}

// ofKind are the objects of a kind, decoded into its type.
func ofKind[T any](t *testing.T, objects []unstructured.Unstructured, kind string) []T {
	t.Helper()
	var found []T
	for _, object := range objects {
		if object.GetKind() != kind {
			continue
		}
		var typed T
		if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object.Object, &typed, true); err != nil {
			t.Fatalf("%s %s: %v", kind, object.GetName(), err)
		}
		found = append(found, typed)
	}
	return found
}
