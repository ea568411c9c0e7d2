package v1

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AppAutoscalerState says in one word how an AppAutoscaler and its Deployment
// stand to each other.
// +kubebuilder:validation:Enum=Aligned;Reconciling;Autoscaling;Scheduled;Paused;Contended;Conflict;Failed
type AppAutoscalerState string

const (
	// StateAligned means that the Deployment is as declared, and its Pods are
	// available.
	StateAligned AppAutoscalerState = "Aligned"
	// StateReconciling means that work goes on, or Pods are not available.
	StateReconciling AppAutoscalerState = "Reconciling"
	// StateAutoscaling means the same, but that a HorizontalPodAutoscaler sets the
	// number of replicas.
	StateAutoscaling AppAutoscalerState = "Autoscaling"
	// StateScheduled means the same, but that a schedule sets the number of replicas, or
	// the bounds of a HorizontalPodAutoscaler.
	StateScheduled AppAutoscalerState = "Scheduled"
	// StatePaused means that PausedAnnotation is set.
	StatePaused AppAutoscalerState = "Paused"
	// StateContended means that somebody else sets a field again and again.
	StateContended AppAutoscalerState = "Contended"
	// StateConflict means that the Deployment is somebody else's to manage.
	StateConflict AppAutoscalerState = "Conflict"
	// StateFailed means that the operator cannot go on.
	StateFailed AppAutoscalerState = "Failed"
)

// AppAutoscalerStates are the states that an AppAutoscaler can be in.
func AppAutoscalerStates() []AppAutoscalerState {
	return []AppAutoscalerState{
		StateAligned, StateReconciling, StateAutoscaling, StateScheduled, StatePaused, StateContended, StateConflict, StateFailed,
	}
}

// AppAutoscalerSpec is the Deployment that the user wants.
// +kubebuilder:validation:XValidation:rule="has(self.maxReplicas) || !(has(self.minReplicas) || has(self.targetCPUUtilization) || has(self.targetMemoryUtilization) || has(self.behavior))",message="minReplicas, targetCPUUtilization, targetMemoryUtilization and behavior need maxReplicas"
// +kubebuilder:validation:XValidation:rule="!has(self.minReplicas) || !has(self.maxReplicas) || self.minReplicas <= self.maxReplicas",message="minReplicas may not exceed maxReplicas"
// +kubebuilder:validation:XValidation:rule="!has(self.maxReplicas) || self.replicas > 0",message="replicas must be at least 1 with maxReplicas: a HorizontalPodAutoscaler leaves a Deployment alone that has none"
// +kubebuilder:validation:XValidation:rule="!has(self.schedules) || self.schedules.all(s, has(s.replicas) != has(self.maxReplicas))",message="with maxReplicas a schedule sets minReplicas or maxReplicas, and without it replicas"
type AppAutoscalerSpec struct {
	// deploymentName is the name of the Deployment, in the same namespace. One that
	// does not exist is created, and deleted with this object; one that does is
	// managed, and left as it is when this object is deleted. It cannot be changed.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",message="deploymentName must be the name of a Deployment: lower case letters, digits, '-' and '.', for example order-service"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="deploymentName is immutable: delete this AppAutoscaler and create another"
	// +required
	DeploymentName string `json:"deploymentName,omitempty"`

	// containerName is the name of the container that image is for. The default is
	// the container that is named like the Deployment, or else the only one.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="containerName must be the name of a container: lower case letters, digits and '-', for example order-service"
	// +optional
	ContainerName string `json:"containerName,omitempty"`

	// replicas is the number of Pods; 0 stops them all. Another number in the
	// Deployment is put back to this one. While a window of schedules is open, its
	// number counts instead. With maxReplicas, it is only the number that a new
	// Deployment begins with.
	// +kubebuilder:validation:Minimum=0
	// +required
	Replicas *int32 `json:"replicas,omitempty"`

	// image is what the container runs. Another image in the Deployment is put back
	// to this one. It is needed to create a Deployment; without it, the image of one
	// that exists is not looked at.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self.matches('^[^[:space:]]+$')",message="image may not hold white space, for example registry.example.com/order-service:1.2.0"
	// +optional
	Image string `json:"image,omitempty"`

	// minReplicas is the least number of Pods that the HorizontalPodAutoscaler may set.
	// The default is 1.
	// +kubebuilder:validation:Minimum=1
	// +optional
	MinReplicas *int32 `json:"minReplicas,omitempty"`

	// maxReplicas hands the number of Pods over to a HorizontalPodAutoscaler of this
	// object's name, and is the greatest number that it may set. Without it, there is
	// none, and replicas counts.
	// +kubebuilder:validation:Minimum=1
	// +optional
	MaxReplicas *int32 `json:"maxReplicas,omitempty"`

	// targetCPUUtilization is the average CPU time that the Pods should use, in percent
	// of what they request. The default is 80 if there is no targetMemoryUtilization
	// either.
	// +kubebuilder:validation:Minimum=1
	// +optional
	TargetCPUUtilization *int32 `json:"targetCPUUtilization,omitempty"`

	// targetMemoryUtilization is the average memory that the Pods should use, in
	// percent of what they request.
	// +kubebuilder:validation:Minimum=1
	// +optional
	TargetMemoryUtilization *int32 `json:"targetMemoryUtilization,omitempty"`

	// behavior is how fast the HorizontalPodAutoscaler scales up and down, as in
	// autoscaling/v2.
	// +optional
	Behavior *autoscalingv2.HorizontalPodAutoscalerBehavior `json:"behavior,omitempty"`

	// schedules are windows of time in which other numbers of Pods count, as for peak
	// hours.
	// +kubebuilder:validation:MaxItems=16
	// +listType=map
	// +listMapKey=name
	// +optional
	Schedules []AppAutoscalerSchedule `json:"schedules,omitempty"`
}

