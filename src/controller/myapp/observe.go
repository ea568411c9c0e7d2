package myapp

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	"github.com/example/vmoperator/src/controller/index"
	"github.com/example/vmoperator/src/controller/myapp/decide"
	"github.com/example/vmoperator/src/controller/podtrouble"
	"github.com/example/vmoperator/src/controller/workload"
)

// observe reads, and only reads. A read that fails is the fault of the pass.
func (r *Reconciler) observe(ctx context.Context, p *pass) decide.State {
	s := decide.State{
		Deleting: !p.app.DeletionTimestamp.IsZero(),
		Paused:   p.app.Annotations[exampleappsv1.PausedAnnotation] == "true",
		Refused:  p.seen.refused != nil && p.seen.refused.generation == p.app.Generation,
	}
	r.read(ctx, p)
	p.overruled = nil
	s.Deployment = decide.Child{State: p.deploymentState(), Fresh: p.deploymentFresh}
	s.Service = decide.Child{State: p.serviceState(), Fresh: p.serviceFresh}
	if p.owned() {
		s.Pods = r.pods(ctx, p)
	}
	s.Fault = p.fault != nil
	return s
}

// read reads from the cache what this pass does not have yet.
func (r *Reconciler) read(ctx context.Context, p *pass) {
	if p.fault != nil {
		return
	}
	if p.scaler, p.fault = r.scaler(ctx, p); p.fault != nil {
		return
	}
	if p.deployment == nil && !p.deploymentFresh {
		p.deployment, p.fault = get(ctx, r.Client, p.key(), &appsv1.Deployment{})
	}
	if p.service == nil && !p.serviceFresh && p.fault == nil {
		p.service, p.fault = get(ctx, r.Client, p.key(), &corev1.Service{})
	}
}

// get reads an object; nil means that there is none. What the cache returns must
// not be changed, so it is a copy.
func get[T client.Object](ctx context.Context, reader client.Reader, key client.ObjectKey, into T) (found T, err error) {
	err = reader.Get(ctx, key, into)
	switch {
	case apierrors.IsNotFound(err):
		return found, nil
	case err != nil:
		return found, fmt.Errorf("reading %T %s: %w", into, key.Name, err)
	}
	return into.DeepCopyObject().(T), nil //nolint:errcheck,forcetypeassert // a copy has its original's type
}

// scaler is the AppAutoscaler that is for the Deployment, of several the oldest; nil
// if there is none. One that is being deleted scales no more.
func (r *Reconciler) scaler(ctx context.Context, p *pass) (*exampleappsv1.AppAutoscaler, error) {
	if !r.Autoscalers {
		return nil, nil //nolint:nilnil // there is none, and that is no failure
	}
	var list exampleappsv1.AppAutoscalerList
	err := r.Client.List(ctx, &list, client.InNamespace(p.app.Namespace), client.MatchingFields{index.DeploymentName: p.app.Name})
	if err != nil {
		return nil, fmt.Errorf("listing the AppAutoscalers of the Deployment: %w", err)
	}
	var oldest *exampleappsv1.AppAutoscaler
	for i := range list.Items {
		found := &list.Items[i]
		if found.DeletionTimestamp.IsZero() && (oldest == nil || workload.Older(found, oldest)) {
			oldest = found
		}
	}
	return oldest, nil
}

// scaledTo is the number of replicas that an AppAutoscaler asks for: a schedule's, if
// one is in force.
func scaledTo(scaler *exampleappsv1.AppAutoscaler) *int32 {
	if schedule := scaler.Status.Schedule; schedule != nil && schedule.Replicas != nil {
		return schedule.Replicas
	}
	return scaler.Spec.Replicas
}

// owned reports whether there is a Deployment, and it is this object's.
func (p *pass) owned() bool {
	return p.deployment != nil && whose(p.app, p.deployment) == decide.ChildSame
}

