package v1

import (
	"k8s.io/apimachinery/pkg/api/resource"
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

// MyAppPort is a port of the Service, and the container's port that it leads to.
type MyAppPort struct {
	// name of the port, as in http: lower case letters, digits and '-'.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=15
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]+(-[a-z0-9]+)*$') && self.matches('[a-z]')",message="the name of a port has lower case letters, digits and single '-', and at least one letter, for example http"
	// +required
	Name string `json:"name,omitempty"`

	// port of the Service.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	// +required
	Port int32 `json:"port,omitempty"`

	// targetPort is the container's port. The default is port.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	// +optional
	TargetPort int32 `json:"targetPort,omitempty"`

	// protocol of the port.
	// +kubebuilder:validation:Enum=TCP;UDP;SCTP
	// +kubebuilder:default=TCP
	// +optional
	Protocol string `json:"protocol,omitempty"`
}

// MyAppEnvVar is an environment variable: a value, or a reference to one.
// +kubebuilder:validation:XValidation:rule="!(has(self.value) && has(self.valueFrom))",message="an environment variable has a value or a valueFrom, not both"
type MyAppEnvVar struct {
	// name of the variable.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[-._a-zA-Z][-._a-zA-Z0-9]*$') && self != '.' && !self.startsWith('..')",message="the name of an environment variable has letters, digits, '_', '-' and '.', and no digit at its beginning"
	// +required
	Name string `json:"name,omitempty"`

	// value is the variable's value. $(NAME) stands for a variable before it, and
	// $$ for a dollar sign. Secrets belong into a Secret, and a valueFrom.
	// +kubebuilder:validation:MaxLength=32768
	// +optional
	Value *string `json:"value,omitempty"`

	// valueFrom says where the value is.
	// +optional
	ValueFrom *MyAppEnvVarSource `json:"valueFrom,omitempty"`
}

// MyAppEnvVarSource is where a value is: exactly one of its fields is set.
// +kubebuilder:validation:XValidation:rule="[has(self.secretKeyRef), has(self.configMapKeyRef), has(self.fieldRef)].filter(set, set).size() == 1",message="a valueFrom has exactly one of secretKeyRef, configMapKeyRef and fieldRef"
type MyAppEnvVarSource struct {
	// secretKeyRef is a key of a Secret in the same namespace.
	// +optional
	SecretKeyRef *MyAppKeyReference `json:"secretKeyRef,omitempty"`

	// configMapKeyRef is a key of a ConfigMap in the same namespace.
	// +optional
	ConfigMapKeyRef *MyAppKeyReference `json:"configMapKeyRef,omitempty"`

	// fieldRef is a field of the Pod.
	// +optional
	FieldRef *MyAppFieldReference `json:"fieldRef,omitempty"`
}

// MyAppKeyReference is a key of a Secret or a ConfigMap.
type MyAppKeyReference struct {
	// name of the object.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",message="name must be that of a Secret or a ConfigMap: lower case letters, digits, '-' and '.'"
	// +required
	Name string `json:"name,omitempty"`

	// key in the object's data.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[-._a-zA-Z0-9]+$')",message="key has letters, digits, '-', '_' and '.'"
	// +required
	Key string `json:"key,omitempty"`
}

// MyAppFieldReference is a field of the Pod that the container runs in.
type MyAppFieldReference struct {
	// fieldPath is the path of the field.
	// +kubebuilder:validation:Enum=metadata.name;metadata.namespace;metadata.uid;spec.nodeName;status.hostIP;status.podIP;status.podIPs
	// +required
	FieldPath string `json:"fieldPath,omitempty"`
}

// The rules never hand an exponent to quantity(): parsing 1e999999999 keeps the
// apiserver busy for minutes.

// MyAppResources are what each Pod asks for, and the most that it gets.
// +kubebuilder:validation:XValidation:rule="!has(self.requests) || !has(self.limits) || !has(self.requests.cpu) || !has(self.limits.cpu) || !string(self.requests.cpu).matches('^([0-9]+m|[0-9]+([.][0-9]{1,3})?)$') || !string(self.limits.cpu).matches('^([0-9]+m|[0-9]+([.][0-9]{1,3})?)$') || !quantity(string(self.requests.cpu)).isGreaterThan(quantity(string(self.limits.cpu)))",message="requests.cpu may not be more than limits.cpu"
// +kubebuilder:validation:XValidation:rule="!has(self.requests) || !has(self.limits) || !has(self.requests.memory) || !has(self.limits.memory) || !string(self.requests.memory).matches('^[0-9]+(k|M|G|T|Ki|Mi|Gi|Ti)?$') || !string(self.limits.memory).matches('^[0-9]+(k|M|G|T|Ki|Mi|Gi|Ti)?$') || !quantity(string(self.requests.memory)).isGreaterThan(quantity(string(self.limits.memory)))",message="requests.memory may not be more than limits.memory"
type MyAppResources struct {
	// requests are what a node must have left for a Pod. The default is limits.
	// +optional
	Requests *MyAppResourceList `json:"requests,omitempty"`

	// limits are the most that a Pod gets.
	// +optional
	Limits *MyAppResourceList `json:"limits,omitempty"`
}

