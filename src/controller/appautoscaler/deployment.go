package appautoscaler

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
)

const (
	kind           = "AppAutoscaler"
	deploymentKind = "Deployment"
	// appLabel selects the Pods, and is what "kubectl create deployment" uses.
	appLabel = "app"
	// maxLabel is how long a label's value and a container's name may be.
	maxLabel   = 63
	hashLength = 8
)

// ownedBy makes an object go with its AppAutoscaler. blockOwnerDeletion is false:
// setting it would need more rights.
func ownedBy(autoscaler *exampleappsv1.AppAutoscaler) metav1.OwnerReference {
	return metav1.OwnerReference{
		APIVersion: exampleappsv1.GroupVersion.String(),
		Kind:       kind,
		Name:       autoscaler.Name,
		UID:        autoscaler.UID,
		Controller: new(true),
	}
}

// newDeployment is the Deployment that is created where there is none. Everything
// but replicas and image is for others to change.
func newDeployment(autoscaler *exampleappsv1.AppAutoscaler, replicas int32) *appsv1.Deployment {
	labels := map[string]string{appLabel: label(autoscaler.Spec.DeploymentName)}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       autoscaler.Namespace,
			Name:            autoscaler.Spec.DeploymentName,
			Labels:          labels,
			OwnerReferences: []metav1.OwnerReference{ownedBy(autoscaler)},
		},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(replicas),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{
					Name:  containerName(autoscaler),
					Image: autoscaler.Spec.Image,
				}}},
			},
		},
	}
}

// containerName is the name of the one container of a new Deployment.
func containerName(autoscaler *exampleappsv1.AppAutoscaler) string {
	if name := autoscaler.Spec.ContainerName; name != "" {
		return name
	}
	return strings.ReplaceAll(label(autoscaler.Spec.DeploymentName), ".", "-")
}

// label is a Deployment's name if that can be a label's value, else a prefix of it
// and a hash.
func label(name string) string {
	if len(name) <= maxLabel {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return strings.TrimRight(name[:maxLabel-hashLength-1], "-.") + "-" + hex.EncodeToString(sum[:])[:hashLength]
}
