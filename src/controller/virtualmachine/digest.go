package virtualmachine

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/virtualmachine/childcache"
)

// digest stands for what of a child is ours: that of a child as it is and that of
// the child as it should be are the same where merging the one into the other would
// change nothing.
func digest(child client.Object) childcache.Digest {
	text, err := json.Marshal(map[string]any{"labels": ourLabels(child), "content": content(child)})
	if err != nil {
		// Strings, numbers and booleans only: they always marshal.
		panic(err)
	}
	return childcache.DigestOf(text)
}

// ourLabels are those of a child that we set.
func ourLabels(child client.Object) map[string]string {
	names := []string{computev1.WatchedLabel, managedByLabel}
	// A name that is too long to be a label's value is in none that is ours.
	if controller := metav1.GetControllerOf(child); controller != nil && len(controller.Name) <= maxLabelValue {
		names = append(names, computev1.VirtualMachineLabel)
	}
	if _, isSlice := child.(*discoveryv1.EndpointSlice); isSlice {
		names = append(names, discoveryv1.LabelServiceName, discoveryv1.LabelManagedBy)
	}
	ours := map[string]string{}
	for _, name := range names {
		if value, found := child.GetLabels()[name]; found {
			ours[name] = value
		}
	}
	return ours
}

// content is what of a child, apart from its labels, is ours. An empty list and none
// are the same.
func content(object client.Object) any {
	switch child := object.(type) {
	case *corev1.Secret:
		return map[string]any{"data": orNone(len(child.Data), child.Data)}
	case *corev1.Service:
		ports := make([]corev1.ServicePort, 0, len(child.Spec.Ports))
		for _, port := range child.Spec.Ports {
			// The cluster's choice.
			port.NodePort = 0
			ports = append(ports, port)
		}
		return map[string]any{"ports": ports, "selector": orNone(len(child.Spec.Selector), child.Spec.Selector)}
	case *discoveryv1.EndpointSlice:
		return map[string]any{
			"endpoints": orNone(len(child.Endpoints), child.Endpoints), "ports": orNone(len(child.Ports), child.Ports),
		}
	default:
		return object
	}
}

// orNone is one value for all that is empty.
func orNone(length int, value any) any {
	if length == 0 {
		return nil
	}
	return value
}
