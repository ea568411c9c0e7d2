package virtualmachine

import (
	"context"
	"time"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/disappearance"
	"github.com/example/vmoperator/src/controller/happening"
	"github.com/example/vmoperator/src/controller/virtualmachine/decide"
)

// vanished says whether a VM that is confirmed gone, though nobody here deleted
// it, may be made again now. Its object says Vanished first and waits until
// every other VM of the provider has been looked at once: a provider that has
// lost its memory must not make us rebuild the fleet.
func (r *Reconciler) vanished(ctx context.Context, p *pass, s decide.State, absence decide.Machine) decide.Machine {
	if absence != decide.MachineGone || s.Lifecycle != decide.Live {
		return absence
	}
	now := r.Now()
	siblings, err := r.siblings(ctx, p)
	if err != nil {
		return decide.MachineUnknown
	}
	if held, _, _ := disappearance.Mass(siblings, now, p.provider.PollInterval, p.provider.ReleasedAt); held {
		return decide.MachineVanishedEnMasse
	}
	since, marked := vanishedSince(p.vm)
	if !marked {
		since = now
		p.noticed(happening.Happening{Reason: computev1.ReasonVanished, Warning: true, Note: "VM " + p.id() + " was deleted at the provider"})
	}
	p.recreateAt = since.Add(recreateDelay(p, len(siblings), now))
	if released := p.provider.ReleasedAt; released.After(since) {
		p.recreateAt = now
	}
	if !r.rollouts.Trusts(p.providerKey()) {
		// The others, whose loss would say that the provider is wrong, are not looked at.
		if again := now.Add(p.provider.PollInterval); again.After(p.recreateAt) {
			p.recreateAt = again
		}
	}
	if now.Before(p.recreateAt) {
		return decide.MachineVanished
	}
	return decide.MachineGone
}

// recreateDelay is long enough for every other VM to be looked at, and grows
// with the number of times that this VM had to be made again in quick succession.
func recreateDelay(p *pass, siblings int, now time.Time) time.Duration {
	var delay time.Duration
	if siblings > 1 {
		delay = p.provider.PollInterval + p.provider.PollInterval/5
	}
	if !p.attempted() {
		return delay
	}
	backoff := min(time.Second<<min(p.record.Ordinal()-1, maxShift), maxRecreateBackoff)
	lived := now.Sub(p.record.AttemptedAt.Time)
	return max(delay, backoff-lived)
}

const (
	maxRecreateBackoff = 10 * time.Minute
	// maxShift keeps a doubled duration from running over.
	maxShift = 20
)

// vanishedSince is when the object's status first said Vanished.
func vanishedSince(vm *computev1.VirtualMachine) (time.Time, bool) {
	synced := findCondition(vm.Status.Conditions, computev1.ConditionSynced)
	if synced == nil || synced.Reason != computev1.ReasonVanished {
		return time.Time{}, false
	}
	return synced.LastTransitionTime.Time, true
}
