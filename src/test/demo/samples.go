package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

const (
	providerSample = "docs/samples/compute_v1_providerconfig.yaml"
	machineSamples = "docs/samples/compute_v1_virtualmachine*.yaml"
)

// applySamples applies the samples as they are, but for what the settings change
// in the ProviderConfig's spec: first of all the endpoint.
func (w *world) applySamples(ctx context.Context, settings map[string]string) error {
	machines, err := filepath.Glob(machineSamples)
	if err != nil {
		return err
	}
	if len(machines) == 0 {
		return fmt.Errorf("no sample is named %s", machineSamples)
	}
	sample, err := os.ReadFile(providerSample)
	if err != nil {
		return err
	}
	config, err := withSettings(sample, settings)
	if err != nil {
		return fmt.Errorf("%s: %w", providerSample, err)
	}
	path := w.path("providerconfig.yaml")
	if err := os.WriteFile(path, config, 0o600); err != nil {
		return err
	}
	w.screen.say("%s%s is %s with endpoint %s", indent, path, providerSample, settings["endpoint"])
	for _, sample := range append([]string{path}, machines...) {
		if err := w.kubectl.show(ctx, "apply", "-f", sample); err != nil {
			return err
		}
	}
	return nil
}

// withSettings is the manifest of an object with fields of its spec set.
func withSettings(manifest []byte, settings map[string]string) ([]byte, error) {
	var object map[string]any
	if err := yaml.Unmarshal(manifest, &object); err != nil {
		return nil, err
	}
	if object == nil {
		return nil, errors.New("it is empty")
	}
	for field, value := range settings {
		if err := unstructured.SetNestedField(object, value, "spec", field); err != nil {
			return nil, err
		}
	}
	return yaml.Marshal(object)
}