// whose says whether an object may be worked on: ChildSame means yes.
func whose(app *exampleappsv1.MyApp, child client.Object) decide.ChildState {
	controller := metav1.GetControllerOf(child)
	switch {
	case controller == nil:
		return decide.ChildForeign
	case controller.UID == app.UID && child.GetDeletionTimestamp() != nil:
		return decide.ChildWaiting
	case controller.UID == app.UID:
		return decide.ChildSame
	case controller.Kind == "MyApp" && controller.Name == app.Name && controller.APIVersion == exampleappsv1.GroupVersion.String():
		// That of an earlier object of this name: garbage collection is about to take it.
		return decide.ChildWaiting
	default:
		return decide.ChildForeign
	}
}

func (p *pass) deploymentState() decide.ChildState {
	if p.deployment == nil {
		return decide.ChildMissing
	}
	if state := whose(p.app, p.deployment); state != decide.ChildSame {
		return state
	}
	wanted := desiredDeployment(p.app, p.scaler != nil)
	differences, err := deploymentDifferences(p.deployment, wanted)
	if err != nil {
		p.fault = err
	}
	if p.seen.deployment.is(p.deploymentSettlement(wanted)) {
		p.overruled = append(p.overruled, differences...)
		return decide.ChildSame
	}
	return p.due(differences)
}

// deploymentSettlement is how the Deployment stands now.
func (p *pass) deploymentSettlement(wanted *appsv1.Deployment) settlement {
	s := p.settlement(p.deployment, wanted)
	s.spec = p.deployment.Generation
	return s
}

// serviceSettlement is how the Service stands now.
func (p *pass) serviceSettlement(wanted *corev1.Service) settlement {
	s := p.settlement(p.service, wanted)
	s.ports, s.selector = withoutNodePorts(p.service.Spec.Ports), p.service.Spec.Selector
	return s
}

func (p *pass) settlement(object, wanted client.Object) settlement {
	s := settlement{app: p.app.Generation, uid: object.GetUID(), labels: map[string]string{}}
	for key := range wanted.GetLabels() {
		if value, present := object.GetLabels()[key]; present {
			s.labels[key] = value
		}
	}
	return s
}

func (p *pass) serviceState() decide.ChildState {
	wanted := desiredService(p.app)
	if p.service == nil {
		if wanted == nil {
			return decide.ChildSame
		}
		return decide.ChildMissing
	}
	state := whose(p.app, p.service)
	if wanted == nil {
		// What is somebody else's, or on its way out, is in nobody's way.
		if state == decide.ChildSame {
			return decide.ChildSurplus
		}
		return decide.ChildSame
	}
	if state != decide.ChildSame {
		return state
	}
	differences := serviceDifferences(p.service, wanted)
	if p.seen.service.is(p.serviceSettlement(wanted)) {
		p.overruled = append(p.overruled, differences...)
		return decide.ChildSame
	}
	return p.due(differences)
}

// due says whether what differs may be put right now. A change of the spec is no
// part of a fight.
func (p *pass) due(differences []difference) decide.ChildState {
	switch {
	case len(differences) == 0:
		return decide.ChildSame
	case p.seen.corrections.Wait(p.now) > 0 && !p.specIsNews():
		return decide.ChildHeld
	default:
		return decide.ChildDiffers
	}
}

// pods says how the Deployment's Pods are. They are read only where the Deployment
// tells that some are not available, and what it tells is of now.
func (r *Reconciler) pods(ctx context.Context, p *pass) decide.Pods {
	switch {
	case podtrouble.Available(p.deployment):
		return decide.PodsAvailable
	case !podtrouble.Observed(p.deployment), p.fault != nil:
		p.trouble, p.looked = podtrouble.Trouble{}, false
		return decide.PodsProgressing
	case !p.looked:
		p.trouble, p.fault = podtrouble.Find(ctx, r.APIReader, p.deployment)
		p.looked = true
	}
	if p.trouble.Reason == "" {
		return decide.PodsProgressing
	}
	return decide.PodsInTrouble
}
