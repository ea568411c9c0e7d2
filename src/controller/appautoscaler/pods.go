package appautoscaler

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	"github.com/example/vmoperator/src/controller/appautoscaler/decide"
	"github.com/example/vmoperator/src/controller/fieldmanager"
	"github.com/example/vmoperator/src/controller/podtrouble"
)

// pods says how the Deployment's Pods are. They are read only where the
// Deployment tells that some are not available, and never through a cache: most
// Pods of a cluster are nobody's concern here.
func (r *Reconciler) pods(ctx context.Context, p *pass) decide.Pods {
	if podtrouble.Available(p.deployment) {
		return decide.PodsAvailable
	}
	if !podtrouble.Observed(p.deployment) || p.fault != nil {
		// The Pods that there are belong to what was declared before.
		p.trouble, p.looked = podtrouble.Trouble{}, false
		return decide.PodsProgressing
	}
	if !p.looked {
		found, err := podtrouble.Find(ctx, r.APIReader, p.deployment)
		if err != nil {
			p.fault = err
			return decide.PodsProgressing
		}
		p.trouble, p.looked = found, true
	}
	if p.trouble.Reason == "" {
		return decide.PodsProgressing
	}
	r.blame(ctx, p)
	return decide.PodsInTrouble
}

// blame finds out, when a trouble is news, who has set the resources that the Pods
// may lack.
func (r *Reconciler) blame(ctx context.Context, p *pass) {
	told := meta.FindStatusCondition(p.autoscaler.Status.Conditions, exampleappsv1.ConditionReady)
	if !p.trouble.OfResources() || p.setters != nil || p.fault != nil || told != nil && told.Reason == p.trouble.Reason {
		return
	}
	if !p.fresh {
		if err := r.readLive(ctx, p); err != nil {
			p.fault = err
			return
		}
	}
	p.setters = []string{}
	if p.deployment == nil {
		return
	}
	for i := range p.deployment.Spec.Template.Spec.Containers {
		name := p.deployment.Spec.Template.Spec.Containers[i].Name
		for _, field := range []string{"limits", "requests"} {
			setter, err := fieldmanager.Of(p.deployment, fieldmanager.Container(name, "resources", field))
			if err != nil {
				p.fault = err
				return
			}
			if setter.Manager != "" && setter.Manager != exampleappsv1.FieldOwner {
				p.setters = append(p.setters, fmt.Sprintf("container %s has resources.%s, set by %s", name, field, setter))
			}
		}
	}
}
