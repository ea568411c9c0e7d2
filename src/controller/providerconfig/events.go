package providerconfig

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
)

// Reasons of events that no condition has.
const (
	// EventReady: the provider was tried and may be used.
	EventReady = "Ready"
	// EventReleased: a person's annotation took effect.
	EventReleased = "Released"
	// EventRotated: the provider takes the new credentials.
	EventRotated = "CredentialsRotated"
)

// maxNote is the apiserver's bound of an event's note, in bytes.
const maxNote = 1024

// happening is something to tell in an event.
type happening struct {
	kind, reason, action, note string
}

// tell records what happened, and shows the object in metrics.
func (r *Reconciler) tell(p *pass, before, after computev1.ProviderConfigStatus) {
	ready := meta.IsStatusConditionTrue(after.Conditions, computev1.ConditionReady)
	if r.Gauges != nil {
		r.Gauges.SetProviderConfig(p.config.Namespace, p.config.Name, ready, len(p.virtualMachines))
		r.Gauges.SetCircuit(p.config.Namespace, p.config.Name, p.memory.way.holdsBack())
	}
	happened := happenings(p, before, after)
	if !p.memory.untried {
		p.memory.rotated = false
	}
	for _, h := range happened {
		r.Recorder.Eventf(p.config, nil, h.kind, h.reason, h.action, "%s", noteOf(h))
	}
}

// noteOf is the note of a happening's event, cut between two characters.
func noteOf(h happening) string { return strings.ToValidUTF8(h.note[:min(len(h.note), maxNote)], "") }

// happenings are what two statuses, and the pass between them, have to tell. It
// is pure.
func happenings(p *pass, before, after computev1.ProviderConfigStatus) []happening {
	var list []happening
	for _, reason := range p.released {
		list = append(list, happening{corev1.EventTypeNormal, EventReleased, "Release", "released " + reason + ", once, as annotated"})
	}
	ready := meta.FindStatusCondition(after.Conditions, computev1.ConditionReady)
	isReady := ready != nil && ready.Status == metav1.ConditionTrue
	if isReady && p.memory.rotated && !p.memory.untried {
		list = append(list, happening{
			corev1.EventTypeNormal, EventRotated, "Probe", "the provider takes the changed credentials; they are used from now on",
		})
	}
	switch {
	case !entered(before, after, computev1.ConditionReady) || ready.Status == metav1.ConditionUnknown:
	case isReady:
		list = append(list, happening{corev1.EventTypeNormal, EventReady, "Probe", ready.Message})
	default:
		list = append(list, happening{corev1.EventTypeWarning, ready.Reason, "Probe", ready.Message})
	}
	return append(list, besideReady(before, after)...)
}

// besideReady are the happenings of the other conditions.
func besideReady(before, after computev1.ProviderConfigStatus) []happening {
	var list []happening
	ready := meta.FindStatusCondition(after.Conditions, computev1.ConditionReady)
	synced := meta.FindStatusCondition(after.Conditions, computev1.ConditionSynced)
	if entered(before, after, computev1.ConditionSynced) && synced.Reason == computev1.ReasonCircuitOpen {
		list = append(list, happening{corev1.EventTypeWarning, synced.Reason, "Call", synced.Message})
	}
	stalled := meta.FindStatusCondition(after.Conditions, computev1.ConditionStalled)
	if entered(before, after, computev1.ConditionStalled) && (ready == nil || stalled.Reason != ready.Reason) {
		list = append(list, happening{corev1.EventTypeWarning, stalled.Reason, "Hold", stalled.Message})
	}
	reconciling := meta.FindStatusCondition(after.Conditions, computev1.ConditionReconciling)
	if entered(before, after, computev1.ConditionReconciling) && reconciling.Reason == computev1.ReasonInUse {
		list = append(list, happening{corev1.EventTypeNormal, computev1.ReasonInUse, "Delete", reconciling.Message})
	}
	return list
}

// entered reports whether a condition has a status or a reason that it did not
// have before.
func entered(before, after computev1.ProviderConfigStatus, kind string) bool {
	was, is := meta.FindStatusCondition(before.Conditions, kind), meta.FindStatusCondition(after.Conditions, kind)
	return is != nil && (was == nil || was.Status != is.Status || was.Reason != is.Reason)
}