// MyAppResourceList is an amount of each resource.
type MyAppResourceList struct {
	// cpu is a number of CPUs, in thousandths at the finest, for example 500m or 2.
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:XValidation:rule="string(self).matches('^([0-9]+m|[0-9]+([.][0-9]{1,3})?)$')",message="cpu must be a number of CPUs or of thousandths of them, for example 500m, 0.5 or 2"
	// +optional
	CPU *resource.Quantity `json:"cpu,omitempty"`

	// memory is an amount of memory in bytes, for example 256Mi or 2Gi.
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:XValidation:rule="string(self).matches('^[0-9]+(k|M|G|T|Ki|Mi|Gi|Ti)?$')",message="memory must be a whole number of bytes with a unit up to Ti, for example 256Mi or 2Gi"
	// +optional
	Memory *resource.Quantity `json:"memory,omitempty"`
}

// MyAppProbes say how to find out whether the container works.
type MyAppProbes struct {
	// startup holds the other probes back until it succeeds, and so lets a slow
	// application start.
	// +optional
	Startup *MyAppProbe `json:"startup,omitempty"`

	// readiness decides whether a Pod counts as available, and gets traffic.
	// +optional
	Readiness *MyAppProbe `json:"readiness,omitempty"`

	// liveness decides whether a container must be started again.
	// +optional
	Liveness *MyAppProbe `json:"liveness,omitempty"`
}

// MyAppProbe is one way to ask the container: exactly one of httpGet, tcpSocket and
// exec is set.
// +kubebuilder:validation:XValidation:rule="[has(self.httpGet), has(self.tcpSocket), has(self.exec)].filter(set, set).size() == 1",message="a probe has exactly one of httpGet, tcpSocket and exec"
type MyAppProbe struct {
	// httpGet succeeds when a request is answered with a status from 200 to 399.
	// +optional
	HTTPGet *MyAppHTTPGet `json:"httpGet,omitempty"`

	// tcpSocket succeeds when a connection is accepted.
	// +optional
	TCPSocket *MyAppTCPSocket `json:"tcpSocket,omitempty"`

	// exec succeeds when a command in the container ends with status 0.
	// +optional
	Exec *MyAppExec `json:"exec,omitempty"`

	// initialDelaySeconds is how long after the container's start the first probe is
	// made.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3600
	// +optional
	InitialDelaySeconds *int32 `json:"initialDelaySeconds,omitempty"`

	// periodSeconds is the time from one probe to the next. The default is 10.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600
	// +kubebuilder:default=10
	// +optional
	PeriodSeconds int32 `json:"periodSeconds,omitempty"`

	// timeoutSeconds is how long an answer may take. The default is 1.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600
	// +kubebuilder:default=1
	// +optional
	TimeoutSeconds int32 `json:"timeoutSeconds,omitempty"`

	// failureThreshold is how many probes in a row must fail to count. The default is
	// 3.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	// +kubebuilder:default=3
	// +optional
	FailureThreshold int32 `json:"failureThreshold,omitempty"`
}

// MyAppHTTPGet is an HTTP request to the container.
type MyAppHTTPGet struct {
	// path of the request.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="self.startsWith('/')",message="path begins with '/', for example /healthz"
	// +kubebuilder:default="/"
	// +optional
	Path string `json:"path,omitempty"`

	// port is the number of the container's port.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	// +required
	Port int32 `json:"port,omitempty"`

	// scheme of the request. A certificate is not verified.
	// +kubebuilder:validation:Enum=HTTP;HTTPS
	// +kubebuilder:default=HTTP
	// +optional
	Scheme string `json:"scheme,omitempty"`
}

// MyAppTCPSocket is a connection to the container.
type MyAppTCPSocket struct {
	// port is the number of the container's port.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	// +required
	Port int32 `json:"port,omitempty"`
}

// MyAppExec is a command that runs in the container.
type MyAppExec struct {
	// command is the executable and its arguments. No shell reads it.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=4096
	// +listType=atomic
	// +required
	Command []string `json:"command,omitempty"`
}

// MyAppSecurityContext says where a container needs more than the restricted
// profile, or must be told what its image does not say.
type MyAppSecurityContext struct {
	// readOnlyRootFilesystem keeps the container from writing anywhere but to /tmp,
	// which is then an empty directory of the Pod. The default is true.
	// +kubebuilder:default=true
	// +optional
	ReadOnlyRootFilesystem *bool `json:"readOnlyRootFilesystem,omitempty"` //nolint:kubeapilinter // It has the name and the type of the Pod's own field.

	// runAsUser is the number of the user that the container runs as, for an image
	// that names its user or none. It cannot be root, 0.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2147483647
	// +optional
	RunAsUser *int64 `json:"runAsUser,omitempty"`
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
