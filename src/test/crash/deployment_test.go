package crash

import (
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/vmoperator/src/controller/labeller"
)

// shop is the name of each Deployment, and of its MyApp.
const shop = "shop"

// What people and Kubernetes do to a Deployment.

// sequence is steps after steps.
func sequence(parts ...any) []step {
	var all []step
	for _, part := range parts {
		switch part := part.(type) {
		case []step:
			all = append(all, part...)
		case step:
			all = append(all, part)
		case func(*world) error:
			all = append(all, part)
		default:
			panic(fmt.Sprintf("%T is no step", part))
		}
	}
	return all
}

// deploy makes a Deployment that is nobody's.
func deploy(replicas int32, image string, more ...corev1.Container) step {
	return func(w *world) error {
		labels := map[string]string{"app": shop}
		containers := append([]corev1.Container{{Name: shop, Image: image}}, more...)
		return kube.Create(w.t.Context(), &appsv1.Deployment{
			ObjectMeta: w.meta(shop),
			Spec: appsv1.DeploymentSpec{
				Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
				Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: containers}},
			},
		}, client.FieldOwner("kubectl-create"))
	}
}

// scale is kubectl scale.
func scale(replicas int32) step { return scaleAs("kubectl", replicas) }

func scaleAs(manager string, replicas int32) step {
	return func(w *world) error {
		body := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: replicas}}
		return kube.SubResource("scale").Update(w.t.Context(), &appsv1.Deployment{ObjectMeta: w.meta(shop)},
			client.WithSubResourceBody(body), client.FieldOwner(manager))
	}
}

// setImage is kubectl set image.
func setImage(image string) step {
	return editDeployment("kubectl-set", func(deployment *appsv1.Deployment) {
		for i := range deployment.Spec.Template.Spec.Containers {
			if container := &deployment.Spec.Template.Spec.Containers[i]; container.Name == shop {
				container.Image = image
			}
		}
	})
}

// spoil changes all that a MyApp declares, and adds to it, in one edit.
var spoil = editDeployment("kubectl-edit", func(deployment *appsv1.Deployment) {
	deployment.Spec.Replicas = new(int32(2))
	pod := &deployment.Spec.Template.Spec
	pod.Containers[0].Image = "shop:9"
	pod.Containers = append(pod.Containers, sidecar)
})

var unlabel = editDeployment("kubectl-label", func(deployment *appsv1.Deployment) {
	deployment.Labels[labeller.DefaultKey] = "somebody"
})

func editDeployment(manager string, change func(*appsv1.Deployment)) step {
	return func(w *world) error {
		deployment := &appsv1.Deployment{}
		if err := kube.Get(w.t.Context(), w.named(shop), deployment); err != nil {
			return err
		}
		before := deployment.DeepCopy()
		change(deployment)
		return kube.Patch(w.t.Context(), deployment, client.StrategicMergeFrom(before), client.FieldOwner(manager))
	}
}

func deleteDeployment(w *world) error {
	return kube.Delete(w.t.Context(), &appsv1.Deployment{ObjectMeta: w.meta(shop)})
}

// rolled is the deployment controller, and kubelets, once all Pods run what is
// declared.
func rolled(w *world) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		deployment := &appsv1.Deployment{}
		if err := kube.Get(w.t.Context(), w.named(shop), deployment); err != nil {
			return err
		}
		replicas := *deployment.Spec.Replicas
		deployment.Status = appsv1.DeploymentStatus{
			ObservedGeneration: deployment.Generation,
			Replicas:           replicas, UpdatedReplicas: replicas, ReadyReplicas: replicas, AvailableReplicas: replicas,
			Conditions: []appsv1.DeploymentCondition{
				{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue, Reason: "MinimumReplicasAvailable"},
				{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "NewReplicaSetAvailable"},
			},
		}
		return kube.Status().Update(w.t.Context(), deployment, client.FieldOwner("kube-controller-manager"))
	})
}

// addPort adds a port to the Service.
func addPort(w *world) error {
	service := &corev1.Service{}
	if err := kube.Get(w.t.Context(), w.named(shop), service); err != nil {
		return err
	}
	before := service.DeepCopy()
	service.Spec.Ports = append(service.Spec.Ports, corev1.ServicePort{Name: "debug", Port: 6060})
	return kube.Patch(w.t.Context(), service, client.MergeFrom(before), client.FieldOwner("kubectl-edit"))
}

// What is waited for.

// shows waits until the Deployment is, as a Chronicle puts it.
func shows(line string) step {
	return untilDeployment(line, func(deployment *appsv1.Deployment) bool { return standOf(deployment).String() == line })
}

var labelled = untilDeployment("the label", func(deployment *appsv1.Deployment) bool {
	return deployment.Labels[labeller.DefaultKey] == labeller.DefaultValue
})

func untilDeployment(what string, state func(*appsv1.Deployment) bool) step {
	return func(w *world) error {
		return w.await("the Deployment: "+what, func(ctx context.Context) (bool, error) {
			deployment := &appsv1.Deployment{}
			err := kube.Get(ctx, w.named(shop), deployment)
			return err == nil && state(deployment), client.IgnoreNotFound(err)
		})
	}
}

// created waits for the Deployment to be asked for, whatever becomes of that.
func created(w *world) error {
	return w.await("a creation", func(context.Context) (bool, error) {
		return slices.ContainsFunc(w.saboteur.recorded(), func(effect Effect) bool {
			return strings.HasPrefix(effect.Object, "deployments/")
		}), nil
	})
}

func deploymentGone(w *world) error {
	return w.awaitGone(&appsv1.Deployment{ObjectMeta: w.meta(shop)})
}

// served waits until the Service has a number of ports; none means that there is no
// Service.
func served(ports int) step {
	return func(w *world) error {
		return w.await("the Service's ports", func(ctx context.Context) (bool, error) {
			service := &corev1.Service{}
			err := kube.Get(ctx, w.named(shop), service)
			if apierrors.IsNotFound(err) {
				return ports == 0, nil
			}
			return err == nil && len(service.Spec.Ports) == ports, err
		})
	}
}
