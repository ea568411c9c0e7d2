// Package builders makes valid objects for tests, which then say only what they
// are about.
package builders

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
)

// VirtualMachine is the minimal object, changed by the functions in their order.
func VirtualMachine(namespace, name string, changes ...func(*computev1.VirtualMachine)) *computev1.VirtualMachine {
	memory := resource.MustParse("4Gi")
	vm := &computev1.VirtualMachine{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       computev1.VirtualMachineSpec{Image: "ubuntu-24.04", CPU: 2, Memory: &memory},
	}
	for _, change := range changes {
		change(vm)
	}
	return vm
}

// ProviderConfig is one without credentials, changed by the functions in their
// order.
func ProviderConfig(namespace, name, endpoint string, changes ...func(*computev1.ProviderConfig)) *computev1.ProviderConfig {
	config := &computev1.ProviderConfig{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       computev1.ProviderConfigSpec{Endpoint: endpoint},
	}
	for _, change := range changes {
		change(config)
	}
	return config
}
