package providerconfig

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	orphandecide "github.com/example/vmoperator/src/controller/orphan/decide"
	"github.com/example/vmoperator/src/controller/orphan/finding"
)

// idsShown is how many ids a message names.
const idsShown = 5

// showOrphans shows what the orphan controller has found. Until it has looked often
// enough, what an earlier process has shown stays as it is.
func (r *Reconciler) showOrphans(p *pass, next *computev1.ProviderConfigStatus) {
	if r.Findings == nil {
		meta.RemoveStatusCondition(&next.Conditions, computev1.ConditionOrphansFound)
		return
	}
	found, known := r.Findings.Get(p.key(), p.config.UID)
	if !known {
		return
	}
	next.Orphans = orphansStatus(p.config, found.Looks)
	if !found.Complete {
		return
	}
	if r.Gauges != nil {
		r.Gauges.SetOrphans(p.config.Namespace, p.config.Name, len(found.Orphans), len(found.Duplicates), found.Retained)
	}
	if len(found.Orphans)+len(found.Duplicates) == 0 {
		meta.RemoveStatusCondition(&next.Conditions, computev1.ConditionOrphansFound)
		return
	}
	reason, text := orphansMessage(p.config, found)
	meta.SetStatusCondition(&next.Conditions, metav1.Condition{
		Type: computev1.ConditionOrphansFound, Status: metav1.ConditionTrue, Reason: reason, Message: text,
		ObservedGeneration: p.config.Generation, LastTransitionTime: metav1.NewTime(p.now),
	})
}

// deletesOrphans reports whether the object wants its orphans to be deleted.
func deletesOrphans(config *computev1.ProviderConfig) bool {
	return config.Spec.Orphans != nil && config.Spec.Orphans.Policy == computev1.OrphanPolicyDelete
}

func orphansStatus(config *computev1.ProviderConfig, looks orphandecide.Looks) *computev1.ProviderOrphansStatus {
	if !deletesOrphans(config) || looks.LookedAt.IsZero() {
		return nil
	}
	status := &computev1.ProviderOrphansStatus{LookedAt: metav1.NewTime(looks.LookedAt)}
	if !looks.DoubtedAt.IsZero() {
		status.DoubtedAt = new(metav1.NewTime(looks.DoubtedAt))
	}
	return status
}

// orphansMessage is what there is, and what becomes of it.
func orphansMessage(config *computev1.ProviderConfig, found finding.Finding) (reason, text string) {
	var parts []string
	if len(found.Orphans) > 0 {
		parts = append(parts, counted(found.Orphans, "VM was", "VMs were")+" made for VirtualMachines that do not exist ("+shown(found.Orphans)+")")
	}
	if len(found.Duplicates) > 0 {
		parts = append(parts, counted(found.Duplicates, "VM is", "VMs are")+" a second one of a VirtualMachine and left alone ("+shown(found.Duplicates)+")")
	}
	text = strings.Join(parts, "; ")
	switch {
	case len(found.Orphans) == 0:
		return computev1.ReasonDuplicates, text
	case !deletesOrphans(config):
		return computev1.ReasonOrphansReported, text + "; orphans are left alone: delete them at the provider, or set spec.orphans.policy to Delete"
	case found.Hold == orphandecide.HoldNone:
		return computev1.ReasonOrphansPending, text + "; orphans are deleted, a few at a time, once they are older than spec.orphans.minimumAge"
	}
	return computev1.ReasonOrphansHeld, text + "; orphans are not deleted: " + holdMessage(found)
}

func counted(ids []string, one, many string) string {
	if len(ids) == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", len(ids), many)
}

func shown(ids []string) string {
	if len(ids) <= idsShown {
		return strings.Join(ids, ", ")
	}
	return strings.Join(ids[:idsShown], ", ") + ", ..."
}

func holdMessage(found finding.Finding) string {
	switch found.Hold {
	case orphandecide.HoldDeleting:
		return "this ProviderConfig is being deleted"
	case orphandecide.HoldPaused:
		return "the annotation " + computev1.PausedAnnotation + " stops all work"
	case orphandecide.HoldDisappearance:
		return "VMs disappear from the provider"
	case orphandecide.HoldDoubt:
		return fmt.Sprintf("there are very many, or nobody has looked for a while, as after a restore of the cluster from a backup; make sure "+
			"that no other cluster uses these VMs and annotate this object with %s=%s",
			computev1.ConfirmOrphanDeletionAnnotation, orphandecide.Confirmation(found.Looks.DoubtedAt))
	case orphandecide.HoldRetainedFull:
		return fmt.Sprintf("status.retained is full (%d), so that what was left on purpose cannot be told from orphans: remove entries "+
			"whose VM is gone", computev1.MaxRetained)
	case orphandecide.HoldUnknown, orphandecide.HoldNotReady, orphandecide.HoldNone:
	}
	return "this ProviderConfig is not ready"
}
