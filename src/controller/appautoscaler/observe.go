package appautoscaler

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	"github.com/example/vmoperator/src/controller/appautoscaler/decide"
	"github.com/example/vmoperator/src/controller/index"
	"github.com/example/vmoperator/src/controller/workload"
)

// observe reads, and only reads. A read that fails is the fault of the pass.
func (r *Reconciler) observe(ctx context.Context, p *pass) decide.State {
	s := decide.State{
		Deleting:  !p.autoscaler.DeletionTimestamp.IsZero(),
		Paused:    p.autoscaler.Annotations[exampleappsv1.PausedAnnotation] == "true",
		Claimed:   r.claimed(ctx, p),
		Refused:   r.refused(p),
		Unplanned: p.plan.invalid != nil,
	}
	s.Deployment = r.deployment(ctx, p)
	s.Fresh = p.fresh
	s.Image = image(p)
	r.readScaler(ctx, p)
	s.Scaler, s.ScalerFresh = p.scalerState(), p.scalerFresh
	if s.Deployment.Exists() {
		s.Replicas, s.Content = p.replicas(), p.content()
		s.Pods = r.pods(ctx, p)
	}
	s.Fault = p.fault != nil
	return s
}

// refused reports whether the Kubernetes API has refused this generation of the spec
// since the last resync.
func (r *Reconciler) refused(p *pass) bool {
	refused := p.seen.refused
	return refused != nil && refused.generation == p.autoscaler.Generation && p.now.Sub(refused.at) < r.Resync*9/10
}

// claimed reports whether an older AppAutoscaler is for the same Deployment.
func (r *Reconciler) claimed(ctx context.Context, p *pass) bool {
	var others exampleappsv1.AppAutoscalerList
	err := r.Client.List(ctx, &others, client.InNamespace(p.autoscaler.Namespace),
		client.MatchingFields{index.DeploymentName: p.autoscaler.Spec.DeploymentName})
	if err != nil {
		p.fault = fmt.Errorf("listing the AppAutoscalers of the Deployment: %w", err)
		return false
	}
	for i := range others.Items {
		if workload.Older(&others.Items[i], p.autoscaler) {
			return true
		}
	}
	return false
}

// deployment reads the Deployment, unless this pass has it already, and says whose
// it is.
func (r *Reconciler) deployment(ctx context.Context, p *pass) decide.Deployment {
	if p.deployment == nil && !p.fresh {
		found := &appsv1.Deployment{}
		err := r.Client.Get(ctx, p.deploymentKey(), found)
		switch {
		case err == nil:
			p.deployment = found.DeepCopy()
		case !apierrors.IsNotFound(err):
			p.fault = fmt.Errorf("reading the Deployment: %w", err)
		}
	}
	return whose(p.autoscaler, p.deployment)
}

func whose(autoscaler *exampleappsv1.AppAutoscaler, deployment *appsv1.Deployment) decide.Deployment {
	if deployment == nil {
		return decide.DeploymentMissing
	}
	controller := metav1.GetControllerOf(deployment)
	switch {
	case controller == nil, isMyApp(controller):
		if deployment.DeletionTimestamp != nil {
			return decide.DeploymentTerminating
		}
		return decide.DeploymentManaged
	case controller.UID != autoscaler.UID:
		return decide.DeploymentForeign
	case deployment.DeletionTimestamp != nil:
		return decide.DeploymentTerminating
	default:
		return decide.DeploymentOwned
	}
}

// isMyApp reports whether a Deployment's controller is a MyApp, which leaves the
// number of replicas to an AppAutoscaler.
func isMyApp(controller *metav1.OwnerReference) bool {
	return isOf(controller.APIVersion, exampleappsv1.GroupVersion.Group) && controller.Kind == "MyApp"
}

// isOf reports whether an apiVersion is one of a group's.
func isOf(apiVersion, group string) bool {
	parsed, err := schema.ParseGroupVersion(apiVersion)
	return err == nil && parsed.Group == group
}

// image says whether the spec's image has a container to go to.
func image(p *pass) decide.Image {
	switch {
	case p.autoscaler.Spec.Image == "":
		return decide.ImageNone
	case p.deployment == nil:
		return decide.ImagePlaced
	}
	if controller := metav1.GetControllerOf(p.deployment); controller != nil && isMyApp(controller) {
		return decide.ImageOfMyApp
	}
	if container(p) != nil {
		return decide.ImagePlaced
	}
	if p.autoscaler.Spec.ContainerName != "" {
		return decide.ImageHomeless
	}
	return decide.ImageAmbiguous
}

// container is the container that the image is for; nil if there is none, or if it
// cannot be told.
func container(p *pass) *corev1.Container {
	name := p.autoscaler.Spec.ContainerName
	containers := p.deployment.Spec.Template.Spec.Containers
	if name == "" && len(containers) == 1 {
		return &containers[0]
	}
	if name == "" {
		name = p.deployment.Name
	}
	for i := range containers {
		if containers[i].Name == name {
			return &containers[i]
		}
	}
	return nil
}

// replicas compares the number of replicas with the one that counts. None does while
// the schedules are not understood. What a HorizontalPodAutoscaler sets is right;
// but it would leave a Deployment alone that has none when it is handed over.
func (p *pass) replicas() decide.Field {
	have := *p.deployment.Spec.Replicas
	if p.plan.invalid != nil {
		return decide.FieldSame
	}
	if p.wanted.scaler != nil {
		return p.field(fieldReplicas, have > 0 || p.scaler != nil)
	}
	return p.field(fieldReplicas, have == p.wanted.replicas)
}

// content compares the container's image with the declared one.
func (p *pass) content() decide.Field {
	c := container(p)
	return p.field(fieldImage, c == nil || p.autoscaler.Spec.Image == "" || c.Image == p.autoscaler.Spec.Image)
}

// field says whether a field that differs may be put back now.
func (p *pass) field(name string, same bool) decide.Field {
	if same {
		return decide.FieldSame
	}
	if p.seen.of(name).Wait(p.now) > 0 {
		return decide.FieldHeld
	}
	return decide.FieldDiffers
}
