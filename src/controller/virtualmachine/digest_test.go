package virtualmachine

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/test/builders"
)

// edits are what somebody else may do to a child.
func edits() map[string]func(client.Object) {
	labelled := func(name, value string) func(client.Object) {
		return func(object client.Object) {
			labels := maps.Clone(object.GetLabels())
			labels[name] = value
			object.SetLabels(labels)
		}
	}
	all := map[string]func(client.Object){
		"another's label":      labelled("team", "a"),
		"another's annotation": func(object client.Object) { object.SetAnnotations(map[string]string{"note": "b"}) },
		"a finalizer":          func(object client.Object) { object.SetFinalizers([]string{"example.com/mine"}) },
		"nothing":              func(client.Object) {},
		"data": func(object client.Object) {
			if secret, ok := object.(*corev1.Secret); ok {
				secret.Data = map[string][]byte{"id": []byte("other")}
			}
		},
		"more data": func(object client.Object) {
			if secret, ok := object.(*corev1.Secret); ok {
				secret.Data["password"] = []byte("x")
			}
		},
		"what the cluster chooses": func(object client.Object) {
			if service, ok := object.(*corev1.Service); ok {
				service.Spec.ClusterIP, service.Spec.Type, service.Spec.Ports[0].NodePort = "10.0.0.1", corev1.ServiceTypeNodePort, 30000
			}
		},
		"ports": func(object client.Object) {
			switch child := object.(type) {
			case *corev1.Service:
				child.Spec.Ports = append(child.Spec.Ports, corev1.ServicePort{Name: "x", Port: 1, TargetPort: intstr.FromInt32(1)})
			case *discoveryv1.EndpointSlice:
				child.Ports = nil
			}
		},
		"a selector": func(object client.Object) {
			if service, ok := object.(*corev1.Service); ok {
				service.Spec.Selector = map[string]string{"app": "x"}
			}
		},
		"an empty selector": func(object client.Object) {
			if service, ok := object.(*corev1.Service); ok {
				service.Spec.Selector = map[string]string{}
			}
		},
		"endpoints": func(object client.Object) {
			if slice, ok := object.(*discoveryv1.EndpointSlice); ok {
				slice.Endpoints = []discoveryv1.Endpoint{}
			}
		},
	}
	for _, name := range []string{
		computev1.WatchedLabel, managedByLabel, computev1.VirtualMachineLabel, discoveryv1.LabelServiceName, discoveryv1.LabelManagedBy,
	} {
		all["the value of "+name] = labelled(name, "other")
		all["no "+name] = func(object client.Object) {
			labels := maps.Clone(object.GetLabels())
			delete(labels, name)
			object.SetLabels(labels)
		}
	}
	return all
}

// A digest that differs where nothing is to be merged would cost a read with every
// look, and one that does not where something is would leave a drift.
func TestAChildsDigestDiffersWhereSomethingIsToBeMerged(t *testing.T) {
	all := edits()
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"web", "web.example", strings.Repeat("w", maxLabelValue+1)}).Draw(t, "VirtualMachine")
		vm := builders.VirtualMachine("default", name, func(vm *computev1.VirtualMachine) { vm.UID = "u-1" })
		machine := provider.Machine{ID: "vm-1", Phase: provider.PhaseRunning, Addresses: []string{"192.0.2.7", "2001:db8::7"}}
		wanted := desiredChildren(vm, machine, publishable(machine.Addresses, nil))
		child := rapid.SampledFrom([]client.Object{wanted.secret, wanted.service, wanted.slices[discoveryv1.AddressTypeIPv4]}).Draw(t, "child")
		current := copyOf(child)
		for _, edit := range rapid.SliceOfN(rapid.SampledFrom(names), 0, 3).Draw(t, "edits") {
			all[edit](current)
		}
		differ := digest(current) != digest(child)
		merged := copyOf(current)
		if changed := mergeAny(merged, child); changed != differ {
			t.Fatalf("digests differ: %v; merging changes something: %v", differ, changed)
		}
		if digest(merged) != digest(child) {
			t.Fatal("the digest differs after merging as well")
		}
	})
}

func TestADigestKeepsFieldsApart(t *testing.T) {
	seen := map[string]string{}
	for _, data := range []map[string][]byte{
		nil, {"a": []byte("b")}, {"a": []byte("")}, {"ab": []byte("")}, {"a": []byte("b"), "c": []byte("d")}, {"a": []byte(`b","c":"d`)},
	} {
		sum := fmt.Sprintf("%x", digest(&corev1.Secret{Data: data}))
		if other, found := seen[sum]; found {
			t.Errorf("%v and %s have the same digest", data, other)
		}
		seen[sum] = fmt.Sprint(data)
	}
}
