// Package v1 holds the apps.example.io/v1 API: workloads inside the cluster.
// AppAutoscaler keeps a Deployment as declared, and MyApp is a Deployment with its
// Service.
//
// +kubebuilder:object:generate=true
// +groupName=apps.example.io
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of every type in this package.
var GroupVersion = schema.GroupVersion{Group: "apps.example.io", Version: "v1"}

var schemeBuilder = runtime.NewSchemeBuilder(func(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion,
		&AppAutoscaler{}, &AppAutoscalerList{},
		&MyApp{}, &MyAppList{},
	)
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
})

// AddToScheme registers this package's types in a scheme.
var AddToScheme = schemeBuilder.AddToScheme
