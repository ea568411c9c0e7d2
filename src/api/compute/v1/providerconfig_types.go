package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ProviderType names the protocol that a provider is spoken to in.
// +kubebuilder:validation:Enum=HTTP
type ProviderType string

// ProviderTypeHTTP is the HTTP contract of mockprovider/openapi.yaml.
const ProviderTypeHTTP ProviderType = "HTTP"

// ProviderConfigSpec is how to reach a provider.
type ProviderConfigSpec struct {
	// type is the protocol: HTTP (the default).
	// +kubebuilder:default=HTTP
	// +optional
	Type ProviderType `json:"type,omitempty"`

	// endpoint is the provider's base URL, http or https, for example
	// https://vms.example.com/api. It has no user, query or fragment.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="isURL(self) && url(self).getScheme() in ['http', 'https'] && url(self).getHostname() != ''",message="endpoint must be an http or https URL with a host, for example https://vms.example.com"
	// +kubebuilder:validation:XValidation:rule="!self.contains('?') && !self.contains('#') && !self.contains('@')",message="endpoint may not hold a user, a query or a fragment; credentials belong in the Secret of secretRef"
	// +required
	Endpoint string `json:"endpoint,omitempty"`

	// secretRef names a Secret in the same namespace whose key apiKey is sent as
	// a bearer token. Without it no Authorization header is sent.
	// +optional
	SecretRef *SecretReference `json:"secretRef,omitempty"`

	// tls settings of an https endpoint.
	// +optional
	TLS *ProviderTLS `json:"tls,omitempty"`

	// timeout of one call, between 1s and 5m. The default is 10s.
	// +kubebuilder:default="10s"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]{1,6}([.][0-9]{1,6})?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s') && duration(self) <= duration('5m')",message="timeout must be between 1s and 5m"
	// +optional
	Timeout *metav1.Duration `json:"timeout,omitempty"` //nolint:kubeapilinter // users write durations as 10s everywhere in Kubernetes

	// rateLimit bounds the calls to the provider. The manager's flags
	// --provider-qps and --provider-burst are the default.
	// +optional
	RateLimit *ProviderRateLimit `json:"rateLimit,omitempty"`

	// pollInterval is how often settled VMs are looked at, between 1s and 1h: by one
	// list of all of them where the provider offers lists, else one by one. The default
	// is 30s.
	// +kubebuilder:default="30s"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]{1,6}([.][0-9]{1,6})?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s') && duration(self) <= duration('1h')",message="pollInterval must be between 1s and 1h"
	// +optional
	PollInterval *metav1.Duration `json:"pollInterval,omitempty"` //nolint:kubeapilinter // as timeout

	// orphans says what becomes of VMs at the provider that were made for this
	// ProviderConfig and whose VirtualMachine does not exist. Without it they are
	// reported and left alone.
	// +optional
	Orphans *ProviderOrphans `json:"orphans,omitempty"`
}

// OrphanPolicy says what becomes of orphans.
// +kubebuilder:validation:Enum=Report;Delete
type OrphanPolicy string

const (
	// OrphanPolicyReport leaves orphans alone and tells of them.
	OrphanPolicyReport OrphanPolicy = "Report"
	// OrphanPolicyDelete deletes orphans.
	OrphanPolicyDelete OrphanPolicy = "Delete"
)

// ProviderOrphans says what becomes of VMs whose VirtualMachine does not exist.
type ProviderOrphans struct {
	// policy is Report (the default) or Delete. Delete deletes a VM for good. Do not
	// choose it where another cluster may run with a copy of this one's objects, such
	// as after a restore of the whole cluster from a backup.
	// +kubebuilder:default=Report
	// +optional
	Policy OrphanPolicy `json:"policy,omitempty"`

	// minimumAge is how long a VM must have been seen without a VirtualMachine before
	// it is deleted, between 1s and 720h. The default is 1h. It begins anew when the
	// operator starts.
	// +kubebuilder:default="1h"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]{1,6}([.][0-9]{1,6})?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s') && duration(self) <= duration('720h')",message="minimumAge must be between 1s and 720h"
	// +optional
	MinimumAge *metav1.Duration `json:"minimumAge,omitempty"` //nolint:kubeapilinter // as timeout
}

// SecretReference names a Secret in the same namespace.
type SecretReference struct {
	// name of the Secret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Name string `json:"name,omitempty"`
}

// ProviderTLS are the TLS settings of an https endpoint.
type ProviderTLS struct {
	// caSecretRef names a Secret in the same namespace whose key ca.crt holds the
	// PEM certificates that the endpoint's certificate is verified against,
	// instead of the system's.
	// +required
	CASecretRef *SecretReference `json:"caSecretRef,omitempty"`
}

