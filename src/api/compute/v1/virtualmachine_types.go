package v1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DeletionPolicy says what becomes of the VM when its VirtualMachine is deleted.
// +kubebuilder:validation:Enum=Delete;Retain
type DeletionPolicy string

const (
	// DeletionPolicyDelete deletes the VM with its VirtualMachine.
	DeletionPolicyDelete DeletionPolicy = "Delete"
	// DeletionPolicyRetain leaves the VM running at the provider.
	DeletionPolicyRetain DeletionPolicy = "Retain"
)

// The rule on memory never hands an exponent to quantity(), for parsing
// 1e999999999 keeps the apiserver busy for minutes; nor does it ask isInteger(),
// which is false for 1Pi.

// VirtualMachineSpec is the VM that the user wants.
// +kubebuilder:validation:XValidation:rule="has(self.providerRef) == has(oldSelf.providerRef) && (!has(self.providerRef) || self.providerRef == oldSelf.providerRef)",message="providerRef is immutable: it names where the VM is; delete this VirtualMachine and create another"
type VirtualMachineSpec struct {
	// image is the name of the disk image that the VM starts from, as the
	// provider knows it. It cannot be changed.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="image is immutable: delete this VirtualMachine and create another"
	// +required
	Image string `json:"image,omitempty"`

	// cpu is the number of virtual CPUs. A change is applied if the provider can
	// resize a VM; otherwise the condition Synced says that it cannot.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1024
	// +required
	CPU int32 `json:"cpu,omitempty"`

	// memory is the amount of memory, a whole number of MiB up to 1Pi, for example
	// 4Gi. It has no exponent. A change is applied as one of cpu is.
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="!string(self).contains('e') && !string(self).contains('E') && isQuantity(string(self)) && quantity(string(self)).isGreaterThan(quantity('0')) && !quantity(string(self)).isGreaterThan(quantity('1Pi')) && quantity(string(self)).sub(int(quantity(string(self)).asApproximateFloat() / 1048576.0 + 0.5) * 1048576).compareTo(quantity('0')) == 0",message="memory must be a whole number of MiB, at least 1Mi and at most 1Pi, for example 512Mi or 4Gi"
	// +required
	Memory *resource.Quantity `json:"memory,omitempty"`

	// providerRef is the name of the ProviderConfig, in the same namespace, of
	// the provider that the VM is made at. It cannot be changed.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$`
	// +kubebuilder:default=default
	// +optional
	ProviderRef *string `json:"providerRef,omitempty"`

	// deletionPolicy says what becomes of the VM when this object is deleted:
	// Delete (the default) deletes it, Retain leaves it at the provider. Setting
	// Retain on an object that is being deleted lets it go at once.
	// +kubebuilder:default=Delete
	// +optional
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`

	// service describes the Service that leads to the VM.
	// +kubebuilder:default={ports: {{name: "ssh", port: 22, protocol: "TCP"}}}
	// +optional
	Service *VirtualMachineService `json:"service,omitempty"`
}

// VirtualMachineService describes the Service that leads to a VM.
type VirtualMachineService struct {
	// ports are the ports of the Service. The default is ssh, 22.
	// +kubebuilder:default={{name: "ssh", port: 22, protocol: "TCP"}}
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:XValidation:rule="self.all(p, self.exists_one(q, q.port == p.port && q.protocol == p.protocol))",message="two ports may not have the same port and protocol"
	// +listType=map
	// +listMapKey=name
	// +optional
	Ports []VirtualMachinePort `json:"ports,omitempty"`
}

// PortProtocol is the protocol of a Service's port.
// +kubebuilder:validation:Enum=TCP;UDP;SCTP
type PortProtocol string

// VirtualMachinePort is one port of the Service that leads to a VM.
type VirtualMachinePort struct {
	// name of the port, unique in the Service.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +required
	Name string `json:"name,omitempty"`

	// port that the Service listens on.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	// +required
	Port int32 `json:"port,omitempty"`

	// targetPort is the port on the VM. The default is port.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	// +optional
	TargetPort int32 `json:"targetPort,omitempty"`

	// protocol of the port: TCP (the default), UDP or SCTP.
	// +kubebuilder:default=TCP
	// +optional
	Protocol PortProtocol `json:"protocol,omitempty"`
}

// VirtualMachineStatus is what was last seen of the VM.
type VirtualMachineStatus struct {
	// conditions tell the state of this object: Ready (the VM runs), Synced (it is
	// as declared), and, only while true, Reconciling (work goes on), Stalled (a
	// person must act) and Unaddressed (there is no address to publish).
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation of the spec that this status tells of.
	// It is -1 until the operator has seen the object.
	// +kubebuilder:default=-1
	// +optional
	ObservedGeneration int64 `json:"observedGeneration"`

	// id is the provider's name for the VM.
	// +kubebuilder:validation:MaxLength=256
	// +optional
	ID string `json:"id,omitempty"`

	// phase is what the provider says of the VM: Provisioning, Running, Stopped
	// and so on.
	// +kubebuilder:validation:MaxLength=64
	// +optional
	Phase string `json:"phase,omitempty"`

	// addresses are the VM's IP addresses, as the provider tells them.
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=64
	// +listType=set
	// +optional
	Addresses []string `json:"addresses,omitempty"`

	// cpu is the number of virtual CPUs that the VM has.
	// +optional
	CPU int32 `json:"cpu,omitempty"`

	// memory is the amount of memory that the VM has.
	// +optional
	Memory *resource.Quantity `json:"memory,omitempty"`

	// serviceName is the name of the Service that leads to the VM. It differs
	// from the VM's name when that cannot be the name of a Service.
	// +kubebuilder:validation:MaxLength=63
	// +optional
	ServiceName string `json:"serviceName,omitempty"`
}

// VirtualMachine is a VM at an external provider. It is made once, kept as
// declared, and deleted with this object.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=vm,categories=vmoperator
// +kubebuilder:selectablefield:JSONPath=`.spec.providerRef`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Synced",type=string,JSONPath=`.status.conditions[?(@.type=="Synced")].status`
// +kubebuilder:printcolumn:name="ID",type=string,JSONPath=`.status.id`
// +kubebuilder:printcolumn:name="Address",type=string,JSONPath=`.status.addresses[0]`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Provider",type=string,priority=1,JSONPath=`.spec.providerRef`
// +kubebuilder:printcolumn:name="Image",type=string,priority=1,JSONPath=`.spec.image`
// +kubebuilder:printcolumn:name="CPU",type=integer,priority=1,JSONPath=`.status.cpu`
// +kubebuilder:printcolumn:name="Memory",type=string,priority=1,JSONPath=`.status.memory`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Synced")].reason`
type VirtualMachine struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is the VM that the user wants.
	// +required
	Spec VirtualMachineSpec `json:"spec,omitzero"`

	// status is what was last seen of the VM.
	// +kubebuilder:default={}
	// +optional
	Status VirtualMachineStatus `json:"status,omitzero"`
}

// ProviderConfigName is the name of the ProviderConfig that the VM is made at;
// an empty providerRef counts as "default".
func (vm *VirtualMachine) ProviderConfigName() string {
	if ref := vm.Spec.ProviderRef; ref != nil && *ref != "" {
		return *ref
	}
	return DefaultProviderConfig
}

// VirtualMachineList is a list of VirtualMachines.
//
// +kubebuilder:object:root=true
type VirtualMachineList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []VirtualMachine `json:"items"`
}
