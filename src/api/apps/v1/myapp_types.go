package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// MyAppSpec is the application that the user wants.
type MyAppSpec struct {
	// image is what the container runs.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self.matches('^[^[:space:]]+$')",message="image may not hold white space, for example registry.example.com/shop:1.2.0"
	// +required
	Image string `json:"image,omitempty"`

	// replicas is the number of Pods; 0 stops them all. While an AppAutoscaler is for
	// the Deployment, that decides, and this number is not looked at.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:default=1
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// ports are the ports that the application listens on. With any, there is a
	// Service of this object's name that leads to them.
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:XValidation:rule="self.all(p, self.filter(q, q.port == p.port && q.protocol == p.protocol).size() == 1)",message="two ports may not have the same port and protocol"
	// +listType=map
	// +listMapKey=name
	// +optional
	Ports []MyAppPort `json:"ports,omitempty"`

	// env are the environment variables of the container.
	// +kubebuilder:validation:MaxItems=256
	// +listType=map
	// +listMapKey=name
	// +optional
	Env []MyAppEnvVar `json:"env,omitempty"`

	// resources are what each Pod asks for, and the most that it gets.
	// +optional
	Resources *MyAppResources `json:"resources,omitempty"`

	// probes say how to find out whether the container works.
	// +optional
	Probes *MyAppProbes `json:"probes,omitempty"`

	// securityContext says where the container needs more than the restricted profile
	// that it runs with.
	// +optional
	SecurityContext *MyAppSecurityContext `json:"securityContext,omitempty"`
}

// MyAppStatus is what was last seen of the Deployment.
type MyAppStatus struct {
	// conditions tell the state of this object: Ready (all Pods run what is declared
	// and are available), Available and Progressing (as the Deployment says), Synced
	// (Deployment and Service are as declared), and, only while true, Reconciling
	// (work goes on), Stalled (a person must act) and Contended (somebody else changes
	// the Deployment again and again).
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation of the spec that this status tells of.
	// It is -1 until the operator has seen the object.
	// +kubebuilder:default=-1
	// +optional
	ObservedGeneration int64 `json:"observedGeneration"`

	// replicas is the number of Pods that there are.
	// +kubebuilder:default=0
	// +optional
	Replicas int32 `json:"replicas"`

	// updatedReplicas is the number of Pods that run what is declared.
	// +kubebuilder:default=0
	// +optional
	UpdatedReplicas int32 `json:"updatedReplicas"`

	// readyReplicas is the number of Pods whose readiness probe succeeds.
	// +kubebuilder:default=0
	// +optional
	ReadyReplicas int32 `json:"readyReplicas"`

	// availableReplicas is the number of Pods that have been ready for long enough.
	// +kubebuilder:default=0
	// +optional
	AvailableReplicas int32 `json:"availableReplicas"`

	// selector selects the Pods, for a HorizontalPodAutoscaler that scales this
	// object.
	// +kubebuilder:validation:MaxLength=256
	// +optional
	Selector string `json:"selector,omitempty"`
}

// MyApp is an application: a Deployment that is hardened, and, with ports, a
// Service that leads to it.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:resource:shortName=mya,categories=vmoperator
// +kubebuilder:validation:XValidation:rule="self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$') && self.metadata.name.size() <= 63",message="the name of a MyApp is that of its Service: at most 63 lower case letters, digits and '-', a letter first"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Desired",type=integer,JSONPath=`.spec.replicas`
// +kubebuilder:printcolumn:name="Replicas",type=integer,JSONPath=`.status.replicas`
// +kubebuilder:printcolumn:name="Available",type=integer,JSONPath=`.status.availableReplicas`
// +kubebuilder:printcolumn:name="Image",type=string,JSONPath=`.spec.image`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Synced",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Synced")].status`
// +kubebuilder:printcolumn:name="Progressing",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Progressing")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
type MyApp struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is the application that the user wants.
	// +required
	Spec MyAppSpec `json:"spec,omitzero"`

	// status is what was last seen of the Deployment.
	// +kubebuilder:default={}
	// +optional
	Status MyAppStatus `json:"status,omitzero"`
}

// MyAppList is a list of MyApps.
//
// +kubebuilder:object:root=true
type MyAppList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []MyApp `json:"items"`
}
