package virtualmachine

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/log"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/metrics"
)

// happening is something that happened, to be told in one event.
type happening struct {
	reason  string
	note    string
	warning bool
	// about is the one other object concerned. Events of one reason about the same
	// objects are joined into one, whatever their notes say.
	about runtime.Object
}

// happened remembers something to tell once the status is stored.
func (p *pass) happened(h happening) { p.events = append(p.events, h) }

// tell sends and logs the pass's events, and one for each condition that turned to
// what a user should know of.
func (r *Reconciler) tell(ctx context.Context, p *pass, before, after computev1.VirtualMachineStatus) {
	for _, h := range append(p.events, turns(before.Conditions, after.Conditions)...) {
		kind := corev1.EventTypeNormal
		if h.warning {
			kind = corev1.EventTypeWarning
		}
		if h.reason == computev1.ReasonVanished {
			metrics.VirtualMachinesVanished.Inc()
		}
		log.FromContext(ctx).Info(h.note, "reason", h.reason)
		r.Recorder.Eventf(p.vm, h.about, kind, h.reason, "Reconcile", "%s", shorten(h.note))
	}
}

// turns are the events of conditions that changed: the VM runs, or does not though
// it was made, a person must act, or the work is held up.
func turns(before, after []metav1.Condition) []happening {
	var result []happening
	if ready := turned(before, after, computev1.ConditionReady); ready != nil {
		switch ready.Reason {
		case computev1.ReasonRunning:
			result = append(result, happening{reason: ready.Reason, note: ready.Message})
		case computev1.ReasonNotRunning, computev1.ReasonUnknownPhase:
			result = append(result, happening{reason: ready.Reason, note: ready.Message, warning: true})
		}
	}
	if stalled := turned(before, after, computev1.ConditionStalled); stalled != nil {
		return append(result, happening{reason: stalled.Reason, note: stalled.Message, warning: true})
	}
	if synced := turned(before, after, computev1.ConditionSynced); synced != nil && heldUp(synced) {
		result = append(result, happening{reason: synced.Reason, note: synced.Message, warning: true})
	}
	return result
}

// turned is a condition whose status or reason is new; nil if it is not.
func turned(before, after []metav1.Condition, conditionType string) *metav1.Condition {
	now, was := findCondition(after, conditionType), findCondition(before, conditionType)
	if now == nil || (was != nil && was.Status == now.Status && was.Reason == now.Reason) {
		return nil
	}
	return now
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
