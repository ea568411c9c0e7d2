package virtualmachine

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/condition"
	"github.com/example/vmoperator/src/controller/happening"
	"github.com/example/vmoperator/src/metrics"
)

// happened remembers something that was done, to tell at the end of the pass.
func (p *pass) happened(h happening.Happening) { p.events = append(p.events, h) }

// noticed remembers something that was found, to tell once the status is stored:
// until then, the next pass finds it again.
func (p *pass) noticed(h happening.Happening) { p.notices = append(p.notices, h) }

// tell sends and logs the pass's events, and one for each condition that turned to
// what a user should know of.
func (r *Reconciler) tell(ctx context.Context, p *pass, before, after computev1.VirtualMachineStatus) {
	all := slices.Concat(p.events, p.notices, turns(before.Conditions, after.Conditions))
	for _, h := range all {
		if h.Reason == computev1.ReasonVanished {
			metrics.VirtualMachinesVanished.Inc()
		}
	}
	happening.Tell(ctx, r.Recorder, p.vm, all)
}

// turns are the events of conditions that changed: the VM runs, or does not though
// it was made, a person must act, or the work is held up.
func turns(before, after []metav1.Condition) []happening.Happening {
	var result []happening.Happening
	if ready := condition.Turned(before, after, computev1.ConditionReady); ready != nil {
		switch ready.Reason {
		case computev1.ReasonRunning:
			result = append(result, happening.Happening{Reason: ready.Reason, Note: ready.Message})
		case computev1.ReasonNotRunning, computev1.ReasonUnknownPhase:
			result = append(result, happening.Happening{Reason: ready.Reason, Note: ready.Message, Warning: true})
		}
	}
	if stalled := condition.Turned(before, after, computev1.ConditionStalled); stalled != nil {
		return append(result, happening.Happening{Reason: stalled.Reason, Note: stalled.Message, Warning: true})
	}
	if synced := condition.Turned(before, after, computev1.ConditionSynced); synced != nil && heldUp(synced) {
		result = append(result, happening.Happening{Reason: synced.Reason, Note: synced.Message, Warning: true})
	}
	return result
}

// heldUp reports whether a condition tells of something that went wrong, and
// that no other event tells.
func heldUp(synced *metav1.Condition) bool {
	switch synced.Reason {
	case computev1.ReasonProviderError, computev1.ReasonProviderNotReady, computev1.ReasonProviderHeld,
		computev1.ReasonProviderConfigNotFound, computev1.ReasonChildError:
		return true
	}
	return false
}
