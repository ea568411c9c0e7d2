package myapp

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	computev1 "github.com/example/vmoperator/src/api/compute/v1"
)

const (
	// tmpVolume is the one place that a container may write to, at tmpPath.
	tmpVolume = "tmp"
	tmpPath   = "/tmp"
)

// childMeta is what Deployment and Service have in common. blockOwnerDeletion is
// false: setting it would need more rights.
func childMeta(app *exampleappsv1.MyApp) metav1.ObjectMeta {
	labels := podLabels(app)
	labels[computev1.WatchedLabel] = computev1.WatchedLabelValue
	return metav1.ObjectMeta{
		Namespace: app.Namespace,
		Name:      app.Name,
		Labels:    labels,
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion: exampleappsv1.GroupVersion.String(),
			Kind:       "MyApp",
			Name:       app.Name,
			UID:        app.UID,
			Controller: new(true),
		}},
	}
}

// podLabels are what Pods are selected by.
func podLabels(app *exampleappsv1.MyApp) map[string]string {
	return map[string]string{exampleappsv1.MyAppLabel: app.Name}
}

// desiredDeployment is the Deployment as declared. Its container has the API
// server's defaults written out: all of a container is ours, so that what differs
// from this is somebody else's doing. While somebody else scales it, it has no
// number of replicas.
func desiredDeployment(app *exampleappsv1.MyApp, scaledByOther bool) *appsv1.Deployment {
	container := desiredContainer(app)
	pod := corev1.PodSpec{
		Containers:                   []corev1.Container{container},
		AutomountServiceAccountToken: new(false),
	}
	if *container.SecurityContext.ReadOnlyRootFilesystem {
		pod.Volumes = []corev1.Volume{{Name: tmpVolume, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
	}
	deployment := &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: appsv1.SchemeGroupVersion.String(), Kind: "Deployment"},
		ObjectMeta: childMeta(app),
		Spec: appsv1.DeploymentSpec{
			Replicas: new(replicas(app)),
			Selector: &metav1.LabelSelector{MatchLabels: podLabels(app)},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: podLabels(app)}, Spec: pod},
		},
	}
	if scaledByOther {
		deployment.Spec.Replicas = nil
	}
	return deployment
}

func replicas(app *exampleappsv1.MyApp) int32 {
	if app.Spec.Replicas == nil {
		return 1
	}
	return *app.Spec.Replicas
}

func desiredContainer(app *exampleappsv1.MyApp) corev1.Container {
	container := corev1.Container{
		Name:                     app.Name,
		Image:                    app.Spec.Image,
		ImagePullPolicy:          pullPolicy(app.Spec.Image),
		Ports:                    containerPorts(app.Spec.Ports),
		Env:                      variables(app.Spec.Env),
		SecurityContext:          securityContext(app.Spec.SecurityContext),
		TerminationMessagePath:   corev1.TerminationMessagePathDefault,
		TerminationMessagePolicy: corev1.TerminationMessageReadFile,
	}
	if resources := app.Spec.Resources; resources != nil {
		container.Resources = corev1.ResourceRequirements{Requests: amounts(resources.Requests), Limits: amounts(resources.Limits)}
	}
	if probes := app.Spec.Probes; probes != nil {
		container.StartupProbe, container.ReadinessProbe, container.LivenessProbe = probe(probes.Startup), probe(probes.Readiness), probe(probes.Liveness)
	}
	if *container.SecurityContext.ReadOnlyRootFilesystem {
		container.VolumeMounts = []corev1.VolumeMount{{Name: tmpVolume, MountPath: tmpPath}}
	}
	return container
}

// pullPolicy is Kubernetes' default: a tag that moves is pulled each time.
func pullPolicy(image string) corev1.PullPolicy {
	if strings.Contains(image, "@") {
		return corev1.PullIfNotPresent
	}
	_, tag, tagged := strings.Cut(image[strings.LastIndex(image, "/")+1:], ":")
	if !tagged || tag == "latest" {
		return corev1.PullAlways
	}
	return corev1.PullIfNotPresent
}

