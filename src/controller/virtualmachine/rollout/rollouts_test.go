package rollout

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/example/vmoperator/src/provider/registry"
)

func TestAChangeThatLeadsToTheVMsReachesAll(t *testing.T) {
	rigged(t, 250, func(r *rig) {
		entry := r.ready()
		few, _ := r.takes(Few, 0)
		if r.Trusts(r.config) {
			t.Error("it is trusted before it has led to anything")
		}
		r.pass(entry, Well, few)
		_, rest := r.takes(0, Batch)
		if !r.Trusts(r.config) {
			t.Error("it is not trusted though it has led to VMs")
		}
		all := slices.Clone(few)
		for batch := rest; len(batch) > 0; batch = r.takesBatch() {
			all = append(all, batch...)
			r.pass(entry, Well, batch)
		}
		if diff := cmp.Diff(r.members.First, all); diff != "" {
			t.Error(diff)
		}
	})
}

func TestAChangeThatLeadsNowhereIsTriedWithAnotherFewAfterAPollInterval(t *testing.T) {
	rigged(t, 250, func(r *rig) {
		entry := r.ready()
		few, _ := r.takes(Few, 0)
		r.pass(entry, Failed, few)
		r.wait(interval - 1)
		r.takes(0, 0)
		r.wait(time.Nanosecond)
		another, _ := r.takes(Few, 0)
		r.pass(entry, Well, another)
		r.takes(0, Batch)
	})
}

func TestANewChangeReplacesTheOneBefore(t *testing.T) {
	rigged(t, 250, func(r *rig) {
		bad := r.ready()
		few, _ := r.takes(Few, 0)
		r.pass(bad, Failed, few)
		good := r.ready()
		again, _ := r.takes(Few, 0)
		r.Report(r.config, bad.Revision, again[0], Well)
		r.Report(r.config, bad.Revision, again[1], Well)
		r.Report(r.config, bad.Revision, again[2], Well)
		r.takes(0, 0)
		if r.Admits(r.config, bad, again[0]) {
			t.Error("a pass goes on through the way that was replaced")
		}
		r.pass(good, Well, again)
		r.takes(0, Batch)
		r.ready(func(e *registry.Entry) { e.State, e.Client = registry.NotReady, nil })
		r.takes(0, Batch)
		if got := len(r.active); got != 1 {
			t.Errorf("%d rollouts", got)
		}
	})
}

func TestAnEntryThatSaysTheSameIsNoChange(t *testing.T) {
	rigged(t, 3, func(r *rig) {
		entry := r.ready()
		r.takes(3, 0)
		entry.PollInterval *= 2
		r.registry.Set(r.config, entry)
		r.takes(0, 0)
		entry.Identities = []string{"another"}
		r.registry.Set(r.config, entry)
		r.takes(3, 0)
	})
}

func TestAnEntryFromBeforeTheSourceIsMetByTheFirstPass(t *testing.T) {
	rigged(t, 20, func(r *rig) {
		r.takes(0, 0)
		entry := r.registry.Get(r.config)
		if r.Admits(r.config, entry, r.members.First[10]) {
			t.Error("let in before the few")
		}
		few, _ := r.takes(Few, 0)
		r.pass(entry, Well, few)
		r.takes(15, 0)
	}, func(r *rig) { r.ready() })
}

func TestMembersThatCannotBeReadAreReadAgain(t *testing.T) {
	rigged(t, 20, func(r *rig) {
		r.ready()
		r.takes(0, 0)
		r.wait(2 * gatherAgain)
		r.takes(Few, 0)
	}, func(r *rig) { r.failures = 2 })
}

func TestAllAreToldAtOnceThatNothingIsCalled(t *testing.T) {
	for name, state := range map[string]registry.State{"not ready": registry.NotReady, "held": registry.Held} {
		t.Run(name, func(t *testing.T) {
			rigged(t, 250, func(r *rig) {
				r.ready(func(e *registry.Entry) { e.State = state })
				_, batch := r.takes(0, Batch)
				r.Report(r.config, 0, batch[0], Silent)
				r.takes(0, 0)
				for _, vm := range batch {
					r.Report(r.config, 0, vm, Silent)
				}
				if next := r.takesBatch(); len(next) < Batch/2 {
					t.Errorf("%d follow those that have passed", len(next))
				}
			})
		})
	}
}

func TestAReleasedMassDisappearanceIsNotTried(t *testing.T) {
	rigged(t, 250, func(r *rig) {
		entry := r.ready(func(e *registry.Entry) { e.ReleasedAt = time.Now() })
		r.takes(0, Batch)
		if !r.Trusts(r.config) || !r.Admits(r.config, entry, r.members.First[249]) {
			t.Error("held back, or not trusted, though a person has released it")
		}
		r.wait(time.Hour)
		r.queue.take()
		r.ready(func(e *registry.Entry) { e.ReleasedAt = entry.ReleasedAt })
		r.takes(Few, 0)
	})
}

func TestTheFewAreLetInWithTheListThroughTheirWay(t *testing.T) {
	rigged(t, 20, func(r *rig) {
		r.ready()
		r.takes(0, 0)
		r.listed = true
		r.Wake()
		r.takes(Few, 0)
	}, lists)
}

func TestAForgottenProviderConfigEndsItsRolloutAndLeavesNothing(t *testing.T) {
	rigged(t, 120, func(r *rig) {
		entry := r.ready()
		few, _ := r.takes(Few, 0)
		r.pass(entry, Failed, few)
		if got := r.heldBack(); got != "115" {
			t.Errorf("the gauge shows %s", got)
		}
		r.registry.Forget(r.config)
		_, batch := r.takes(0, Batch)
		for _, vm := range batch {
			r.Gone(vm)
		}
		r.takes(20, 0)
		if got := len(r.active); got != 0 {
			t.Errorf("%d rollouts", got)
		}
		if got := r.heldBack(); got != "" {
			t.Errorf("the gauge shows %s", got)
		}
	})
}

func TestAWayThatShowsNoneOfAFewVMsHasLostThem(t *testing.T) {
	rigged(t, 250, func(r *rig) {
		doubts := 0
		r.registry.Listen(registry.Doubted, func(types.NamespacedName) { doubts++ })
		entry := r.ready()
		few, _ := r.takes(Few, 0)
		r.pass(entry, Vanished, few[:Few-1])
		if r.registry.Get(r.config).Lost {
			t.Error("lost, though one has yet to look")
		}
		r.pass(entry, Vanished, few[Few-1:])
		r.pass(entry, Vanished, few[Few-1:])
		if !r.registry.Get(r.config).Lost || doubts != 1 {
			t.Errorf("lost: %t, doubted %d times", r.registry.Get(r.config).Lost, doubts)
		}
		r.ready()
		if r.registry.Get(r.config).Lost {
			t.Error("what one way does not show is lost by the next")
		}
	})
}
