package decide

import (
	"testing"
)

// ripe is an orphan that may be deleted at once.
func ripe() State {
	return State{OptedIn: true, Hold: HoldNone, Lists: ListsNeeded, Old: true, Machine: MachineSame, Object: Absent}
}

func TestDecide(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*State)
		want   Decision
	}{
		"All is read and agrees":                             {func(*State) {}, Delete},
		"The ProviderConfig wants only to be told":           {func(s *State) { s.OptedIn = false }, Report},
		"Nobody knows whether something speaks against it":   {func(s *State) { s.Hold = HoldUnknown }, Report},
		"The ProviderConfig is not ready":                    {func(s *State) { s.Hold = HoldNotReady }, Report},
		"The ProviderConfig is being deleted":                {func(s *State) { s.Hold = HoldDeleting }, Report},
		"The ProviderConfig is paused":                       {func(s *State) { s.Hold = HoldPaused }, Report},
		"VMs vanish in masses":                               {func(s *State) { s.Hold = HoldDisappearance }, Report},
		"A person must confirm":                              {func(s *State) { s.Hold = HoldDoubt }, Report},
		"More may have been retained than could be stored":   {func(s *State) { s.Hold = HoldRetainedFull }, Report},
		"One list has shown it":                              {func(s *State) { s.Lists = 1 }, Wait},
		"It is too young":                                    {func(s *State) { s.Old = false }, Wait},
		"The provider is deleting it":                        {func(s *State) { s.Leaving = true }, Wait},
		"Nothing is read yet":                                {func(s *State) { s.Machine, s.Object = MachineUnread, PresenceUnread }, ReadMachine},
		"The VM is gone, or another's, at the last look":     {func(s *State) { s.Machine, s.Object = MachineOther, PresenceUnread }, Report},
		"The object is read after the VM, right before":      {func(s *State) { s.Object = PresenceUnread }, ReadCluster},
		"The object has come into being":                     {func(s *State) { s.Object = Present }, Report},
		"The object has come into being, the VM is not read": {func(s *State) { s.Machine, s.Object = MachineUnread, Present }, Report},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			state := ripe()
			test.change(&state)
			if got := Decide(state); got != test.want {
				t.Errorf("%+v: %s, want %s", state, got, test.want)
			}
		})
	}
}

func TestTheZeroStateIsOnlyReported(t *testing.T) {
	t.Parallel()
	if got := Decide(State{}); got != Report {
		t.Errorf("%s", got)
	}
}

// every calls do with each State there is.
func every(do func(State)) {
	truths := []bool{false, true}
	for _, optedIn := range truths {
		for hold := range holds {
			for lists := range ListsNeeded + 2 {
				for _, old := range truths {
					for _, leaving := range truths {
						for machine := range machines {
							for object := range presences {
								do(State{optedIn, hold, lists, old, leaving, machine, object})
							}
						}
					}
				}
			}
		}
	}
}

func TestOnlyWhatIsCertainIsDeletedOfAllStates(t *testing.T) {
	t.Parallel()
	deletions := 0
	every(func(s State) {
		if Decide(s) != Delete {
			return
		}
		deletions++
		certain := s.OptedIn && s.Hold == HoldNone && s.Lists >= ListsNeeded && s.Old && !s.Leaving &&
			s.Machine == MachineSame && s.Object == Absent
		if !certain {
			t.Errorf("deleted: %+v", s)
		}
	})
	if deletions != 2 {
		t.Errorf("%d states lead to a deletion, want that of %d lists and of one more", deletions, ListsNeeded)
	}
}

// What is not opted in, or held, costs no call.
func TestNothingIsReadForWhatCannotBeDeleted(t *testing.T) {
	t.Parallel()
	every(func(s State) {
		reads := Decide(s) == ReadMachine || Decide(s) == ReadCluster
		if reads && (!s.OptedIn || s.Hold != HoldNone || s.Lists < ListsNeeded || !s.Old) {
			t.Errorf("%s: %+v", Decide(s), s)
		}
	})
}

// From every state, whatever the reads say, it ends, and the object is read last.
func TestEveryStateComesToAnEnd(t *testing.T) {
	t.Parallel()
	every(func(s State) {
		for _, machine := range []Machine{MachineSame, MachineOther} {
			for _, object := range []Presence{Present, Absent} {
				end(t, s, machine, object)
			}
		}
	})
}

func end(t *testing.T, s State, machine Machine, object Presence) {
	t.Helper()
	for range 3 {
		switch Decide(s) {
		case ReadMachine:
			if s.Object != PresenceUnread && s.Object != Absent {
				t.Errorf("the VM is read for an object that exists: %+v", s)
			}
			s.Machine = machine
		case ReadCluster:
			if s.Machine != MachineSame {
				t.Errorf("the cluster is read before the VM: %+v", s)
			}
			s.Object = object
		case Report, Wait, Delete, decisions:
			return
		}
	}
	t.Errorf("no end: %+v", s)
}

func TestEveryDecisionHasAName(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for d := range decisions {
		seen[d.String()] = true
	}
	if len(seen) != int(decisions) || seen["Unknown"] || decisions.String() != "Unknown" {
		t.Errorf("%v", seen)
	}
}