// AppAutoscalerStatus is what was last seen of the Deployment.
type AppAutoscalerStatus struct {
	// conditions tell the state of this object: Ready (all Pods run what is declared
	// and are available), Synced (the Deployment is as declared), and, only while
	// true, Reconciling (work goes on), Stalled (a person must act), Contended
	// (somebody else sets a field again and again) and ScalingInactive (the
	// HorizontalPodAutoscaler cannot scale).
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation of the spec that this status tells of.
	// It is -1 until the operator has seen the object.
	// +kubebuilder:default=-1
	// +optional
	ObservedGeneration int64 `json:"observedGeneration"`

	// state says in one word how this object and its Deployment stand to each other.
	// +optional
	State AppAutoscalerState `json:"state,omitempty"`

	// replicas is the number of Pods that the Deployment has.
	// +kubebuilder:default=0
	// +optional
	Replicas int32 `json:"replicas"`

	// selector selects the Deployment's Pods, for a HorizontalPodAutoscaler that
	// scales this object.
	// +kubebuilder:validation:MaxLength=4096
	// +optional
	Selector string `json:"selector,omitempty"`

	// schedule is what the schedules make of the numbers of Pods. It is absent without
	// schedules, and while they do not count.
	// +optional
	Schedule *AppAutoscalerScheduleStatus `json:"schedule,omitempty"`
}

// AppAutoscaler keeps a Deployment's number of replicas and its image as
// declared, and says who changed them; or has a HorizontalPodAutoscaler set the
// number of replicas.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:resource:shortName=aas,categories=vmoperator
// +kubebuilder:printcolumn:name="Deployment",type=string,JSONPath=`.spec.deploymentName`
// +kubebuilder:printcolumn:name="Desired",type=integer,JSONPath=`.spec.replicas`
// +kubebuilder:printcolumn:name="Replicas",type=integer,JSONPath=`.status.replicas`
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.state`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Synced",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Synced")].status`
// +kubebuilder:printcolumn:name="Min",type=integer,priority=1,JSONPath=`.spec.minReplicas`
// +kubebuilder:printcolumn:name="Max",type=integer,priority=1,JSONPath=`.spec.maxReplicas`
// +kubebuilder:printcolumn:name="Schedule",type=string,priority=1,JSONPath=`.status.schedule.inForce`
// +kubebuilder:printcolumn:name="Image",type=string,priority=1,JSONPath=`.spec.image`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
type AppAutoscaler struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is the Deployment that the user wants.
	// +required
	Spec AppAutoscalerSpec `json:"spec,omitzero"`

	// status is what was last seen of the Deployment.
	// +kubebuilder:default={}
	// +optional
	Status AppAutoscalerStatus `json:"status,omitzero"`
}

// AppAutoscalerList is a list of AppAutoscalers.
//
// +kubebuilder:object:root=true
type AppAutoscalerList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []AppAutoscaler `json:"items"`
}
