// Package disappearance tells a provider that lost its VMs from VMs that were
// deleted one by one. Making a fleet again because a provider answered wrongly
// costs more than waiting for a person.
//
// It counts from what the objects say, so that a restart forgets nothing. The
// VirtualMachine controller asks before it makes a vanished VM again, the
// ProviderConfig controller to latch what was found.
package disappearance

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/virtualmachine/intent"
)

const (
	// Intervals is the length of the window that counts, in poll intervals: every
	// VM is looked at at least twice in it.
	Intervals = 3
	// fewest is how many VMs must vanish before their share matters: one of three
	// is no mass.
	fewest = 5
	// share is the part of all VMs, one in this many, that more must vanish than.
	share = 10
	// fewestOfAll is how many VMs there must be for the loss of all to count.
	fewestOfAll = 2
)

// Mass reports whether so many of a provider's VMs vanished in the three poll
// intervals before now that the provider is believed to be wrong: more than a
// tenth and at least five, or all and at least two. What vanished up to
// releasedAt does not count; the zero time counts everything.
//
// It also returns how many vanished, and of how many: a VM that never was known
// to exist counts in neither, and one that a person is deleting only if it
// vanished.
func Mass(
	vms []computev1.VirtualMachine, now time.Time, pollInterval time.Duration, releasedAt time.Time,
) (held bool, vanished, total int) {
	span := window{now: now, length: Intervals * pollInterval, releasedAt: releasedAt}
	for i := range vms {
		vm := &vms[i]
		record := intent.Of(vm)
		switch {
		case span.vanished(vm) || span.replaced(record):
			vanished++
			total++
		case vm.DeletionTimestamp.IsZero() && existed(vm, record):
			total++
		}
	}
	many := vanished >= fewest && vanished*share > total
	all := vanished == total && total >= fewestOfAll
	return many || all, vanished, total
}

// window is the time in which what happened counts.
type window struct {
	now        time.Time
	length     time.Duration
	releasedAt time.Time
}

func (w window) contains(t time.Time) bool {
	return !t.Before(w.now.Add(-w.length)) && t.After(w.releasedAt)
}

// vanished reports whether the VM is seen to be gone.
func (w window) vanished(vm *computev1.VirtualMachine) bool {
	synced := meta.FindStatusCondition(vm.Status.Conditions, computev1.ConditionSynced)
	return synced != nil && synced.Reason == computev1.ReasonVanished && w.contains(synced.LastTransitionTime.Time)
}

// replaced reports whether the VM vanished and is being, or was, made again,
// which ends the condition that told of it.
//
// After a release, all that was held back is made again. That is what the person
// asked for, and must not be taken for another disappearance: for one window
// such a replacement does not count. A VM that vanishes meanwhile still counts
// until it is replaced.
func (w window) replaced(record *intent.Record) bool {
	if record == nil || record.Ordinal() <= 1 || record.AttemptedAt == nil {
		return false
	}
	attempted := record.AttemptedAt.Time
	return w.contains(attempted) && (w.releasedAt.IsZero() || attempted.After(w.releasedAt.Add(w.length)))
}

// existed reports whether the VM is, or once was, known by an id.
func existed(vm *computev1.VirtualMachine, record *intent.Record) bool {
	return vm.Status.ID != "" || record != nil && (record.Ordinal() > 1 || record.Replaces != "")
}
