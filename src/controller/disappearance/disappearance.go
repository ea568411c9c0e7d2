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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
// tenth and at least five, or all and at least two.
//
// A release at releasedAt covers what vanished before it and, for another three
// poll intervals, what is only then found to have vanished: while a provider is
// held nobody looks, so most of what a person releases is found afterwards. The
// zero time is no release.
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
		record := intent.Replacement(vm)
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
	released := !w.releasedAt.IsZero() && !t.After(w.releasedAt.Add(w.length))
	return !released && !t.Before(w.now.Add(-w.length))
}

// vanished reports whether the VM is seen to be gone. Where Synced was false
// before, for another reason, its transition time is an old one, and that of
// Ready tells when the VM went.
func (w window) vanished(vm *computev1.VirtualMachine) bool {
	synced := meta.FindStatusCondition(vm.Status.Conditions, computev1.ConditionSynced)
	if synced == nil || synced.Reason != computev1.ReasonVanished {
		return false
	}
	since := synced.LastTransitionTime.Time
	ready := meta.FindStatusCondition(vm.Status.Conditions, computev1.ConditionReady)
	if ready != nil && ready.Status == metav1.ConditionFalse && ready.LastTransitionTime.After(since) {
		since = ready.LastTransitionTime.Time
	}
	return w.contains(since)
}

// replaced reports whether the VM vanished and is being, or was, made again,
// which ends the condition that told of it.
func (w window) replaced(record *intent.Record) bool {
	return record != nil && record.Replaces != "" && record.AttemptedAt != nil && w.contains(record.AttemptedAt.Time)
}

// existed reports whether the VM is, or once was, known by an id.
func existed(vm *computev1.VirtualMachine, record *intent.Record) bool {
	return vm.Status.ID != "" || record != nil && record.Replaces != ""
}
