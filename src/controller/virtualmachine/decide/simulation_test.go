package decide

import (
	"testing"

	"pgregory.net/rapid"
)

// world is a model of one object and its provider: what is stored, what exists,
// and what a pass remembers.
type world struct {
	lifecycle             Lifecycle
	idempotent, findByKey bool

	finalizer, idStored bool
	intent              Intent
	children            Children
	size                Size

	// vms is the number of live VMs under the present key.
	vms int
	// most is the largest number that there ever was at once.
	most int
	// known is true while this process knows that the VM was shown by a read.
	known bool
	// absences counts reads in a row that did not show a VM.
	absences int
	// told is a person's answer to an ambiguous creation.
	told bool

	fault Fault
}

// state is what a pass observes.
func (w *world) state() State {
	return State{
		Lifecycle: w.lifecycle, Finalizer: w.finalizer, Provider: ProviderReady,
		Idempotent: w.idempotent, FindsByKey: w.findByKey, Intent: w.intent,
		Machine: w.look(), IDStored: w.idStored, Size: w.size, Children: w.children, Fault: w.fault,
	}
}

// look is the model's observation, with the rules of the real one.
func (w *world) look() Machine {
	switch {
	case !w.idStored && (w.intent == IntentNone || w.intent == IntentWithdrawn):
		return MachineNone
	case w.fault != FaultNone && w.intent != IntentFresh:
		return MachineUnknown
	case !w.idStored && w.intent == IntentFresh:
		if w.vms > 0 || w.fault == FaultAmbiguous {
			return MachineUnconfirmed
		}
		return MachineNone
	case !w.idStored && w.idempotent && (w.lifecycle == Live || !w.findByKey):
		return MachineUnconfirmed
	case !w.idStored && !w.findByKey:
		return w.answered()
	case w.vms > 0:
		w.known, w.absences = true, 0
		return MachineSettled
	}
	w.absences++
	if w.known || w.absences >= 2 {
		return MachineGone
	}
	return MachineMissing
}

// answered is what a person says who looks at the provider.
func (w *world) answered() Machine {
	switch {
	case !w.told:
		return MachineAmbiguous
	case w.vms > 0:
		w.known = true
		return MachineSettled
	default:
		return MachineGone
	}
}

// act has the decision's effect, unless the pass fails with a fault before it, or
// crashes after it.
func (w *world) act(action Action, fault Fault) {
	switch action {
	case AddFinalizer:
		w.finalizer = true
	case RecordIntent:
		if w.absences > 0 || w.told {
			w.idStored, w.known, w.absences, w.told = false, false, 0, false
		}
		w.finalizer, w.intent = true, IntentFresh
	case WithdrawIntent:
		w.intent = IntentWithdrawn
	case Create:
		w.create(fault)
	case Adopt:
		w.idStored = true
	case Update:
		w.size = SizeSame
	case ApplyChildren:
		w.children = ChildrenApplied
	case Delete:
		w.fault = fault
		if fault == FaultNone || fault == FaultAmbiguous {
			w.vms = 0
		}
	case RemoveFinalizer:
		w.finalizer = false
	case None, Wait, Stall, TakeOver, MakeNew, ClearAnswer, actions:
	}
	w.most = max(w.most, w.vms)
}

func (w *world) create(fault Fault) {
	w.fault = fault
	if fault == FaultNone || fault == FaultAmbiguous {
		if w.idempotent {
			w.vms = 1
		} else {
			w.vms++
		}
	}
	w.idStored = fault == FaultNone
}

// pass is one Reconcile; crash, if not negative, is the step after which the
// process dies before it can do anything else.
func (w *world) pass(fault Fault, crash int) {
	w.fault = FaultNone
	for step := range 12 {
		d := Decide(w.state())
		if d.Ends() {
			break
		}
		w.act(d.Action, fault)
		if step == crash || d.Action == RemoveFinalizer {
			break
		}
	}
	if w.intent == IntentFresh {
		w.intent = IntentStored
	}
	if crash >= 0 {
		w.known, w.absences = false, 0
	}
}

func (w *world) done() bool {
	if w.lifecycle == Deleting {
		return w.vms == 0 && !w.finalizer
	}
	return w.vms == 1 && w.finalizer && w.idStored && w.children == ChildrenApplied && w.size == SizeSame
}

func TestEveryHistoryOfFaultsAndCrashesConvergesOnOneVMOrNone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &world{
			idempotent: rapid.Bool().Draw(t, "idempotent"),
			findByKey:  rapid.Bool().Draw(t, "findByKey"),
			children:   ChildrenDiffer,
			size:       rapid.SampledFrom([]Size{SizeSame, SizeDiffers}).Draw(t, "size"),
		}
		for range rapid.IntRange(0, 12).Draw(t, "troubled passes") {
			fault := rapid.SampledFrom([]Fault{FaultNone, FaultTransient, FaultThrottled, FaultHeldBack, FaultAmbiguous}).Draw(t, "fault")
			w.pass(fault, rapid.IntRange(-1, 4).Draw(t, "crash after step"))
			switch rapid.IntRange(0, 9).Draw(t, "event") {
			case 0:
				w.lifecycle = Deleting
			case 1:
				w.vms = 0
			case 2:
				w.told = Decide(w.state()).Reason == "CreateAmbiguous"
			}
		}
		if rapid.Bool().Draw(t, "deleted in the end") {
			w.lifecycle = Deleting
		}
		for range 10 {
			w.told = w.told || Decide(w.state()).Reason == "CreateAmbiguous"
			w.pass(FaultNone, -1)
		}
		if w.most > 1 {
			t.Fatalf("there were %d VMs at once: %+v", w.most, w)
		}
		neverMade := w.lifecycle == Deleting && w.intent == IntentNone && !w.finalizer
		if !w.done() && !neverMade {
			t.Fatalf("no convergence: %+v", w)
		}
	})
}
