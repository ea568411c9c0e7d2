package providerconfig

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/providerconfig/decide"
)

// nextStatus is the status that a pass ends with. It is pure.
func nextStatus(p *pass, state decide.State, decision decide.Decision) computev1.ProviderConfigStatus {
	next := *p.status.DeepCopy()
	next.VirtualMachines = int32(min(len(p.virtualMachines), maxCount))
	c := conditions{p: p, list: &next.Conditions}
	switch decision.Action {
	case decide.Serve:
		c.set(computev1.ConditionReady, metav1.ConditionTrue, computev1.ReasonProbed)
		c.serving(decision.Reason)
	case decide.Stall, decide.Hold:
		c.set(computev1.ConditionReady, metav1.ConditionFalse, decision.Reason)
		c.set(computev1.ConditionSynced, metav1.ConditionFalse, decision.Reason)
		c.whileTrue("", stalledReason(state, decision.Reason))
	case decide.Retry:
		c.set(computev1.ConditionReady, metav1.ConditionFalse, decision.Reason)
		c.set(computev1.ConditionSynced, metav1.ConditionUnknown, decision.Reason)
		c.whileTrue(decision.Reason, stalledReason(state, ""))
	case decide.Keep:
		c.keep(stalledReason(state, ""))
	case decide.AddFinalizer, decide.Rest, decide.MarkSecrets, decide.UnmarkSecrets, decide.Latch, decide.ReleaseMassDisappearance,
		decide.RunProbe, decide.AcceptIdentity, decide.AcceptCapabilities, decide.RemoveFinalizer, decide.Gone:
	}
	if state.Deleting && state.InUse() {
		c.set(computev1.ConditionReconciling, metav1.ConditionTrue, computev1.ReasonInUse)
	}
	if decision.Action != decide.Keep {
		next.ObservedGeneration = p.config.Generation
	}
	slices.SortStableFunc(next.Conditions, stalledFirst)
	return next
}

// stalledFirst puts Stalled before Reconciling. kstatus goes by the first of the two,
// and what waits for a person must not look as if it went on by itself.
func stalledFirst(a, b metav1.Condition) int {
	last := func(c metav1.Condition) int {
		if c.Type == computev1.ConditionReconciling {
			return 1
		}
		return 0
	}
	return last(a) - last(b)
}

// stalledReason puts a latched mass disappearance before any other reason: the
// condition is all that remembers it.
func stalledReason(state decide.State, other string) string {
	if state.Latched() {
		return computev1.ReasonMassDisappearance
	}
	return other
}

// maxCount keeps a count within an int32.
const maxCount = 1<<31 - 1

// conditions sets conditions of a status that is being made.
type conditions struct {
	p    *pass
	list *[]metav1.Condition
}

func (c conditions) set(kind string, status metav1.ConditionStatus, reason string) {
	meta.SetStatusCondition(c.list, metav1.Condition{
		Type:               kind,
		Status:             status,
		Reason:             reason,
		Message:            message(c.p, reason),
		ObservedGeneration: c.p.config.Generation,
		LastTransitionTime: metav1.NewTime(c.p.now),
	})
}

// serving is for a provider that answers the probe: it may fail at all else.
func (c conditions) serving(reason string) {
	if reason == computev1.ReasonCircuitOpen {
		c.set(computev1.ConditionSynced, metav1.ConditionFalse, reason)
	} else {
		c.set(computev1.ConditionSynced, metav1.ConditionTrue, computev1.ReasonSynced)
	}
	c.whileTrue("", "")
}

// whileTrue sets the conditions that exist only while they are true, and drops
// them where there is no reason. It never drops one to set it again, which would
// move its transition time.
func (c conditions) whileTrue(reconciling, stalled string) {
	for _, condition := range []struct{ kind, reason string }{
		{computev1.ConditionReconciling, reconciling}, {computev1.ConditionStalled, stalled},
	} {
		if condition.reason == "" {
			meta.RemoveStatusCondition(c.list, condition.kind)
		} else {
			c.set(condition.kind, metav1.ConditionTrue, condition.reason)
		}
	}
}

// keep leaves the verdict that stands. Where none stands for this spec, the
// object is still being tried.
func (c conditions) keep(stalled string) {
	ready := meta.FindStatusCondition(*c.list, computev1.ConditionReady)
	held := meta.FindStatusCondition(*c.list, computev1.ConditionStalled)
	current := ready != nil && ready.ObservedGeneration == c.p.config.Generation && len(c.p.released) == 0
	switch {
	case current && held != nil && holds(held.Reason):
	case current && ready.Status == metav1.ConditionTrue:
		c.whileTrue("", stalled)
	default:
		if ready == nil {
			c.set(computev1.ConditionReady, metav1.ConditionUnknown, computev1.ReasonProbing)
			c.set(computev1.ConditionSynced, metav1.ConditionUnknown, computev1.ReasonProbing)
		}
		c.whileTrue(computev1.ReasonProbing, stalled)
	}
}

// report stores the status, takes off the annotations that were used, and then
// tells what happened.
func (r *Reconciler) report(ctx context.Context, p *pass, next computev1.ProviderConfigStatus) error {
	before := p.config.Status
	if !equality.Semantic.DeepEqual(before, next) {
		changed := p.config.DeepCopy()
		changed.Status = next
		// Bound to the version that the pass has read: a status made from an older one
		// could undo a release.
		patch := client.MergeFromWithOptions(p.config, client.MergeFromWithOptimisticLock{})
		if err := r.Client.Status().Patch(ctx, changed, patch, client.FieldOwner(computev1.FieldOwner)); err != nil {
			return client.IgnoreNotFound(wrap("storing the status", err))
		}
		p.config = changed
	}
	r.tell(p, before, next)
	return client.IgnoreNotFound(wrap("removing used annotations", r.removeUsed(ctx, p)))
}

// removeUsed comes after the status: between the two a crash leaves an annotation
// that releases nothing any more, and the next pass removes it.
func (r *Reconciler) removeUsed(ctx context.Context, p *pass) error {
	if len(p.used) == 0 {
		return nil
	}
	err := r.patchMetadata(ctx, p.config, func() {
		for _, annotation := range p.used {
			delete(p.config.Annotations, annotation)
		}
	})
	if err == nil {
		// What the pass itself changed is no reason to probe again.
		p.memory.cause = p.cause()
	}
	return err
}

func wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, err)
}