// ProviderRateLimit bounds the calls to a provider.
type ProviderRateLimit struct {
	// qps is the number of calls per second that are made over time.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	// +required
	QPS int32 `json:"qps,omitempty"`

	// burst is the number of calls that may be made at once. The default is qps.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	// +optional
	Burst int32 `json:"burst,omitempty"`
}

// ProviderConfigStatus is what was last seen of the provider.
type ProviderConfigStatus struct {
	// conditions tell the state of this object: Ready (endpoint and credentials
	// work), Synced, and, only while true, Reconciling, Stalled (a person must act;
	// the reason is what ReleaseAnnotation may release) and OrphansFound.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation of the spec that this status tells of.
	// It is -1 until the operator has seen the object.
	// +kubebuilder:default=-1
	// +optional
	ObservedGeneration int64 `json:"observedGeneration"`

	// endpoint is the endpoint that the provider was last accepted at.
	// +kubebuilder:validation:MaxLength=2048
	// +optional
	Endpoint string `json:"endpoint,omitempty"`

	// identity is the provider's own name for the account or installation behind
	// the endpoint, if it tells one.
	// +kubebuilder:validation:MaxLength=256
	// +optional
	Identity string `json:"identity,omitempty"`

	// formerIdentities are identities that a release declared to be superseded:
	// VMs that were made under them count as this provider's.
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MaxLength=256
	// +listType=set
	// +optional
	FormerIdentities []string `json:"formerIdentities,omitempty"`

	// capabilities are the optional parts of the contract that the provider
	// offers: idempotency, list, resize, owner.
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=64
	// +listType=set
	// +optional
	Capabilities []string `json:"capabilities,omitempty"`

	// virtualMachines is the number of VirtualMachines that refer to this object.
	// +kubebuilder:default=0
	// +optional
	VirtualMachines int32 `json:"virtualMachines"`

	// releasedAt is when a mass disappearance was last released: VMs that
	// vanished before are made again.
	// +optional
	ReleasedAt *metav1.Time `json:"releasedAt,omitempty"`

	// orphans is what the deletion of orphans rests on. It is there only while
	// spec.orphans.policy is Delete.
	// +optional
	Orphans *ProviderOrphansStatus `json:"orphans,omitempty"`

	// retained are the VirtualMachines that were deleted and whose VM was left at the
	// provider: what carries their labels is no orphan. While the list is full, no
	// orphan is deleted.
	// +kubebuilder:validation:MaxItems=500
	// +listType=map
	// +listMapKey=uid
	// +optional
	Retained []RetainedVirtualMachine `json:"retained,omitempty"`
}

// MaxRetained is the bound of status.retained.
const MaxRetained = 500

// ProviderOrphansStatus is what the deletion of orphans rests on.
type ProviderOrphansStatus struct {
	// lookedAt is when the operator last looked after this ProviderConfig's orphans.
	// After a long break it asks before it deletes.
	// +optional
	LookedAt metav1.Time `json:"lookedAt,omitzero"`

	// doubtedAt is since when it is in doubt that deleting orphans is right: there was
	// a long break, or there are very many. Nothing is deleted until a person
	// annotates this object with compute.example.com/confirm-orphan-deletion and this
	// value.
	// +optional
	DoubtedAt *metav1.Time `json:"doubtedAt,omitempty"`
}

// RetainedVirtualMachine is a VirtualMachine that was deleted without its VM.
type RetainedVirtualMachine struct {
	// uid of the VirtualMachine, as the labels of its VM tell it.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +required
	UID string `json:"uid,omitempty"`

	// name of the VirtualMachine.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Name string `json:"name,omitempty"`

	// id is the provider's name for the VM, if it is known.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +optional
	ID string `json:"id,omitempty"`
}

// ProviderConfig is an external provider of VMs: how to reach it, and what it
// can do.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=pcfg,categories=vmoperator
// +kubebuilder:printcolumn:name="Endpoint",type=string,JSONPath=`.spec.endpoint`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="VMs",type=integer,JSONPath=`.status.virtualMachines`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Identity",type=string,priority=1,JSONPath=`.status.identity`
// +kubebuilder:printcolumn:name="Capabilities",type=string,priority=1,JSONPath=`.status.capabilities`
type ProviderConfig struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is how to reach the provider.
	// +required
	Spec ProviderConfigSpec `json:"spec,omitzero"`

	// status is what was last seen of the provider.
	// +kubebuilder:default={}
	// +optional
	Status ProviderConfigStatus `json:"status,omitzero"`
}

// ProviderConfigList is a list of ProviderConfigs.
//
// +kubebuilder:object:root=true
type ProviderConfigList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []ProviderConfig `json:"items"`
}
