package rollout

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
)

const interval = 30 * time.Second

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func vms(prefix string, count int) []types.NamespacedName {
	all := make([]types.NamespacedName, count)
	for i := range all {
		all[i] = types.NamespacedName{Namespace: "team", Name: fmt.Sprintf("%s-%d", prefix, i)}
	}
	return all
}

// gathered is a rollout of revision 7 for so many VirtualMachines with a VM.
func gathered(count int) (*Rollout, []types.NamespacedName) {
	all := vms("web", count)
	r := Begin(Change{Revision: 7, Gated: true, Interval: interval})
	r.Gather(Members{First: all}, noon)
	return r, all
}

func report(r *Rollout, verdict Verdict, vms ...types.NamespacedName) {
	for _, vm := range vms {
		r.Report(vm, 7, verdict)
	}
}

func TestAFewAreLetInFirst(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		members Members
		want    []types.NamespacedName
	}{
		"of many":                           {Members{First: vms("web", 20)}, vms("web", 5)},
		"those with a VM before the others": {Members{First: vms("web", 3), Rest: vms("new", 20)}, append(vms("web", 3), vms("new", 2)...)},
		"all, where there are no more":      {Members{First: vms("web", 3)}, vms("web", 3)},
		"none, where there are none":        {Members{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := Begin(Change{Revision: 7, Gated: true, Interval: interval})
			r.Gather(test.members, noon)
			if diff := cmp.Diff(test.want, r.Step(noon).VMs); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTheRestIsLetInOnceMostOfTheFewWentWell(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		verdicts []Verdict
		want     int
	}{
		"all":                             {[]Verdict{Well, Well, Well, Well, Well}, 15},
		"three of five":                   {[]Verdict{Well, Failed, Well, Failed, Well}, 15},
		"two of five":                     {[]Verdict{Well, Failed, Well, Failed, Failed}, 0},
		"two, and others have yet to ask": {[]Verdict{Well, Pending, Well, Pending, Pending}, 0},
		"none":                            {[]Verdict{Failed, Failed, Failed, Failed, Failed}, 0},
		"one that said nothing is replaced by another": {[]Verdict{Well, Silent, Well, Failed, Failed}, 1},
		"all said nothing": {[]Verdict{Silent, Silent, Silent, Silent, Silent}, 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, _ := gathered(20)
			for i, vm := range r.Step(noon).VMs {
				report(r, test.verdicts[i], vm)
			}
			if got := len(r.Step(noon).VMs); got != test.want {
				t.Errorf("%d let in, want %d", got, test.want)
			}
		})
	}
}

func TestAPassThroughAFormerWaySaysNothing(t *testing.T) {
	t.Parallel()
	r, _ := gathered(20)
	for _, vm := range r.Step(noon).VMs {
		r.Report(vm, 6, Well)
	}
	if in := r.Step(noon).VMs; len(in) > 0 || !r.Trying() {
		t.Errorf("let in: %v", in)
	}
}

func TestAVMThatFailedAndGoesWellLaterCounts(t *testing.T) {
	t.Parallel()
	r, _ := gathered(20)
	few := r.Step(noon).VMs
	report(r, Failed, few...)
	report(r, Well, few[:3]...)
	if got := len(r.Step(noon).VMs); got != 15 {
		t.Errorf("%d let in, want the rest", got)
	}
}

func TestAnotherFewAreTriedAfterAPollInterval(t *testing.T) {
	t.Parallel()
	r, all := gathered(20)
	report(r, Failed, r.Step(noon).VMs...)
	if !r.Next().Equal(noon.Add(interval)) {
		t.Errorf("next step at %s", r.Next())
	}
	if in := r.Step(noon.Add(interval - 1)).VMs; len(in) > 0 {
		t.Errorf("let in too early: %v", in)
	}
	if diff := cmp.Diff(all[5:10], r.Step(noon.Add(interval)).VMs); diff != "" {
		t.Error(diff)
	}
}

func TestWhoIsHeldBackMayNotPassAndIsLetInLater(t *testing.T) {
	t.Parallel()
	r, all := gathered(20)
	few := r.Step(noon).VMs
	if !r.Admits(few[0]) {
		t.Error("one of the few is held back")
	}
	created := vms("created", 1)[0]
	if r.Admits(all[10]) || r.Admits(created) {
		t.Error("one of the rest is not held back")
	}
	report(r, Well, few...)
	if diff := cmp.Diff(append(all[5:20:20], created), r.Step(noon).VMs); diff != "" {
		t.Error(diff)
	}
	if !r.Admits(created) || !r.Over() {
		t.Error("it is not over")
	}
}

func TestWhoComesByItselfWhileTheRestIsLetInIsNotLetInAgain(t *testing.T) {
	t.Parallel()
	r, all := gathered(3 * Batch)
	report(r, Well, r.Step(noon).VMs...)
	first := r.Step(noon).VMs
	if !r.Admits(all[3*Batch-1]) {
		t.Fatal("held back")
	}
	report(r, Well, first...)
	report(r, Well, r.Step(noon).VMs...)
	rest := r.Step(noon).VMs
	if got, want := len(rest), 3*Batch-Few-2*Batch-1; got != want {
		t.Errorf("%d let in at last, want %d", got, want)
	}
}

func TestTheRestIsLetInAsThoseBeforeThemPass(t *testing.T) {
	t.Parallel()
	r, _ := gathered(10 * Batch)
	report(r, Well, r.Step(noon).VMs...)
	batch := r.Step(noon).VMs
	if len(batch) != Batch {
		t.Fatalf("a batch of %d", len(batch))
	}
	report(r, Failed, batch[:Batch/2-1]...)
	report(r, Pending, batch[Batch/2-1:]...)
	if in := r.Step(noon).VMs; len(in) > 0 {
		t.Errorf("%d more, though most are on their way", len(in))
	}
	report(r, Silent, batch[Batch/2-1])
	if got := len(r.Step(noon).VMs); got != Batch/2 {
		t.Errorf("%d more, want %d", got, Batch/2)
	}
	if in := r.Step(noon.Add(interval - 1)).VMs; len(in) > 0 {
		t.Errorf("%d more, though all before them are on their way", len(in))
	}
	if got := len(r.Step(noon.Add(interval)).VMs); got != Batch {
		t.Errorf("%d more behind some that hang, want %d", got, Batch)
	}
}

func TestWhoMustOnlyBeToldIsNotHeldBack(t *testing.T) {
	t.Parallel()
	all := vms("web", 3*Batch)
	r := Begin(Change{Revision: 7, Interval: interval})
	if !r.Admits(all[0]) {
		t.Error("held back")
	}
	r.Gather(Members{First: all}, noon)
	batch := r.Step(noon).VMs
	if len(batch) != Batch || r.Trying() {
		t.Errorf("a batch of %d", len(batch))
	}
	report(r, Pending, batch...)
	if got := len(r.Step(noon).VMs); got != Batch {
		t.Errorf("a second batch of %d", got)
	}
}

func TestTheFewWaitForTheListThatShowsTheirVMs(t *testing.T) {
	t.Parallel()
	begin := func(members Members) *Rollout {
		r := Begin(Change{Revision: 7, Gated: true, AwaitsList: true, Interval: interval})
		r.Gather(members, noon)
		return r
	}
	t.Run("and go on with it", func(t *testing.T) {
		t.Parallel()
		r := begin(Members{First: vms("web", 20)})
		if in := r.Step(noon).VMs; len(in) > 0 || !r.AwaitsList() {
			t.Errorf("let in without a list: %v", in)
		}
		r.Listed(noon)
		if got := len(r.Step(noon).VMs); got != Few {
			t.Errorf("%d let in", got)
		}
	})
	t.Run("for as long as it takes", func(t *testing.T) {
		t.Parallel()
		r := begin(Members{First: vms("web", 20)})
		if in := r.Step(noon.Add(time.Hour)).VMs; len(in) > 0 || !r.Next().IsZero() {
			t.Errorf("%d let in; next step at %s", len(in), r.Next())
		}
	})
	t.Run("as all do who are not to try anything", func(t *testing.T) {
		t.Parallel()
		all := vms("web", 20)
		r := Begin(Change{Revision: 7, AwaitsList: true, Interval: interval})
		r.Gather(Members{First: all}, noon)
		if in := r.Step(noon).VMs; len(in) > 0 || r.Admits(all[0]) {
			t.Errorf("let in without a list: %v", in)
		}
		r.Listed(noon)
		if got := len(r.Step(noon).VMs); got != 20 {
			t.Errorf("%d let in", got)
		}
	})
	t.Run("unless none of them has a VM", func(t *testing.T) {
		t.Parallel()
		if got := len(begin(Members{Rest: vms("web", 20)}).Step(noon).VMs); got != Few {
			t.Errorf("%d let in", got)
		}
	})
	t.Run("which may be there before the members are known", func(t *testing.T) {
		t.Parallel()
		r := Begin(Change{Revision: 7, Gated: true, AwaitsList: true, Interval: interval})
		r.Listed(noon)
		r.Gather(Members{First: vms("web", 20)}, noon)
		if got := len(r.Step(noon).VMs); got != Few {
			t.Errorf("%d let in", got)
		}
	})
}

func TestWhoIsGoneIsLetInNoMore(t *testing.T) {
	t.Parallel()
	r, all := gathered(7)
	few := r.Step(noon).VMs
	r.Gone(few[0])
	r.Gone(all[5])
	if diff := cmp.Diff(all[6:7], r.Step(noon).VMs); diff != "" {
		t.Error(diff)
	}
	report(r, Well, few[1:4]...)
	r.Step(noon)
	if !r.Over() {
		t.Error("it is not over")
	}
}

func TestAWayIsTrustedOnceItHasLedToMostVMs(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		count   int
		first   []Verdict
		second  []Verdict
		trusted bool
		lost    bool
	}{
		"that are all on it at once":                 {count: 5, trusted: true},
		"that are none":                              {count: 0, trusted: true},
		"but not yet":                                {count: 8},
		"three of five":                              {count: 8, first: []Verdict{Well, Well, Well}, trusted: true},
		"not where all five vanished":                {count: 8, first: []Verdict{Vanished, Vanished, Vanished, Vanished, Vanished}, lost: true},
		"not where the others only fail":             {count: 8, first: []Verdict{Failed, Failed, Failed, Vanished, Vanished}},
		"in the end, all counted":                    {count: 8, first: []Verdict{Well, Well, Failed, Failed, Failed}, second: []Verdict{Well, Well, Well}, trusted: true},
		"not in the end, where half of them fail":    {count: 8, first: []Verdict{Well, Well, Failed, Failed, Failed}, second: []Verdict{Well, Well, Failed}},
		"not in the end, where most have vanished":   {count: 8, first: []Verdict{Well, Well, Vanished, Vanished, Vanished}, second: []Verdict{Well, Vanished, Vanished}, lost: true},
		"in the end, where nobody has said anything": {count: 7, first: []Verdict{Silent, Silent, Silent, Silent, Silent}, second: []Verdict{Silent, Silent}, trusted: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, _ := gathered(test.count)
			few := r.Step(noon).VMs
			for i, verdict := range test.first {
				report(r, verdict, few[i])
			}
			few = r.Step(noon.Add(interval)).VMs
			for i, verdict := range test.second {
				report(r, verdict, few[i])
			}
			r.Step(noon.Add(interval))
			if r.Trusted() != test.trusted || r.Lost() != test.lost {
				t.Errorf("trusted: %t, lost: %t", r.Trusted(), r.Lost())
			}
		})
	}
}
