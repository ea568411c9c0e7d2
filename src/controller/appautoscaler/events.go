package appautoscaler

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/log"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	"github.com/example/vmoperator/src/controller/happening"
	"github.com/example/vmoperator/src/controller/workload"
)

// Reasons of events that no condition has.
const (
	reasonCreated         = "Created"
	reasonReplicasPutBack = "ReplicasPutBack"
	reasonImagePutBack    = "ImagePutBack"
	reasonScalerPutBack   = "ScalerPutBack"
	reasonScalerDeleted   = "ScalerDeleted"
	reasonResourcesSet    = "ResourcesSet"
	reasonScheduleChanged = "ScheduleChanged"
)

// happened remembers something that was done, to tell at the end of the pass.
func (p *pass) happened(h happening.Happening) { p.events = append(p.events, h) }

// tell tells what happened in the pass, and of each condition that turned to what a
// user should know of.
func (r *Reconciler) tell(ctx context.Context, p *pass, before, after exampleappsv1.AppAutoscalerStatus) {
	happening.Tell(ctx, r.Recorder, p.autoscaler, slices.Concat(
		p.events, p.planTurn(before.Schedule, after.Schedule), workload.Turns(before.Conditions, after.Conditions), p.blames(),
	))
	if p.fault != nil {
		log.FromContext(ctx).Error(p.fault, "a pass failed", "failures", p.seen.failures)
	}
}

// blames tell, with a trouble that is news, who has set the containers' resources.
// It is one event: those of one reason about one version would be joined into the
// first.
func (p *pass) blames() []happening.Happening {
	if len(p.setters) == 0 {
		return nil
	}
	return []happening.Happening{{
		Reason: reasonResourcesSet, Warning: true, About: p.deployment,
		Note: fmt.Sprintf("%s; a Pod of it is in trouble: %s", strings.Join(p.setters, "; "), p.trouble.Reason),
	}}
}
