package virtualmachine

import (
	"fmt"
	"unique"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
)

// Slim is a cache's transform of VirtualMachines: it takes away what nobody reads, and
// lets the many objects that have a text in common share it.
//
// What is taken away stays at the apiserver, for a VirtualMachine is only ever written
// by patches that hold what differs from what was read.
func Slim(object any) (any, error) {
	vm, ok := object.(*computev1.VirtualMachine)
	if !ok {
		return nil, fmt.Errorf("%T is no VirtualMachine", object)
	}
	vm.ManagedFields = nil
	delete(vm.Annotations, corev1.LastAppliedConfigAnnotation)
	share(&vm.APIVersion, &vm.Kind, &vm.Namespace, &vm.Spec.Image, &vm.Status.Phase)
	if vm.Spec.ProviderRef != nil {
		share(vm.Spec.ProviderRef)
	}
	for i := range vm.Finalizers {
		share(&vm.Finalizers[i])
	}
	vm.Labels, vm.Annotations = shareKeys(vm.Labels), shareKeys(vm.Annotations)
	if service := vm.Spec.Service; service != nil {
		for i := range service.Ports {
			share(&service.Ports[i].Name)
		}
	}
	for i := range vm.Status.Conditions {
		shareCondition(&vm.Status.Conditions[i])
	}
	return vm, nil
}

func shareCondition(condition *metav1.Condition) {
	share(&condition.Type, &condition.Reason, &condition.Message)
	condition.Status = unique.Make(condition.Status).Value()
}

func share(texts ...*string) {
	for _, text := range texts {
		*text = unique.Make(*text).Value()
	}
}

// shareKeys is a map of the same content.
func shareKeys(given map[string]string) map[string]string {
	if len(given) == 0 {
		return nil
	}
	shared := make(map[string]string, len(given))
	for key, value := range given {
		shared[unique.Make(key).Value()] = value
	}
	return shared
}
