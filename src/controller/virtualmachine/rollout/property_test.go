package rollout

import (
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
)

// play is a fleet, and what a rollout has done with it.
type play struct {
	*rapid.T

	rollout *Rollout
	now     time.Time
	// tries is how many fews may have been tried by now, and replaced how many of
	// them had to be by others.
	tries, replaced int
	present         map[types.NamespacedName]bool
	// members have been there from the start, and must be let in.
	members map[types.NamespacedName]bool
	// entered counts how often each was let in, be it that it came by itself.
	entered map[types.NamespacedName]int
	// queued were let in and have not passed.
	queued []types.NamespacedName
}

// names are all VirtualMachines that there ever are.
func names() []types.NamespacedName { return vms("web", 300) }

func newPlay(t *rapid.T, change Change) *play {
	p := &play{
		T: t, rollout: Begin(change), now: noon, tries: 1,
		present: map[types.NamespacedName]bool{}, members: map[types.NamespacedName]bool{}, entered: map[types.NamespacedName]int{},
	}
	members := names()[:rapid.IntRange(0, 280).Draw(t, "members")]
	known := rapid.IntRange(0, len(members)).Draw(t, "with a VM")
	for _, vm := range members {
		p.present[vm], p.members[vm] = true, true
	}
	p.rollout.Gather(Members{First: members[:known], Rest: members[known:]}, p.now)
	return p
}

// step lets the rollout go on, after a while.
func (p *play) step(after time.Duration) {
	p.now = p.now.Add(after)
	if after >= interval {
		p.tries++
	}
	for _, vm := range p.rollout.Step(p.now).VMs {
		p.enter(vm)
		p.queued = append(p.queued, vm)
	}
}

func (p *play) enter(vm types.NamespacedName) {
	p.entered[vm]++
	if !p.present[vm] || p.entered[vm] > 1 {
		p.Fatalf("%s is let in %d times; it is there: %t", vm, p.entered[vm], p.present[vm])
	}
}

// pass works off the one that was let in first.
func (p *play) pass(verdict Verdict) {
	if len(p.queued) == 0 {
		return
	}
	vm := p.queued[0]
	p.queued = p.queued[1:]
	if verdict == Pending || verdict == Failed || verdict == Vanished {
		p.queued = append(p.queued, vm)
	}
	if verdict == Silent {
		p.replaced++
	}
	p.rollout.Report(vm, 7, verdict)
}

// touch is a user who edits a VirtualMachine, or makes it.
func (p *play) touch(vm types.NamespacedName) {
	p.present[vm] = true
	before := p.rollout.Waiting()
	if p.rollout.Admits(vm) && p.rollout.Waiting() < before {
		p.enter(vm)
	}
}

func (p *play) remove(vm types.NamespacedName) {
	if p.present[vm] {
		p.replaced++
	}
	delete(p.present, vm)
	delete(p.members, vm)
	delete(p.entered, vm)
	p.queued = slices.DeleteFunc(p.queued, func(queued types.NamespacedName) bool { return queued == vm })
	p.rollout.Gone(vm)
}

// actions are what may happen, with passes that end so.
func (p *play) actions(verdicts ...Verdict) map[string]func(*rapid.T) {
	anyVM := rapid.SampledFrom(names())
	return map[string]func(*rapid.T){
		"":       func(*rapid.T) {},
		"step":   func(*rapid.T) { p.step(time.Second) },
		"wait":   func(*rapid.T) { p.step(interval) },
		"list":   func(*rapid.T) { p.rollout.Listed(p.now) },
		"pass":   func(t *rapid.T) { p.pass(rapid.SampledFrom(verdicts).Draw(t, "verdict")) },
		"touch":  func(t *rapid.T) { p.touch(anyVM.Draw(t, "touched")) },
		"delete": func(t *rapid.T) { p.remove(anyVM.Draw(t, "deleted")) },
	}
}

func gatedChange(t *rapid.T) Change {
	return Change{Revision: 7, Gated: true, AwaitsList: rapid.Bool().Draw(t, "awaits a list"), Interval: interval}
}

func TestEveryVMIsLetInExactlyOnceInTheEnd(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		change := gatedChange(t)
		change.Gated = rapid.Bool().Draw(t, "gated")
		p := newPlay(t, change)
		t.Repeat(p.actions(Pending, Silent, Well, Failed, Vanished))
		p.rollout.Listed(p.now)
		p.step(interval)
		for range len(p.present) {
			for range len(p.queued) {
				p.pass(Well)
			}
			p.step(0)
		}
		if !p.rollout.Over() || p.rollout.Waiting() > 0 || !p.rollout.Next().IsZero() {
			t.Fatalf("it is not over: %d wait, next step at %s", p.rollout.Waiting(), p.rollout.Next())
		}
		for vm := range p.present {
			if p.members[vm] && p.entered[vm] != 1 || !p.rollout.Admits(vm) {
				t.Errorf("%s was let in %d times", vm, p.entered[vm])
			}
		}
	})
}

func TestNoMoreThanTheFewAreLetInWhileTheyFail(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := newPlay(t, gatedChange(t))
		before := len(p.present)
		actions := p.actions(Pending, Silent, Failed, Vanished)
		actions[""] = func(t *rapid.T) {
			if got, most := len(p.entered), p.tries*Few+p.replaced; before > most && got > most {
				t.Fatalf("%d are let in, want at most %d", got, most)
			}
		}
		t.Repeat(actions)
	})
}
