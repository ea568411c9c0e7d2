package leak

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// Objects looks through every object of every kind and version that can be listed,
// managedFields included, and says which ones the secret is in. The data of a
// Secret is what it is for, and does not count; all else of a Secret does.
func (f *Finder) Objects(ctx context.Context, config *rest.Config) (found []string, looked int, err error) {
	// Old kinds are looked through as well; that they are old is no news.
	config = rest.CopyConfig(config)
	config.WarningHandler = rest.NoWarnings{}
	resources, err := listable(config)
	if err != nil {
		return nil, 0, err
	}
	kube, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, 0, err
	}
	for _, resource := range resources {
		list, err := kube.Resource(resource).List(ctx, metav1.ListOptions{})
		if apierrors.IsMethodNotSupported(err) || apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, 0, fmt.Errorf("listing %s: %w", resource, err)
		}
		for i := range list.Items {
			looked++
			form, err := f.object(resource, list.Items[i])
			if err != nil {
				return nil, 0, err
			}
			if form != "" {
				found = append(found, fmt.Sprintf("%s %s/%s (%s)", resource, list.Items[i].GetNamespace(), list.Items[i].GetName(), form))
			}
		}
	}
	return found, looked, nil
}

func (f *Finder) object(resource schema.GroupVersionResource, object unstructured.Unstructured) (string, error) {
	if resource == corev1.SchemeGroupVersion.WithResource("secrets") {
		object = *object.DeepCopy()
		unstructured.RemoveNestedField(object.Object, "data")
	}
	text, err := json.Marshal(object.Object)
	if err != nil {
		return "", fmt.Errorf("encoding %s %s: %w", resource, object.GetName(), err)
	}
	return f.In(text), nil
}

func listable(config *rest.Config) ([]schema.GroupVersionResource, error) {
	kube, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	_, lists, err := kube.ServerGroupsAndResources()
	if err != nil {
		return nil, fmt.Errorf("asking which kinds there are: %w", err)
	}
	var resources []schema.GroupVersionResource
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, fmt.Errorf("a group and version: %w", err)
		}
		for i := range list.APIResources {
			if slices.Contains(list.APIResources[i].Verbs, "list") {
				resources = append(resources, version.WithResource(list.APIResources[i].Name))
			}
		}
	}
	return resources, nil
}
