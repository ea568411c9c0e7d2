// Package rendering renders the chart with the repository's own Helm.
package rendering

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

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// Chart renders the chart of the repository whose root is given, as a release in a
// namespace of a cluster that knows the Prometheus operator's kinds. The arguments
// are Helm's, as in "--set=replicas=2".
func Chart(ctx context.Context, root, release, namespace string, args ...string) ([]unstructured.Unstructured, error) {
	helm := filepath.Join(root, "bin", "helm")
	if _, err := os.Stat(helm); err != nil {
		return nil, fmt.Errorf("make bin/helm builds what is missing: %w", err)
	}
	args = append([]string{
		"template", release, filepath.Join(root, "charts", "vmoperator"), "--namespace=" + namespace, "--kube-version=1.37.0",
		"--api-versions=monitoring.coreos.com/v1/ServiceMonitor,monitoring.coreos.com/v1/PrometheusRule",
	}, args...)
	out, err := exec.CommandContext(ctx, helm, args...).Output()
	if failed := new(exec.ExitError); errors.As(err, &failed) {
		return nil, fmt.Errorf("helm %s: %s", strings.Join(args, " "), failed.Stderr)
	}
	if err != nil {
		return nil, fmt.Errorf("helm %s: %w", strings.Join(args, " "), err)
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

// OfKind are the objects of a kind, decoded strictly into its type.
func OfKind[T any](objects []unstructured.Unstructured, kind string) ([]T, error) {
	var found []T
	for _, object := range objects {
		if object.GetKind() != kind {
			continue
		}
		var typed T
		if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object.Object, &typed, true); err != nil {
			return nil, fmt.Errorf("%s %s: %w", kind, object.GetName(), err)
		}
		found = append(found, typed)
	}
	return found, nil
}
