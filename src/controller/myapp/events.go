package myapp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/log"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	"github.com/example/vmoperator/src/controller/fieldmanager"
)

// Reasons of events that no condition has.
const (
	reasonCreated        = "Created"
	reasonUpdated        = "Updated"
	reasonPutBack        = "PutBack"
	reasonServiceDeleted = "ServiceDeleted"
)

// happening is something that happened, to be told in one event.
type happening struct {
	reason  string
	note    string
	warning bool
	// about is the one other object concerned.
	about runtime.Object
}

// happened remembers something to tell once the status is stored.
func (p *pass) happened(h happening) { p.events = append(p.events, h) }

// blame is what one manager has changed; without a name, what the spec has.
type blame struct {
	by   string
	what []string
}

// blame finds out who has made each difference, from an object that was read past
// the cache. Where no other manager owns a field, it was taken away by somebody,
// unless the spec is new; or it is the number of replicas that an AppAutoscaler has
// left.
func (p *pass) blame(object metav1.Object, differences []difference) ([]blame, error) {
	var all []blame
	for _, d := range differences {
		setter, err := fieldmanager.Of(object, d.path)
		if err != nil {
			return nil, err
		}
		ours := setter.Manager == "" || setter.Manager == exampleappsv1.FieldOwner || setter.Manager == replicasOwner
		by := setter.String()
		switch {
		case ours && (p.specIsNews() || d.path.Equals(fieldmanager.Replicas())):
			by = ""
		case ours:
			by = fieldmanager.Entry{}.String()
		}
		i := slices.IndexFunc(all, func(b blame) bool { return b.by == by })
		if i < 0 {
			all = append(all, blame{by: by})
			i = len(all) - 1
		}
		all[i].what = append(all[i].what, d.what)
	}
	return all, nil
}

// putRight tells what was put right, and remembers how often.
func (p *pass) putRight(what string, blames []blame, before runtime.Object) {
	for _, b := range blames {
		changes := strings.Join(b.what, ", ")
		if b.by == "" {
			p.happened(happening{reason: reasonUpdated, note: fmt.Sprintf("%s updated: %s", what, changes), about: before})
			continue
		}
		p.happened(happening{reason: reasonPutBack, note: fmt.Sprintf("%s put back: %s, set by %s", what, changes, b.by), about: before, warning: true})
		p.seen.corrections.Corrected(p.now)
		p.seen.other = b.by
	}
}

// tell sends and logs the pass's events, and one for each condition that turned to
// what a user should know of.
func (r *Reconciler) tell(ctx context.Context, p *pass, before, after exampleappsv1.MyAppStatus) {
	for _, h := range slices.Concat(p.events, turns(before.Conditions, after.Conditions)) {
		kind := corev1.EventTypeNormal
		if h.warning {
			kind = corev1.EventTypeWarning
		}
		log.FromContext(ctx).Info(h.note, "reason", h.reason)
		r.Recorder.Eventf(p.app, h.about, kind, h.reason, "Reconcile", "%s", shorten(h.note))
	}
}

// turns are the events of conditions that changed.
func turns(before, after []metav1.Condition) []happening {
	var result []happening
	if ready := turned(before, after, exampleappsv1.ConditionReady); ready != nil {
		switch {
		case ready.Status == metav1.ConditionTrue:
			result = append(result, happening{reason: ready.Reason, note: ready.Message})
		case isTrouble(ready.Reason, after):
			result = append(result, happening{reason: ready.Reason, note: ready.Message, warning: true})
		}
	}
	for _, conditionType := range []string{exampleappsv1.ConditionContended, exampleappsv1.ConditionStalled} {
		if turned := turned(before, after, conditionType); turned != nil {
			result = append(result, happening{reason: turned.Reason, note: turned.Message, warning: true})
		}
	}
	if synced := turned(before, after, exampleappsv1.ConditionSynced); synced != nil && synced.Reason == exampleappsv1.ReasonReconcileFailed {
		result = append(result, happening{reason: synced.Reason, note: synced.Message, warning: true})
	}
	return result
}

// isTrouble reports whether Ready tells of Pods in trouble, and not of what another
// condition tells.
func isTrouble(reason string, all []metav1.Condition) bool {
	if reason == exampleappsv1.ReasonProgressing {
		return false
	}
	for _, conditionType := range []string{exampleappsv1.ConditionSynced, exampleappsv1.ConditionStalled, exampleappsv1.ConditionContended} {
		if other := meta.FindStatusCondition(all, conditionType); other != nil && other.Reason == reason {
			return false
		}
	}
	return true
}

// turned is a condition whose status or reason is new; nil if it is not.
func turned(before, after []metav1.Condition, conditionType string) *metav1.Condition {
	now, was := meta.FindStatusCondition(after, conditionType), meta.FindStatusCondition(before, conditionType)
	if now == nil || (was != nil && was.Status == now.Status && was.Reason == now.Reason) {
		return nil
	}
	return now
}
