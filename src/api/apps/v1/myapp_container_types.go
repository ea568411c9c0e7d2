package v1

import (
	"k8s.io/apimachinery/pkg/api/resource"
)

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
