package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AppAutoscalerSchedule is a window of time that opens again and again, and the
// number of Pods while it is open, or the bounds of that number.
// +kubebuilder:validation:XValidation:rule="has(self.replicas) != (has(self.minReplicas) || has(self.maxReplicas))",message="a schedule sets replicas, or minReplicas and maxReplicas or one of these"
// +kubebuilder:validation:XValidation:rule="!has(self.minReplicas) || !has(self.maxReplicas) || self.minReplicas <= self.maxReplicas",message="minReplicas of a schedule may not exceed its maxReplicas"
type AppAutoscalerSchedule struct {
	// name of the schedule, as in peak: lower case letters, digits and '-'.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="the name of a schedule has lower case letters, digits and '-', for example peak"
	// +required
	Name string `json:"name,omitempty"`

	// cron says when the window opens: minute, hour, day of month, month and day of
	// week, as in "0 8 * * 1-5", or one of @hourly, @daily, @weekly, @monthly and
	// @yearly. A time that clocks jump over opens the window at the jump, and one that
	// they show twice opens it both times.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="self.matches('^(@(yearly|annually|monthly|weekly|daily|midnight|hourly)|[0-9A-Za-z*/,?-]+( +[0-9A-Za-z*/,?-]+){4})$')",message="cron must be minute, hour, day of month, month and day of week, for example 0 8 * * 1-5, or one of @hourly, @daily, @weekly, @monthly and @yearly; a time zone goes into timeZone"
	// +required
	Cron string `json:"cron,omitempty"`

	// timeZone is the zone of the clock that cron is about: a name of the IANA time
	// zone database, for example Europe/Berlin.
	// +kubebuilder:default=UTC
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)*$') && self != 'Local'",message="timeZone must be a name of the IANA time zone database, for example Europe/Berlin"
	// +optional
	TimeZone string `json:"timeZone,omitempty"`

	// duration is how long the window stays open, in elapsed time, between 1m and 8760h.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]{1,6}([.][0-9]{1,6})?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1m') && duration(self) <= duration('8760h')",message="duration must be between 1m and 8760h"
	// +required
	Duration *metav1.Duration `json:"duration,omitempty"` //nolint:kubeapilinter // users write durations as 10h everywhere in Kubernetes

	// replicas is the number of Pods while the window is open; 0 stops them all. Of
	// several open windows, the highest number counts.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// minReplicas is the least number of Pods that a HorizontalPodAutoscaler may set
	// while the window is open, in place of the spec's minReplicas. Of several open
	// windows, the highest number counts.
	// +kubebuilder:validation:Minimum=1
	// +optional
	MinReplicas *int32 `json:"minReplicas,omitempty"`

	// maxReplicas is the greatest number of Pods that a HorizontalPodAutoscaler may set
	// while the window is open, in place of the spec's maxReplicas. Of several open
	// windows, the highest number counts; one below minReplicas counts as that.
	// +kubebuilder:validation:Minimum=1
	// +optional
	MaxReplicas *int32 `json:"maxReplicas,omitempty"`
}

// AppAutoscalerScheduleStatus is what the schedules make of the numbers of Pods.
type AppAutoscalerScheduleStatus struct {
	// inForce are the names of the schedules that set a number now. Without any, the
	// numbers are those of the spec itself.
	// +kubebuilder:validation:MaxItems=2
	// +kubebuilder:validation:items:MaxLength=63
	// +listType=set
	// +optional
	InForce []string `json:"inForce,omitempty"`

	// replicas is the number of Pods that counts now. It is absent with a
	// HorizontalPodAutoscaler.
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// minReplicas is the bound of a HorizontalPodAutoscaler that counts now.
	// +optional
	MinReplicas *int32 `json:"minReplicas,omitempty"`

	// maxReplicas is the bound of a HorizontalPodAutoscaler that counts now.
	// +optional
	MaxReplicas *int32 `json:"maxReplicas,omitempty"`

	// next is the next change. It is absent if none is known: that of a window that
	// does not close within 400 days, or does not open within five years.
	// +optional
	Next *AppAutoscalerScheduleChange `json:"next,omitempty"`
}

// AppAutoscalerScheduleChange is what the schedules will make of the numbers of
// Pods, and when.
type AppAutoscalerScheduleChange struct {
	// time of the change.
	// +required
	Time *metav1.Time `json:"time,omitempty"`

	// inForce are the names of the schedules that set a number then. Without any, the
	// numbers will be those of the spec itself.
	// +kubebuilder:validation:MaxItems=2
	// +kubebuilder:validation:items:MaxLength=63
	// +listType=set
	// +optional
	InForce []string `json:"inForce,omitempty"`

	// replicas is the number of Pods that will count. It is absent with a
	// HorizontalPodAutoscaler.
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// minReplicas is the bound of a HorizontalPodAutoscaler that will count.
	// +optional
	MinReplicas *int32 `json:"minReplicas,omitempty"`

	// maxReplicas is the bound of a HorizontalPodAutoscaler that will count.
	// +optional
	MaxReplicas *int32 `json:"maxReplicas,omitempty"`
}
