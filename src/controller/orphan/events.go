package orphan

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/orphan/decide"
)

// Reasons of events.
const (
	// EventOrphanFound: a VM has no VirtualMachine.
	EventOrphanFound = "OrphanFound"
	// EventDuplicateFound: a VM's VirtualMachine has another one.
	EventDuplicateFound = "DuplicateFound"
	// EventOrphanDeleted: the provider has accepted to delete an orphan.
	EventOrphanDeleted = "OrphanDeleted"
)

// eventsPerLook keeps an accident with a thousand objects from drowning all other
// events. The log has a line for each.
const eventsPerLook = 25

// tellFound tells of what this look has made certain, each VM once.
func (r *Reconciler) tellFound(ctx context.Context, p *pass) {
	told := 0
	for _, kind := range []decide.Kind{decide.Orphan, decide.Duplicate} {
		for _, id := range p.memory.of(kind) {
			s := p.memory.suspects[id]
			if s.lists != decide.ListsNeeded {
				continue
			}
			reason := EventOrphanFound
			if kind == decide.Duplicate {
				reason = EventDuplicateFound
			}
			if told++; told > eventsPerLook {
				log.FromContext(ctx).Info(describe(s), "reason", reason, "vmID", s.id)
				continue
			}
			r.tell(ctx, p, s, corev1.EventTypeWarning, reason, describe(s))
		}
	}
}

// tell sends an event about a VM. It is related to the object that the labels name,
// for events that differ in their notes alone are joined.
func (r *Reconciler) tell(ctx context.Context, p *pass, s *suspect, kind, reason, note string) {
	log.FromContext(ctx).Info(note, "reason", reason, "vmID", s.id)
	related := &computev1.VirtualMachine{
		TypeMeta:   metav1.TypeMeta{APIVersion: computev1.GroupVersion.String(), Kind: "VirtualMachine"},
		ObjectMeta: metav1.ObjectMeta{Namespace: s.owner.Object.Namespace, Name: s.owner.Object.Name, UID: s.owner.UID},
	}
	r.Recorder.Eventf(p.config, related, kind, reason, "Look", "%s", note)
}

func describe(s *suspect) string {
	if s.kind == decide.Duplicate {
		return fmt.Sprintf("VM %s is a second one of VirtualMachine %s: it is left alone", s.id, s.owner.Object.Name)
	}
	return fmt.Sprintf("VM %s was made for a VirtualMachine %s that does not exist (UID %s)", s.id, s.owner.Object.Name, s.owner.UID)
}
