// Package rollout lets the VirtualMachines of a ProviderConfig through a way to
// the provider that has changed: a few first, and the rest once it has led most of
// those few to their VMs. A way that leads nowhere is met by the few alone.
//
// Rollout is one such change and pure. Rollouts are those of all ProviderConfigs;
// they put what is let in into the controller's queue.
package rollout

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

const (
	// Few is how many VirtualMachines try a way first.
	Few = 5
	// Batch is how many of the rest are on their way at once: enough to keep all
	// workers busy, and so few that the queue stays short.
	Batch = 100
)

// Change is what a Rollout is of.
type Change struct {
	// Revision is the registry entry's.
	Revision int64
	// Gated is false where nothing is called: all are to be told, and none has to be
	// held back.
	Gated bool
	// AwaitsList says that the VMs are looked for in a list, so that none is let in
	// before there is one.
	AwaitsList bool
	// Interval is how long a few have, until another few are tried.
	Interval time.Duration
}

// Members are the VirtualMachines of a ProviderConfig: First those that have a VM
// which the way should lead to, then the Rest.
type Members struct {
	First, Rest []types.NamespacedName
}

type phase int

const (
	// gathering waits for the members.
	gathering phase = iota
	// listing waits for the list that shows the members' VMs.
	listing
	// trying lets in a few, and watches how they fare.
	trying
	// spreading lets in the rest, as those before them have passed.
	spreading
)

// Rollout is one change of a way. It is not safe for concurrent use. Call Begin.
type Rollout struct {
	change Change
	phase  phase
	// waiting have not been let in.
	waiting backlog
	// tried have been, before the rest, and how they have fared so far.
	tried fates
	// few are those of them whose fate decides now.
	few map[types.NamespacedName]struct{}
	// trusted is true once the way is known to lead to VMs, or all are on it.
	trusted bool
	// underway were let in and have not passed since.
	underway map[types.NamespacedName]struct{}
	// deadline is when the rollout goes on, whatever has not happened.
	deadline time.Time
}

// Begin returns the Rollout of a change. Nothing is let in before Gather.
func Begin(change Change) *Rollout {
	return &Rollout{
		change:   change,
		waiting:  backlog{members: map[types.NamespacedName]struct{}{}},
		tried:    fates{of: map[types.NamespacedName]Verdict{}},
		few:      map[types.NamespacedName]struct{}{},
		underway: map[types.NamespacedName]struct{}{},
		trusted:  !change.Gated,
	}
}

// Gather takes in whom the change concerns. It is called once.
func (r *Rollout) Gather(members Members, now time.Time) {
	early := r.waiting
	r.waiting = backlog{members: make(map[types.NamespacedName]struct{}, len(members.First)+len(members.Rest))}
	for _, vm := range members.First {
		r.waiting.push(vm)
	}
	for _, vm := range members.Rest {
		r.waiting.push(vm)
	}
	for vm := range early.members {
		r.waiting.push(vm)
	}
	if r.change.AwaitsList && len(members.First) > 0 {
		r.phase = listing
		return
	}
	r.start(now)
}

// AwaitsList reports whether Listed is still to be called.
func (r *Rollout) AwaitsList() bool {
	return r.change.AwaitsList && r.phase <= listing
}

// Listed says that the members' VMs are now shown by a list.
func (r *Rollout) Listed(now time.Time) {
	r.change.AwaitsList = false
	if r.phase == listing {
		r.start(now)
	}
}

// Admits reports whether a VirtualMachine may be worked on now. One that may not
// is let in later.
func (r *Rollout) Admits(vm types.NamespacedName) bool {
	if !r.gated() {
		// This is its turn, if it comes by itself.
		r.waiting.remove(vm)
		return true
	}
	if r.tried.has(vm) {
		return true
	}
	r.waiting.push(vm)
	return false
}

// Report says how a pass went that was made through the way of this revision.
func (r *Rollout) Report(vm types.NamespacedName, revision int64, verdict Verdict) {
	if verdict != Pending || !r.change.Gated {
		delete(r.underway, vm)
	}
	if !r.tried.has(vm) || revision != r.change.Revision || verdict == Pending {
		return
	}
	r.tried.set(vm, verdict)
	if verdict == Silent {
		delete(r.few, vm)
	}
}

// Gone says that a VirtualMachine is no more.
func (r *Rollout) Gone(vm types.NamespacedName) {
	r.waiting.remove(vm)
	r.tried.remove(vm)
	delete(r.few, vm)
	delete(r.underway, vm)
}

// Admission is whom a Step lets in.
type Admission struct {
	VMs []types.NamespacedName
	// Few says that these try the way for the others.
	Few bool
}

// Step returns whom to let in now.
func (r *Rollout) Step(now time.Time) Admission {
	if r.phase == trying {
		if few := r.stepTrying(now); len(few) > 0 {
			return Admission{VMs: few, Few: true}
		}
	}
	if !r.trusted && r.phase == spreading && r.mostlyWell() {
		r.trust()
	}
	if r.phase == spreading {
		return Admission{VMs: r.stepSpreading(now)}
	}
	return Admission{}
}

// Next is when Step should be called though nothing happens; the zero time is
// never.
func (r *Rollout) Next() time.Time {
	if r.phase <= listing || r.waiting.len() == 0 {
		return time.Time{}
	}
	return r.deadline
}

// Trying reports whether all but those that try the way are held back.
func (r *Rollout) Trying() bool { return r.gated() }

// Waiting is how many have not been let in.
func (r *Rollout) Waiting() int { return r.waiting.len() }

// Over reports whether all have been let in, and nothing is open.
func (r *Rollout) Over() bool { return r.phase == spreading && r.waiting.len() == 0 && r.trusted }

func (r *Rollout) gated() bool {
	return r.phase != spreading && (r.change.Gated || r.change.AwaitsList)
}

func (r *Rollout) start(now time.Time) {
	if r.change.Gated {
		r.try(now)
	} else {
		r.spread(now)
	}
}

func (r *Rollout) try(now time.Time) {
	r.phase, r.deadline = trying, now.Add(r.change.Interval)
}

func (r *Rollout) stepTrying(now time.Time) []types.NamespacedName {
	if r.led() {
		r.trust()
		r.spread(now)
		return nil
	}
	if !now.Before(r.deadline) {
		// That these few have VMs which are broken says nothing of the others'.
		clear(r.few)
		r.try(now)
	}
	first := len(r.tried.of) == 0
	in := r.waiting.pop(Few - len(r.few))
	for _, vm := range in {
		r.tried.set(vm, Pending)
		r.few[vm] = struct{}{}
	}
	if r.waiting.len() == 0 {
		if first {
			r.trust()
		}
		r.spread(now)
	}
	return in
}

func (r *Rollout) spread(now time.Time) {
	r.phase, r.few, r.deadline = spreading, nil, now.Add(r.change.Interval)
}

// stepSpreading lets in the next of the rest once most of those before them have
// passed, or after a while, lest all wait for ever behind some that hang.
func (r *Rollout) stepSpreading(now time.Time) []types.NamespacedName {
	if !now.Before(r.deadline) {
		clear(r.underway)
	}
	if len(r.underway) > Batch/2 {
		return nil
	}
	in := r.waiting.pop(Batch - len(r.underway))
	for _, vm := range in {
		r.underway[vm] = struct{}{}
	}
	if r.waiting.len() == 0 {
		r.underway = nil
	}
	if len(in) > 0 {
		r.deadline = now.Add(r.change.Interval)
	}
	return in
}
