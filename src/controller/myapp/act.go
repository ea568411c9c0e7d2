package myapp

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	"github.com/example/vmoperator/src/controller/happening"
	"github.com/example/vmoperator/src/controller/myapp/decide"
)

// act has the one side effect of a decision.
func (r *Reconciler) act(ctx context.Context, p *pass, d decide.Decision) (err error) {
	switch d.Action {
	case decide.InspectDeployment:
		p.deployment, err = get(ctx, r.APIReader, p.key(), &appsv1.Deployment{})
		p.deploymentFresh = err == nil
		return err
	case decide.InspectService:
		p.service, err = get(ctx, r.APIReader, p.key(), &corev1.Service{})
		p.serviceFresh = err == nil
		return err
	case decide.ApplyDeployment:
		return r.applyDeployment(ctx, p)
	case decide.ApplyService:
		return r.applyService(ctx, p)
	case decide.DeleteService:
		return r.deleteService(ctx, p)
	case decide.None, decide.Wait, decide.Stall:
	}
	return fmt.Errorf("%s is no side effect", d.Action)
}

// applyDeployment makes the Deployment, or puts it right. An apply does not take
// away what others have added to a container, so that has a write of its own.
func (r *Reconciler) applyDeployment(ctx context.Context, p *pass) error {
	wanted := desiredDeployment(p.app, p.scaler != nil)
	if p.deployment == nil {
		if p.scaler != nil {
			// Without a number, the API server would begin with 1.
			wanted.Spec.Replicas = scaledTo(p.scaler)
		}
		return r.create(ctx, p, wanted, func(made map[string]any) error {
			p.deployment = &appsv1.Deployment{}
			return decode(made, p.deployment)
		})
	}
	differences, err := deploymentDifferences(p.deployment, wanted)
	if err != nil {
		return err
	}
	blames, err := p.blame(p.deployment, differences)
	if err != nil {
		return err
	}
	if wanted.Spec.Replicas == nil {
		if err := r.handReplicasOver(ctx, p); err != nil {
			return err
		}
	}
	before := p.deployment
	if p.deployment, err = r.putDeploymentRight(ctx, before, wanted); err != nil {
		return err
	}
	left, err := deploymentDifferences(p.deployment, wanted)
	if err != nil {
		return err
	}
	if len(left) > 0 {
		p.seen.deployment = p.deploymentSettlement(wanted)
	}
	p.putRight("Deployment "+before.Name, blames, before)
	return nil
}

// putDeploymentRight applies what is wanted, and then takes away what was added.
// Where what was added makes what is wanted invalid, that goes first.
func (r *Reconciler) putDeploymentRight(ctx context.Context, live, wanted *appsv1.Deployment) (*appsv1.Deployment, error) {
	applied := &appsv1.Deployment{}
	err := r.apply(ctx, wanted, live, applied)
	if apierrors.IsInvalid(err) {
		if err := r.strip(ctx, live.DeepCopy(), wanted); err != nil {
			return live, err
		}
		err = r.apply(ctx, wanted, live, applied)
	}
	if err != nil {
		return live, err
	}
	return applied, r.strip(ctx, applied, wanted)
}

// strip takes away what others have added to containers.
func (r *Reconciler) strip(ctx context.Context, deployment, wanted *appsv1.Deployment) error {
	added, err := containerDifferences(deployment.Spec.Template.Spec, wanted.Spec.Template.Spec)
	if err != nil || len(added) == 0 {
		return err
	}
	pod := map[string]any{"containers": wanted.Spec.Template.Spec.Containers, "initContainers": nil}
	return r.merge(ctx, deployment, map[string]any{"template": map[string]any{"spec": pod}})
}

// applyService makes the Service, or puts it right.
func (r *Reconciler) applyService(ctx context.Context, p *pass) error {
	wanted := desiredService(p.app)
	if p.service == nil {
		return r.create(ctx, p, wanted, func(made map[string]any) error {
			p.service = &corev1.Service{}
			return decode(made, p.service)
		})
	}
	blames, err := p.blame(p.service, serviceDifferences(p.service, wanted))
	if err != nil {
		return err
	}
	applied := &corev1.Service{}
	if err := r.apply(ctx, wanted, p.service, applied); err != nil {
		return err
	}
	if len(serviceDifferences(applied, wanted)) > 0 {
		if err := r.merge(ctx, applied, servicePatch(applied, wanted)); err != nil {
			return err
		}
	}
	before := p.service
	p.service = applied
	if len(serviceDifferences(applied, wanted)) > 0 {
		p.seen.service = p.serviceSettlement(wanted)
	}
	p.putRight("Service "+applied.Name, blames, before)
	return nil
}

// servicePatch makes ports and selector what is wanted, and nothing more. Node ports
// stay with the ports that have them.
func servicePatch(have, wanted *corev1.Service) map[string]any {
	selector := map[string]any{}
	for key := range have.Spec.Selector {
		selector[key] = nil
	}
	for key, value := range wanted.Spec.Selector {
		selector[key] = value
	}
	nodePorts := map[string]int32{}
	for _, port := range have.Spec.Ports {
		nodePorts[port.Name] = port.NodePort
	}
	ports := wanted.DeepCopy().Spec.Ports
	for i := range ports {
		ports[i].NodePort = nodePorts[ports[i].Name]
	}
	return map[string]any{"ports": ports, "selector": selector}
}

// deleteService deletes the Service that was seen, and no other of its name.
func (r *Reconciler) deleteService(ctx context.Context, p *pass) error {
	uid := p.service.UID
	err := r.Client.Delete(ctx, p.service, client.Preconditions{UID: &uid})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("deleting the Service: %w", err)
	}
	p.happened(happening.Happening{Reason: reasonServiceDeleted, Note: "Service " + p.service.Name + " deleted: there are no ports any more", About: p.service})
	p.service, p.serviceFresh = nil, true
	return nil
}

// create makes an object that was not there a moment ago. Without force, and with
// what it returns, an object that somebody else has made since is told from ours,
// and left as it was.
func (r *Reconciler) create(ctx context.Context, p *pass, wanted client.Object, keep func(map[string]any) error) error {
	config, err := configuration(wanted)
	if err != nil {
		return err
	}
	owner := client.FieldOwner(exampleappsv1.FieldOwner)
	if err := r.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(config), owner); err != nil {
		return fmt.Errorf("creating the %s: %w", wanted.GetObjectKind().GroupVersionKind().Kind, err)
	}
	for _, entry := range config.GetManagedFields() {
		if entry.Manager != exampleappsv1.FieldOwner || entry.Operation != metav1.ManagedFieldsOperationApply {
			return r.withdraw(ctx, config)
		}
	}
	kind := config.GetKind()
	if err := keep(config.Object); err != nil {
		return err
	}
	note := fmt.Sprintf("%s %s created", kind, wanted.GetName())
	if deployment, isDeployment := wanted.(*appsv1.Deployment); isDeployment && deployment.Spec.Replicas != nil {
		note += fmt.Sprintf(" with replicas %d", *deployment.Spec.Replicas)
	}
	p.happened(happening.Happening{Reason: reasonCreated, Note: note, About: config})
	return nil
}

func decode(object map[string]any, into any) error {
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object, into); err != nil {
		return fmt.Errorf("reading what was written: %w", err)
	}
	return nil
}
