package orphan

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/disappearance"
	"github.com/example/vmoperator/src/controller/orphan/decide"
	"github.com/example/vmoperator/src/controller/owner"
	"github.com/example/vmoperator/src/controller/virtualmachine/intent"
	"github.com/example/vmoperator/src/metrics"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/registry"
)

// maxSteps is more than any orphan takes: one that takes more goes in circles.
const maxSteps = 4

// defaultMinimumAge is the schema's; an object that was stored before it was may
// lack it.
const defaultMinimumAge = time.Hour

// ripe are the ids of the orphans to delete until the next list, the oldest first.
func (p *pass) ripe() []string {
	var ripe []*suspect
	for _, each := range p.memory.suspects {
		if decision := decide.Decide(p.stateOf(each)); decision != decide.Report && decision != decide.Wait {
			ripe = append(ripe, each)
		}
	}
	slices.SortFunc(ripe, func(a, b *suspect) int { return cmp.Or(a.since.Compare(b.since), strings.Compare(a.id, b.id)) })
	ids := make([]string, 0, deletesPerLook)
	for _, each := range ripe[:min(len(ripe), deletesPerLook)] {
		ids = append(ids, each.id)
	}
	return ids
}

// stateOf is what is known of a suspect before anything is read for its deletion. A
// duplicate is never one to delete: nobody can tell which of two VMs is wanted.
func (p *pass) stateOf(s *suspect) decide.State {
	return decide.State{
		OptedIn: p.deletes() && s.kind == decide.Orphan,
		Hold:    p.memory.hold,
		Lists:   s.lists,
		Old:     p.now.Sub(s.since) >= minimumAge(p.config),
		Leaving: s.leaving,
	}
}

func minimumAge(config *computev1.ProviderConfig) time.Duration {
	if orphans := config.Spec.Orphans; orphans != nil && orphans.MinimumAge != nil {
		return orphans.MinimumAge.Duration
	}
	return defaultMinimumAge
}

// collect deletes what the last look has chosen. It returns how long to wait where
// a call waits for its turn.
func (r *Reconciler) collect(ctx context.Context, p *pass) time.Duration {
	m := p.memory
	for len(m.queue) > 0 {
		if chosen := m.suspects[m.queue[0]]; chosen != nil {
			err := r.dispose(ctx, p, chosen)
			if provider.ClassOf(err) == provider.Throttled {
				return max(provider.RetryAfterOf(err), soonest)
			}
			if err != nil {
				// The next list shows whether it is still there.
				log.FromContext(ctx).Info("an orphan could not be deleted", "vmID", chosen.id, "error", err.Error())
			}
			if provider.ClassOf(err) == provider.Unauthorized {
				r.Registry.Doubt(client.ObjectKeyFromObject(p.config))
			}
		}
		m.queue = m.queue[1:]
	}
	return 0
}

// dispose deletes one orphan, if what is read for that agrees. A call that waits
// for its turn ends it, and all is read again.
func (r *Reconciler) dispose(ctx context.Context, p *pass, s *suspect) error {
	state := p.stateOf(s)
	for range maxSteps {
		decision := decide.Decide(state)
		log.FromContext(ctx).V(1).Info("decided", "action", decision.String(), "vmID", s.id)
		var err error
		switch decision {
		case decide.ReadMachine:
			state.Machine, err = readMachine(ctx, p.entry.Client, s)
		case decide.ReadCluster:
			err = r.readCluster(ctx, p, s, &state)
		case decide.Delete:
			return r.delete(ctx, p, s)
		case decide.Report, decide.Wait:
			return nil
		}
		if err != nil {
			return err
		}
	}
	return fmt.Errorf("no end after %d steps", maxSteps)
}

// readMachine confirms that the id still names the VM that was listed.
func readMachine(ctx context.Context, from provider.Client, s *suspect) (decide.Machine, error) {
	machine, err := from.Get(ctx, s.id)
	switch {
	case provider.ClassOf(err) == provider.NotFound:
		return decide.MachineOther, nil
	case err != nil:
		return decide.MachineUnread, err
	case machine.ID == s.id && machine.Phase != provider.PhaseDeleting && s.owner.SameAs(machine.Labels):
		return decide.MachineSame, nil
	}
	return decide.MachineOther, nil
}

