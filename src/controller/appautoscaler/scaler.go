package appautoscaler

import (
	"context"
	"fmt"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	"github.com/example/vmoperator/src/controller/appautoscaler/decide"
	"github.com/example/vmoperator/src/controller/index"
)

// understood is what the Kubernetes API makes of what is declared: it adds
// defaults.
type understood struct {
	declared, stored autoscalingv2.HorizontalPodAutoscalerSpec
}

func (p *pass) scalerKey() types.NamespacedName { return client.ObjectKeyFromObject(p.autoscaler) }

// readScaler reads the HorizontalPodAutoscaler of the object's name, unless this
// pass has it already, and looks for those of others.
func (r *Reconciler) readScaler(ctx context.Context, p *pass) {
	if p.scaler == nil && !p.scalerFresh && p.fault == nil {
		p.scaler, p.fault = getScaler(ctx, r.Client, p.scalerKey())
	}
	if p.fault != nil {
		return
	}
	var all autoscalingv2.HorizontalPodAutoscalerList
	err := r.Client.List(ctx, &all, client.InNamespace(p.autoscaler.Namespace),
		client.MatchingFields{index.ScaledDeployment: p.autoscaler.Spec.DeploymentName})
	if err != nil {
		p.fault = fmt.Errorf("listing the HorizontalPodAutoscalers of the Deployment: %w", err)
		return
	}
	p.rival = ""
	for i := range all.Items {
		if whoseScaler(p.autoscaler, &all.Items[i]) == decide.ScalerForeign {
			p.rival = all.Items[i].Name
		}
	}
}

// getScaler reads a HorizontalPodAutoscaler; nil means that there is none.
func getScaler(ctx context.Context, reader client.Reader, key types.NamespacedName) (*autoscalingv2.HorizontalPodAutoscaler, error) {
	found := &autoscalingv2.HorizontalPodAutoscaler{}
	err := reader.Get(ctx, key, found)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil //nolint:nilnil // nil is what there is
	case err != nil:
		return nil, fmt.Errorf("reading the HorizontalPodAutoscaler: %w", err)
	}
	return found.DeepCopy(), nil
}

// whoseScaler says whether a HorizontalPodAutoscaler is this object's: ScalerSame
// means that it is.
func whoseScaler(autoscaler *exampleappsv1.AppAutoscaler, scaler *autoscalingv2.HorizontalPodAutoscaler) decide.Scaler {
	controller := metav1.GetControllerOf(scaler)
	switch {
	case controller == nil:
		return decide.ScalerForeign
	case controller.UID == autoscaler.UID && scaler.DeletionTimestamp == nil:
		return decide.ScalerSame
	case controller.UID == autoscaler.UID:
		return decide.ScalerTerminating
	case isOf(controller.APIVersion, exampleappsv1.GroupVersion.Group) && controller.Kind == kind && controller.Name == autoscaler.Name:
		// That of an earlier object of this name: garbage collection is about to take it.
		return decide.ScalerTerminating
	default:
		return decide.ScalerForeign
	}
}

// scalerState compares the HorizontalPodAutoscaler with what is declared.
func (p *pass) scalerState() decide.Scaler {
	if p.rival != "" {
		return decide.ScalerForeign
	}
	if p.scaler == nil {
		if p.wanted.scaler == nil {
			return decide.ScalerNone
		}
		return decide.ScalerMissing
	}
	whose := whoseScaler(p.autoscaler, p.scaler)
	switch {
	case whose == decide.ScalerForeign && p.wanted.scaler == nil:
		// It has the name that ours would have, and scales something else.
		return decide.ScalerNone
	case whose == decide.ScalerForeign:
		p.rival = p.scaler.Name
		return whose
	case whose != decide.ScalerSame:
		return whose
	case p.wanted.scaler == nil:
		return decide.ScalerSurplus
	}
	return p.compareScaler()
}

// compareScaler compares this object's HorizontalPodAutoscaler with what the
// Kubernetes API makes of what is declared.
func (p *pass) compareScaler() decide.Scaler {
	if equality.Semantic.DeepEqual(p.scaler.Spec, *p.wanted.scaler) {
		return decide.ScalerSame
	}
	known := p.seen.understood
	if known == nil || !equality.Semantic.DeepEqual(known.declared, *p.wanted.scaler) {
		return decide.ScalerUnknown
	}
	switch p.field(fieldScaler, equality.Semantic.DeepEqual(p.scaler.Spec, known.stored)) {
	case decide.FieldSame:
		return decide.ScalerSame
	case decide.FieldHeld:
		return decide.ScalerHeld
	default:
		return decide.ScalerDiffers
	}
}

// scalingInactive is what the HorizontalPodAutoscaler says of itself if it cannot
// scale.
func (p *pass) scalingInactive() metav1.Condition {
	inactive := metav1.Condition{Type: exampleappsv1.ConditionScalingInactive}
	if p.scaler == nil || p.wanted.scaler == nil || whoseScaler(p.autoscaler, p.scaler) != decide.ScalerSame {
		return inactive
	}
	if told := scalingActive(p.scaler); told.Status == "False" {
		inactive.Status, inactive.Reason, inactive.Message = metav1.ConditionTrue, told.Reason, told.Message
	}
	return inactive
}

// scalingActive is the condition of that name, an empty one if there is none.
func scalingActive(scaler *autoscalingv2.HorizontalPodAutoscaler) autoscalingv2.HorizontalPodAutoscalerCondition {
	for _, told := range scaler.Status.Conditions {
		if told.Type == autoscalingv2.ScalingActive {
			return told
		}
	}
	return autoscalingv2.HorizontalPodAutoscalerCondition{}
}
