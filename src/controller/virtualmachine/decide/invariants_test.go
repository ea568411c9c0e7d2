package decide

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
)

// everyState calls visit with the product of all values of all fields.
func everyState(visit func(State)) {
	booleans := []bool{false, true}
	for lifecycle := range lifecycles {
		for _, paused := range booleans {
			for _, finalizer := range booleans {
				for owner := range owners {
					for provider := range providers {
						everyMachine(State{
							Lifecycle: lifecycle, Paused: paused, Finalizer: finalizer, Owner: owner, Provider: provider,
						}, visit)
					}
				}
			}
		}
	}
}

func everyMachine(s State, visit func(State)) {
	booleans := []bool{false, true}
	for _, s.Idempotent = range booleans {
		for _, s.FindsByKey = range booleans {
			for s.Intent = range intents {
				for s.Machine = range machines {
					for _, s.IDStored = range booleans {
						for _, s.AnswerSpent = range booleans {
							everyRest(s, visit)
						}
					}
				}
			}
		}
	}
}

func everyRest(s State, visit func(State)) {
	for s.Size = range sizes {
		for s.Children = range childrens {
			for s.Fault = range faults {
				visit(s)
			}
		}
	}
}

// invariant is what must hold of every decision.
type invariant struct {
	name  string
	holds func(State, Decision) bool
}

func TestNoStateBreaksAnInvariant(t *testing.T) {
	invariants := []invariant{
		{"Unknown never mutates the provider", func(s State, d Decision) bool {
			return s.Machine != MachineUnknown || !d.Action.Mutates()
		}},
		{"nothing is mutated at a provider that is not ready", func(s State, d Decision) bool {
			return s.Provider == ProviderReady || !d.Action.Mutates()
		}},
		{"Create only with finalizer and key stored by this pass", func(s State, d Decision) bool {
			return d.Action != Create || s.Finalizer && s.Intent == IntentFresh
		}},
		{"Create only where the POST is idempotent or no VM can exist", func(s State, d Decision) bool {
			return d.Action != Create || s.Machine == MachineNone || s.Machine == MachineUnconfirmed && s.Idempotent
		}},
		{"an intent is never recorded over a VM that may exist", func(s State, d Decision) bool {
			return d.Action != RecordIntent || s.Machine == MachineNone || s.Machine == MachineUnconfirmed || s.Machine == MachineGone
		}},
		{"Delete only while deleting, owned and seen", func(s State, d Decision) bool {
			return d.Action != Delete || s.Lifecycle == Deleting && s.Owner == Own && s.Machine.Exists() && s.Finalizer
		}},
		{"Update only while the VM is wanted and settled", func(s State, d Decision) bool {
			return d.Action != Update || s.Lifecycle == Live && s.Machine == MachineSettled
		}},
		{"RemoveFinalizer only when absent for certain, or retained", func(s State, d Decision) bool {
			absent := s.Machine == MachineNone || s.Machine == MachineGone || s.Machine == MachineVanished || s.Machine == MachineVanishedEnMasse
			return d.Action != RemoveFinalizer || s.Lifecycle == Retaining || s.Owner != Own || absent
		}},
		{"RemoveFinalizer only while deleting", func(s State, d Decision) bool {
			return d.Action != RemoveFinalizer || s.Lifecycle != Live
		}},
		{"no child is written for an object that is being deleted", func(s State, d Decision) bool {
			return d.Action != ApplyChildren || s.Lifecycle == Live
		}},
		{"nothing at all is done to a paused object", func(s State, d Decision) bool {
			return !s.Paused || d.Action == None
		}},
		{"a vanished fleet is not made again", func(s State, d Decision) bool {
			return s.Machine != MachineVanishedEnMasse || d.Action != RecordIntent && d.Action != Create
		}},
		{"Wait says when to look again", func(_ State, d Decision) bool {
			return d.Action != Wait || d.After != Never
		}},
		{"a decision that ends a pass visibly says why", func(_ State, d Decision) bool {
			return d.Action != Wait && d.Action != Stall || d.Reason != "" && d.Message != ""
		}},
		{"an action that goes on does not ask to wait", func(_ State, d Decision) bool {
			return d.Ends() || d.After == Never
		}},
	}
	count := 0
	broken := make([]bool, len(invariants))
	everyState(func(s State) {
		count++
		d := Decide(s)
		for i, rule := range invariants {
			if !rule.holds(s, d) && !broken[i] {
				broken[i] = true
				t.Errorf("%s: Decide(%+v) = %+v", rule.name, s, d)
			}
		}
	})
	t.Logf("%d states against %d invariants", count, len(invariants))
}

func TestEveryActionAndDelayHasAName(t *testing.T) {
	for action := range actions {
		if action.String() == "" || action.String() == "Unknown" {
			t.Errorf("action %d has no name", action)
		}
	}
	for delay := range delays {
		if delay.String() == "" || delay.String() == "Unknown" {
			t.Errorf("delay %d has no name", delay)
		}
	}
}

// The metric of stalled VirtualMachines has a series for each of these reasons.
func TestTheReasonsToStallAreThoseThatTheAPINames(t *testing.T) {
	reasons := map[string]bool{}
	everyState(func(s State) {
		if d := Decide(s); d.Action == Stall {
			reasons[d.Reason] = true
		}
	})
	named := computev1.VirtualMachineStallReasons()
	slices.Sort(named)
	if diff := cmp.Diff(named, slices.Sorted(maps.Keys(reasons))); diff != "" {
		t.Errorf("named and decided differ:\n%s", diff)
	}
}