// readCluster reads past the cache: the ProviderConfig, which may have changed its
// mind, and the object, which may have come into being.
func (r *Reconciler) readCluster(ctx context.Context, p *pass, s *suspect, state *decide.State) error {
	config := &computev1.ProviderConfig{}
	err := r.APIReader.Get(ctx, client.ObjectKeyFromObject(p.config), config)
	if apierrors.IsNotFound(err) || err == nil && config.UID != p.config.UID {
		state.Hold = decide.HoldDeleting
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the ProviderConfig past the cache: %w", err)
	}
	siblings, err := cached(ctx, r, p)
	if err != nil {
		return err
	}
	now := &pass{config: config, entry: r.Registry.Get(client.ObjectKeyFromObject(config)), memory: p.memory, now: r.wallClock()}
	state.OptedIn = now.deletes()
	state.Hold = hold(config, siblings.vms, now.entry, p.memory.looks, now.now)
	state.Old = now.stateOf(s).Old
	if now.entry.Revision != p.entry.Revision {
		// The way to the provider has changed: the VM was read through another one.
		state.Hold = decide.HoldNotReady
	}
	state.Object, err = r.presence(ctx, config, s)
	return err
}

// presence says whether an object exists whose the VM may be. A VM that was left on
// purpose counts as somebody's.
func (r *Reconciler) presence(ctx context.Context, config *computev1.ProviderConfig, s *suspect) (decide.Presence, error) {
	if slices.Contains(retainedUIDs(config), s.owner.UID) {
		return decide.Present, nil
	}
	vm := &computev1.VirtualMachine{}
	err := r.APIReader.Get(ctx, s.owner.Object, vm)
	switch {
	case apierrors.IsNotFound(err):
		return decide.Absent, nil
	case err != nil:
		return decide.PresenceUnread, fmt.Errorf("reading the VirtualMachine past the cache: %w", err)
	case claims(vm).Claims(decide.VM{ID: s.id, UID: s.owner.UID}):
		return decide.Present, nil
	}
	return decide.Absent, nil
}

// claims says which VMs may be an object's. One that was restored from a backup
// carries the record of the earlier object, whose labels the VM has.
func claims(vm *computev1.VirtualMachine) decide.Object {
	object := decide.Object{UIDs: []types.UID{vm.UID}, ID: vm.Status.ID}
	record := intent.Of(vm)
	if record == nil {
		return object
	}
	object.UIDs = append(object.UIDs, record.UID, record.Labelled())
	if from, labelled := owner.Of(record.Request.Labels); labelled {
		object.UIDs = append(object.UIDs, from.UID)
	}
	if record.Replaces == object.ID {
		// The status still names the VM that is being replaced.
		object.ID = ""
	}
	return object
}

// hold says what speaks against deleting any orphan.
func hold(
	config *computev1.ProviderConfig, vms []computev1.VirtualMachine, entry registry.Entry, looks decide.Looks, now time.Time,
) decide.Hold {
	ready := meta.FindStatusCondition(config.Status.Conditions, computev1.ConditionReady)
	stalled := meta.FindStatusCondition(config.Status.Conditions, computev1.ConditionStalled)
	vanishing, _, _ := disappearance.Mass(vms, now, entry.PollInterval, entry.ReleasedAt)
	switch {
	case !config.DeletionTimestamp.IsZero():
		return decide.HoldDeleting
	case config.Annotations[computev1.PausedAnnotation] == "true":
		return decide.HoldPaused
	case vanishing || stalled != nil && stalled.Reason == computev1.ReasonMassDisappearance:
		return decide.HoldDisappearance
	case stalled != nil || ready == nil || ready.Status != metav1.ConditionTrue || ready.ObservedGeneration != config.Generation,
		!entry.Open() || entry.UID != config.UID:
		return decide.HoldNotReady
	case !looks.DoubtedAt.IsZero() && !looks.Confirmed(config.Annotations[computev1.ConfirmOrphanDeletionAnnotation]):
		return decide.HoldDoubt
	case len(config.Status.Retained) >= computev1.MaxRetained:
		return decide.HoldRetainedFull
	}
	return decide.HoldNone
}

// delete asks for the deletion. It is not cut off once it is sent: what was done must
// be told.
func (r *Reconciler) delete(ctx context.Context, p *pass, s *suspect) error {
	info := provider.CallInfoFrom(ctx)
	// A turn of its own: the reads that come before it with every attempt would use it.
	info.Caller = "deletion of " + info.Caller
	err := p.entry.Client.Delete(provider.WithCallInfo(context.WithoutCancel(ctx), info), s.id)
	if provider.ClassOf(err) == provider.NotFound {
		return nil
	}
	if err != nil {
		return err
	}
	s.leaving = true
	metrics.OrphansDeleted.Inc()
	r.tell(ctx, p, s, corev1.EventTypeNormal, EventOrphanDeleted, "deleted: "+describe(s))
	return nil
}
