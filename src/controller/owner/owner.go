// Package owner is how a VM says whose it is: labels that are sent with its
// creation to a provider that keeps them, and returned on reads.
package owner

import (
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
)

const (
	labelNamespace         = "compute.example.com/namespace"
	labelName              = "compute.example.com/name"
	labelUID               = "compute.example.com/uid"
	labelProviderConfigUID = "compute.example.com/provider-config-uid"

	// maxUID is more than any UID has.
	maxUID = 64
)

// Owner is the VirtualMachine that a VM was made for.
type Owner struct {
	// Object is its namespace and name.
	Object types.NamespacedName
	// UID is the one that the object had when the VM was made.
	UID types.UID
	// ProviderConfig is the UID of the ProviderConfig that the VM was made through.
	ProviderConfig types.UID
}

// New returns the owner of the VMs of an object.
func New(vm *computev1.VirtualMachine, providerConfig types.UID) Owner {
	return Owner{
		Object: types.NamespacedName{Namespace: vm.Namespace, Name: vm.Name}, UID: vm.UID, ProviderConfig: providerConfig,
	}
}

// Labels are what its VMs carry.
func (o Owner) Labels() map[string]string {
	return map[string]string{
		labelNamespace:         o.Object.Namespace,
		labelName:              o.Object.Name,
		labelUID:               string(o.UID),
		labelProviderConfigUID: string(o.ProviderConfig),
	}
}

// Of reads the owner from a VM's labels. It reports false where one is missing or
// could never be ours: labels are the provider's word.
func Of(labels map[string]string) (Owner, bool) {
	o := Owner{
		Object:         types.NamespacedName{Namespace: labels[labelNamespace], Name: labels[labelName]},
		UID:            types.UID(labels[labelUID]),
		ProviderConfig: types.UID(labels[labelProviderConfigUID]),
	}
	valid := len(validation.IsDNS1123Label(o.Object.Namespace)) == 0 && len(validation.IsDNS1123Subdomain(o.Object.Name)) == 0 &&
		isUID(o.UID) && isUID(o.ProviderConfig)
	return o, valid
}

// SameAs reports whether labels name this very owner.
func (o Owner) SameAs(labels map[string]string) bool {
	ours := o.Labels()
	for name := range ours {
		if labels[name] != ours[name] {
			return false
		}
	}
	return true
}

func isUID(uid types.UID) bool {
	return uid != "" && len(uid) <= maxUID && len(validation.IsValidLabelValue(string(uid))) == 0
}
