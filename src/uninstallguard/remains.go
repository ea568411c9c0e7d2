package uninstallguard

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
)

const (
	// page is how many objects are asked for at once.
	page = 500
	// named is how many objects of a namespace and kind are called by their names.
	named = 3
)

// kinds carry finalizers that the operator alone takes off.
func kinds() []string { return []string{"VirtualMachine", "ProviderConfig"} }

// remains are the objects of one kind that are left in a namespace.
type remains struct {
	namespace, kind string
	names           []string
}

// find looks into namespaces. A kind that the cluster does not know has no objects.
func find(ctx context.Context, kube client.Client, namespaces []string) ([]remains, error) {
	var left []remains
	for _, namespace := range namespaces {
		if namespace == allNamespaces {
			namespace = metav1.NamespaceAll
		}
		for _, kind := range kinds() {
			found, err := list(ctx, kube, namespace, kind)
			if err != nil {
				return nil, fmt.Errorf("listing %ss in %s: %w", kind, shown(namespace), err)
			}
			for _, place := range slices.Sorted(maps.Keys(found)) {
				left = append(left, remains{place, kind, found[place]})
			}
		}
	}
	slices.SortStableFunc(left, func(a, b remains) int { return strings.Compare(a.namespace, b.namespace) })
	return left, nil
}

// list returns the names of objects by namespace.
func list(ctx context.Context, kube client.Client, namespace, kind string) (map[string][]string, error) {
	found := map[string][]string{}
	objects := &metav1.PartialObjectMetadataList{}
	objects.SetGroupVersionKind(computev1.GroupVersion.WithKind(kind + "List"))
	for {
		err := kube.List(ctx, objects, client.InNamespace(namespace), client.Limit(page), client.Continue(objects.Continue))
		switch {
		case meta.IsNoMatchError(err), apierrors.IsNotFound(err):
			return nil, nil
		case err != nil:
			return nil, err
		}
		for i := range objects.Items {
			object := &objects.Items[i]
			found[object.Namespace] = append(found[object.Namespace], object.Name)
		}
		if objects.Continue == "" {
			return found, nil
		}
	}
}

func shown(namespace string) string {
	if namespace == metav1.NamespaceAll {
		return "all namespaces"
	}
	return "namespace " + namespace
}

// refusal says what is left, and what to do, in the words of the chart's notes.
func (s *settings) refusal(left []remains) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s: refused: the operator lets VirtualMachines and ProviderConfigs go, so it goes last. There are still\n", name)
	for _, r := range left {
		fmt.Fprintf(&text, "  in namespace %s: %s\n", r.namespace, r.describe())
	}
	fmt.Fprint(&text, "\nTo uninstall, in this order:\n\n")
	if slices.Contains(s.namespaces, allNamespaces) {
		fmt.Fprint(&text, "  kubectl delete virtualmachines,providerconfigs --all --all-namespaces\n")
	} else {
		for _, namespace := range places(left) {
			fmt.Fprintf(&text, "  kubectl delete virtualmachines,providerconfigs --all -n %s\n", namespace)
		}
	}
	fmt.Fprintf(&text, "  %s\n\nVirtualMachines with deletionPolicy Retain leave their VMs at the provider. To uninstall all the same: %s --no-hooks\n",
		s.uninstall(), s.uninstall())
	return text.String()
}

// places are the namespaces in which something is left, each once.
func places(left []remains) []string {
	namespaces := make([]string, 0, len(left))
	for _, r := range left {
		namespaces = append(namespaces, r.namespace)
	}
	return slices.Compact(namespaces)
}

func (s *settings) uninstall() string {
	return fmt.Sprintf("helm uninstall %s -n %s", s.release, s.releaseNamespace)
}

// describe is the count, and a few names.
func (r *remains) describe() string {
	kind := r.kind
	if len(r.names) != 1 {
		kind += "s"
	}
	names := strings.Join(r.names[:min(len(r.names), named)], ", ")
	if more := len(r.names) - named; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("%d %s (%s)", len(r.names), kind, names)
}
