package appautoscaler

import (
	"cmp"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
)

// defaultCPU is the average CPU time that Pods should use, in percent of what they
// request, where no target is declared.
const defaultCPU int32 = 80

// wanted is how many Pods there should be: replicas, or what a
// HorizontalPodAutoscaler makes of replicas within bounds.
type wanted struct {
	replicas int32
	// scaler is what the HorizontalPodAutoscaler should be; nil for none.
	scaler *autoscalingv2.HorizontalPodAutoscalerSpec
}

// wantedBy is what a spec declares, with the numbers that count.
func wantedBy(autoscaler *exampleappsv1.AppAutoscaler, n numbers) wanted {
	spec := autoscaler.Spec
	w := wanted{replicas: n.replicas}
	if spec.MaxReplicas == nil {
		return w
	}
	w.scaler = &autoscalingv2.HorizontalPodAutoscalerSpec{
		ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{
			APIVersion: appsv1.SchemeGroupVersion.String(), Kind: deploymentKind, Name: spec.DeploymentName,
		},
		MinReplicas: &n.least,
		MaxReplicas: n.most,
		Metrics:     targets(spec),
		Behavior:    spec.Behavior.DeepCopy(),
	}
	return w
}

func targets(spec exampleappsv1.AppAutoscalerSpec) []autoscalingv2.MetricSpec {
	var all []autoscalingv2.MetricSpec
	add := func(resource corev1.ResourceName, utilization *int32) {
		if utilization == nil {
			return
		}
		all = append(all, autoscalingv2.MetricSpec{
			Type: autoscalingv2.ResourceMetricSourceType,
			Resource: &autoscalingv2.ResourceMetricSource{
				Name:   resource,
				Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: new(*utilization)},
			},
		})
	}
	if spec.TargetCPUUtilization == nil && spec.TargetMemoryUtilization == nil {
		add(corev1.ResourceCPU, new(defaultCPU))
	}
	add(corev1.ResourceCPU, spec.TargetCPUUtilization)
	add(corev1.ResourceMemory, spec.TargetMemoryUtilization)
	return all
}

// newScaler is the HorizontalPodAutoscaler that an object has.
func newScaler(autoscaler *exampleappsv1.AppAutoscaler, spec *autoscalingv2.HorizontalPodAutoscalerSpec) *autoscalingv2.HorizontalPodAutoscaler {
	return &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       autoscaler.Namespace,
			Name:            autoscaler.Name,
			OwnerReferences: []metav1.OwnerReference{ownedBy(autoscaler)},
		},
		Spec: *spec.DeepCopy(),
	}
}

// bounds are a HorizontalPodAutoscaler's, for people.
func bounds(spec *autoscalingv2.HorizontalPodAutoscalerSpec) (least, most int32) {
	return *cmp.Or(spec.MinReplicas, new(int32(1))), spec.MaxReplicas
}
