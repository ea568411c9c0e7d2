package main

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
)

// checkKinds fails if a CustomResourceDefinition is missing. The caches would
// only wait for it without a word.
func checkKinds(ctx context.Context, config *rest.Config) error {
	discoverer, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return fmt.Errorf("connecting to the Kubernetes API: %w", err)
	}
	served := map[string]bool{}
	resources, err := discoverer.ServerResourcesForGroupVersionWithContext(ctx, computev1.GroupVersion.String())
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("asking the Kubernetes API which kinds it serves: %w", err)
	}
	if err == nil {
		for i := range resources.APIResources {
			served[resources.APIResources[i].Name] = true
		}
	}
	var missing []string
	for _, resource := range []string{"virtualmachines", "providerconfigs"} {
		if !served[resource] {
			missing = append(missing, resource+"."+computev1.GroupVersion.Group)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf(`missing CustomResourceDefinition: %s: run "make install", or install the chart with crds.enabled=true`,
			strings.Join(missing, ", "))
	}
	return nil
}
