// Package v1 holds the compute.example.com/v1 API: VirtualMachine, a VM at an
// external provider, and ProviderConfig, the provider it lives at.
//
// +kubebuilder:object:generate=true
// +groupName=compute.example.com
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of every type in this package.
var GroupVersion = schema.GroupVersion{Group: "compute.example.com", Version: "v1"}

var schemeBuilder = runtime.NewSchemeBuilder(func(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion,
		&VirtualMachine{}, &VirtualMachineList{},
		&ProviderConfig{}, &ProviderConfigList{},
	)
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
})

// AddToScheme registers this package's types in a scheme.
var AddToScheme = schemeBuilder.AddToScheme
