package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	computev1 "github.com/example/vmoperator/src/api/compute/v1"
)

// reachRetry is how often an apiserver is tried that is out of reach.
const reachRetry = time.Second

// awaitKinds waits until the apiserver answers, and fails if a
// CustomResourceDefinition is missing of a kind that is worked on: the caches would
// only wait for it without a word. A process that ended while the apiserver is out
// of reach would be started again later and later, up to five minutes after it is back.
func awaitKinds(ctx context.Context, config *rest.Config, o options, logger logr.Logger) error {
	discoverer, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return fmt.Errorf("connecting to the Kubernetes API: %w", err)
	}
	return wait.PollUntilContextCancel(ctx, reachRetry, true, func(ctx context.Context) (bool, error) {
		err := checkKinds(ctx, discoverer, o)
		if err == nil || !outOfReach(err) {
			return err == nil, err
		}
		logger.Info("the Kubernetes API is out of reach, and is tried again", "reason", err.Error())
		return false, nil
	})
}

// outOfReach reports whether an error may pass by itself: what the apiserver has
// answered and a certificate that is not to be trusted will be the same next time.
func outOfReach(err error) bool {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return status.Status().Code >= http.StatusInternalServerError || status.Status().Code == http.StatusTooManyRequests
	}
	var untrusted *tls.CertificateVerificationError
	var unreachable *url.Error
	return errors.As(err, &unreachable) && !errors.As(err, &untrusted)
}

func checkKinds(ctx context.Context, discoverer *discovery.DiscoveryClient, o options) error {
	var missing []string
	for _, wanted := range kinds(o) {
		served, err := served(ctx, discoverer, wanted.version)
		if err != nil {
			return err
		}
		for _, resource := range wanted.resources {
			if !served[resource] {
				missing = append(missing, resource+"."+wanted.version.Group)
			}
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf(`missing CustomResourceDefinition: %s: run "make install", or install the chart with crds.enabled=true`,
			strings.Join(missing, ", "))
	}
	return nil
}

// ownKinds are the resources of one of our groups.
type ownKinds struct {
	version   schema.GroupVersion
	resources []string
}

// kinds are those that the controllers which run work on.
func kinds(o options) []ownKinds {
	var all []ownKinds
	if o.runsCompute() {
		all = append(all, ownKinds{computev1.GroupVersion, []string{"virtualmachines", "providerconfigs"}})
	}
	if o.runs(appAutoscalerController) {
		all = append(all, ownKinds{exampleappsv1.GroupVersion, []string{"appautoscalers"}})
	}
	if o.runs(myAppController) {
		all = append(all, ownKinds{exampleappsv1.GroupVersion, []string{"myapps"}})
	}
	return all
}

// served are the resources that the apiserver has of a group and version.
func served(ctx context.Context, discoverer *discovery.DiscoveryClient, version schema.GroupVersion) (map[string]bool, error) {
	resources, err := discoverer.ServerResourcesForGroupVersionWithContext(ctx, version.String())
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("asking the Kubernetes API which kinds it serves: %w", err)
	}
	served := map[string]bool{}
	for i := range resources.APIResources {
		served[resources.APIResources[i].Name] = true
	}
	return served, nil
}