// securityContext is the restricted profile of the Pod Security Standards, with a
// root file system that cannot be written.
func securityContext(asked *exampleappsv1.MyAppSecurityContext) *corev1.SecurityContext {
	context := &corev1.SecurityContext{
		AllowPrivilegeEscalation: new(false),
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		ReadOnlyRootFilesystem:   new(true),
		RunAsNonRoot:             new(true),
		SeccompProfile:           &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
	if asked != nil {
		context.RunAsUser = asked.RunAsUser
		if asked.ReadOnlyRootFilesystem != nil {
			context.ReadOnlyRootFilesystem = new(*asked.ReadOnlyRootFilesystem)
		}
	}
	return context
}

// containerPorts are the ports that the Service leads to, each once.
func containerPorts(ports []exampleappsv1.MyAppPort) []corev1.ContainerPort {
	type listener struct {
		port     int32
		protocol corev1.Protocol
	}
	var result []corev1.ContainerPort
	seen := map[listener]bool{}
	for _, port := range ports {
		l := listener{targetPort(port), protocol(port)}
		if !seen[l] {
			seen[l] = true
			result = append(result, corev1.ContainerPort{Name: port.Name, ContainerPort: l.port, Protocol: l.protocol})
		}
	}
	return result
}

func targetPort(port exampleappsv1.MyAppPort) int32 {
	if port.TargetPort != 0 {
		return port.TargetPort
	}
	return port.Port
}

func protocol(port exampleappsv1.MyAppPort) corev1.Protocol {
	if port.Protocol != "" {
		return corev1.Protocol(port.Protocol)
	}
	return corev1.ProtocolTCP
}

func variables(env []exampleappsv1.MyAppEnvVar) []corev1.EnvVar {
	if len(env) == 0 {
		return nil
	}
	result := make([]corev1.EnvVar, 0, len(env))
	for _, variable := range env {
		v := corev1.EnvVar{Name: variable.Name}
		if variable.Value != nil {
			v.Value = *variable.Value
		}
		if from := variable.ValueFrom; from != nil {
			v.ValueFrom = source(from)
		}
		result = append(result, v)
	}
	return result
}

func source(from *exampleappsv1.MyAppEnvVarSource) *corev1.EnvVarSource {
	switch {
	case from.SecretKeyRef != nil:
		ref := from.SecretKeyRef
		return &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: ref.Name}, Key: ref.Key}}
	case from.ConfigMapKeyRef != nil:
		ref := from.ConfigMapKeyRef
		return &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: ref.Name}, Key: ref.Key}}
	case from.FieldRef != nil:
		return &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: from.FieldRef.FieldPath}}
	}
	return nil
}

func amounts(list *exampleappsv1.MyAppResourceList) corev1.ResourceList {
	if list == nil {
		return nil
	}
	result := corev1.ResourceList{}
	for name, amount := range map[corev1.ResourceName]*resource.Quantity{corev1.ResourceCPU: list.CPU, corev1.ResourceMemory: list.Memory} {
		if amount != nil {
			result[name] = amount.DeepCopy()
		}
	}
	return result
}

func probe(asked *exampleappsv1.MyAppProbe) *corev1.Probe {
	if asked == nil {
		return nil
	}
	result := &corev1.Probe{
		PeriodSeconds: asked.PeriodSeconds, TimeoutSeconds: asked.TimeoutSeconds, FailureThreshold: asked.FailureThreshold, SuccessThreshold: 1,
	}
	if asked.InitialDelaySeconds != nil {
		result.InitialDelaySeconds = *asked.InitialDelaySeconds
	}
	switch {
	case asked.HTTPGet != nil:
		get := asked.HTTPGet
		result.HTTPGet = &corev1.HTTPGetAction{Path: get.Path, Port: intstr.FromInt32(get.Port), Scheme: corev1.URIScheme(get.Scheme)}
	case asked.TCPSocket != nil:
		result.TCPSocket = &corev1.TCPSocketAction{Port: intstr.FromInt32(asked.TCPSocket.Port)}
	case asked.Exec != nil:
		result.Exec = &corev1.ExecAction{Command: asked.Exec.Command}
	}
	return result
}

// desiredService is the Service as declared; nil without ports. Its type is for
// others to choose.
func desiredService(app *exampleappsv1.MyApp) *corev1.Service {
	if len(app.Spec.Ports) == 0 {
		return nil
	}
	service := &corev1.Service{
		TypeMeta:   metav1.TypeMeta{APIVersion: corev1.SchemeGroupVersion.String(), Kind: "Service"},
		ObjectMeta: childMeta(app),
		Spec:       corev1.ServiceSpec{Selector: podLabels(app)},
	}
	for _, port := range app.Spec.Ports {
		service.Spec.Ports = append(service.Spec.Ports, corev1.ServicePort{
			Name: port.Name, Protocol: protocol(port), Port: port.Port, TargetPort: intstr.FromInt32(targetPort(port)),
		})
	}
	return service
}
