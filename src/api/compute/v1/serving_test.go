package v1_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/test/schemarules"
)

// A tool that waits for observedGeneration to reach the generation must not take
// an object for done that the operator has not seen.
func TestAnUnseenObjectShowsObservedGenerationMinusOneToEveryReader(t *testing.T) {
	for _, minimal := range []*unstructured.Unstructured{minimalVM(), minimalProviderConfig()} {
		t.Run(minimal.GetKind(), func(t *testing.T) {
			const field = "status.observedGeneration"
			stored := create(t, minimal)
			if got := nested(t, stored, field); got != int64(-1) {
				t.Errorf("the answer to create has %v", got)
			}

			read := object(minimal.GetKind(), nil)
			if err := kube.Get(t.Context(), client.ObjectKeyFromObject(stored), read); err != nil {
				t.Fatal(err)
			}
			if got := nested(t, read, field); got != int64(-1) {
				t.Errorf("get has %v", got)
			}

			list := listOf(minimal)
			if err := kube.List(t.Context(), list, onlyNamed(stored)...); err != nil {
				t.Fatal(err)
			}
			if len(list.Items) != 1 || nested(t, &list.Items[0], field) != int64(-1) {
				t.Errorf("list has %v", list.Items)
			}

			watch, err := kube.Watch(t.Context(), listOf(minimal), onlyNamed(stored)...)
			if err != nil {
				t.Fatal(err)
			}
			defer watch.Stop()
			event := <-watch.ResultChan()
			if watched, ok := event.Object.(*unstructured.Unstructured); !ok || nested(t, watched, field) != int64(-1) {
				t.Errorf("watch has %v", event.Object)
			}
		})
	}
}

func TestAStatusWithoutObservedGenerationIsNotTakenForSeen(t *testing.T) {
	stored := create(t, minimalVM())
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"status":{"phase":"Running","observedGeneration":null}}`))
	if err := kube.Status().Patch(t.Context(), stored, patch); err != nil {
		t.Fatal(err)
	}
	if got := nested(t, stored, "status.observedGeneration"); got != int64(-1) {
		t.Errorf("observedGeneration is %v, want -1", got)
	}
}

func listOf(object *unstructured.Unstructured) *unstructured.UnstructuredList {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(computev1.GroupVersion.WithKind(object.GetKind() + "List"))
	return list
}

func onlyNamed(object client.Object) []client.ListOption {
	return []client.ListOption{
		client.InNamespace(object.GetNamespace()),
		client.MatchingFieldsSelector{Selector: fields.OneTermEqualSelector("metadata.name", object.GetName())},
	}
}

func TestVirtualMachinesAreSelectedByProviderRef(t *testing.T) {
	want := create(t, schemarules.Try("spec.providerRef", nil, nil, "").With(t, minimalVM(), "selected"))
	create(t, minimalVM())

	var found computev1.VirtualMachineList
	if err := kube.List(t.Context(), &found, client.InNamespace("default"), client.MatchingFields{"spec.providerRef": "selected"}); err != nil {
		t.Fatal(err)
	}
	names := make([]string, 0, 1)
	for _, vm := range found.Items {
		names = append(names, vm.Name)
	}
	if diff := cmp.Diff([]string{want.GetName()}, names); diff != "" {
		t.Error(diff)
	}
}

func TestShortNamesAndCategory(t *testing.T) {
	discoverer, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	resources, err := discoverer.ServerResourcesForGroupVersion(computev1.GroupVersion.String())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, resource := range resources.APIResources {
		got[resource.Name] = fmt.Sprint(resource.ShortNames, resource.Categories)
	}
	want := map[string]string{
		"virtualmachines":        "[vm] [vmoperator]",
		"virtualmachines/status": "[] []",
		"providerconfigs":        "[pcfg] [vmoperator]",
		"providerconfigs/status": "[] []",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestPrinterColumns(t *testing.T) {
	for crd, want := range map[string]string{
		"virtualmachines.compute.example.com": "[Phase Ready Synced ID Address Age Provider Image CPU Memory Reason]",
		"providerconfigs.compute.example.com": "[Endpoint Ready Reason VMs Age Identity Capabilities]",
	} {
		var definition apiextensionsv1.CustomResourceDefinition
		if err := kube.Get(t.Context(), client.ObjectKey{Name: crd}, &definition); err != nil {
			t.Fatal(err)
		}
		got := make([]string, 0, len(definition.Spec.Versions[0].AdditionalPrinterColumns))
		for _, column := range definition.Spec.Versions[0].AdditionalPrinterColumns {
			got = append(got, column.Name)
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%s has the columns %v, want %s", crd, got, want)
		}
	}
}

func TestAnObjectWithoutSpecIsRefused(t *testing.T) {
	for _, kind := range []string{"VirtualMachine", "ProviderConfig"} {
		empty := object(kind, nil)
		unstructured.RemoveNestedField(empty.Object, "spec")
		schemarules.WantRefusal(t, kube.Create(t.Context(), empty), "spec: Required value")
	}
}
