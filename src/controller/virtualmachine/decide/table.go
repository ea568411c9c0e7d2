package decide

import "slices"

// Situation is a State with the words that describe it.
type Situation struct {
	// Name describes the State in a sentence.
	Name string
	// State is what Decide is asked about.
	State State
}

// Situations are the States that the documentation's transition table shows, in
// the order in which a VM's life meets them.
func Situations() []Situation {
	return slices.Concat(creations(), cares(), deletions())
}

// with is a settled VM at a provider with every capability, changed.
func with(change func(*State)) State {
	s := State{
		Finalizer: true, Provider: ProviderReady, Idempotent: true, FindsByKey: true,
		Intent: IntentStored, Machine: MachineSettled, IDStored: true,
	}
	change(&s)
	return s
}

// posting is with, between the recording of the intent and the POST.
func posting(change func(*State)) State {
	return with(func(s *State) {
		s.Intent, s.Machine, s.IDStored = IntentFresh, MachineNone, false
		change(s)
	})
}

// leaving is with, deleted.
func leaving(change func(*State)) State {
	return with(func(s *State) { s.Lifecycle = Deleting; change(s) })
}

// minimal takes away what a minimal provider lacks.
func minimal(s *State) { s.Idempotent, s.FindsByKey = false, false }

// creations are the situations until the VM is known.
func creations() []Situation {
	return []Situation{
		{"The object is new", State{Provider: ProviderReady, Machine: MachineNone}},
		{"The ProviderConfig does not exist", State{Provider: ProviderMissing}},
		{"The ProviderConfig is not ready", State{Provider: ProviderNotReady}},
		{"The provider has not been tried since the operator started", State{Provider: ProviderUnprobed}},
		{"The object is paused", with(func(s *State) { s.Paused = true })},
		{"The intent is recorded", posting(func(*State) {})},
		{"The POST failed without effect", posting(func(s *State) { s.Fault = FaultTransient })},
		{"The POST waits for its turn", posting(func(s *State) { s.Fault = FaultThrottled })},
		{"The POST is held back, for other calls fail", posting(func(s *State) { s.Fault = FaultHeldBack })},
		{"The POST was refused for good", posting(func(s *State) { s.Fault = FaultRejected })},
		{"A refused request is withdrawn", with(func(s *State) {
			s.Intent, s.Machine, s.IDStored, s.Fault = IntentWithdrawn, MachineNone, false, FaultRejected
		})},
		{"The credentials were refused", posting(func(s *State) { s.Fault = FaultUnauthorized })},
		{"The create key is known with another request", posting(func(s *State) {
			s.Machine, s.Fault = MachineUnconfirmed, FaultConflict
		})},
		{"The POST had no clear answer, and can be repeated", posting(func(s *State) { s.Fault = FaultAmbiguous })},
		{"The POST had no clear answer, and cannot be repeated", posting(func(s *State) { minimal(s); s.Fault = FaultAmbiguous })},
		{"The operator restarted after recording the intent", with(func(s *State) { s.Machine, s.IDStored = MachineUnconfirmed, false })},
		{"The same, at a provider where a POST cannot be repeated", with(func(s *State) {
			minimal(s)
			s.Machine, s.IDStored = MachineAmbiguous, false
		})},
		{"A person said that nothing was made", with(func(s *State) { minimal(s); s.Machine, s.IDStored = MachineGone, false })},
		{"A person named the VM, or it was found by its key", with(func(s *State) { s.IDStored = false })},
		{"The question is answered and the answer still there", with(func(s *State) { s.AnswerSpent = true })},
	}
}

// cares are the situations of a VM that is known and wanted.
func cares() []Situation {
	return []Situation{
		{"The VM is being made", with(func(s *State) { s.Machine = MachineProvisioning })},
		{"The children differ", with(func(s *State) { s.Children = ChildrenDiffer })},
		{"The children could not be written", with(func(s *State) { s.Children = ChildrenUnknown })},
		{"Somebody else's object is in the place of a child", with(func(s *State) { s.Children = ChildrenBlocked })},
		{"Everything is as declared", with(func(*State) {})},
		{"cpu or memory differ", with(func(s *State) { s.Size = SizeDiffers })},
		{"The resize was asked for", with(func(s *State) { s.Size = SizeRequested })},
		{"cpu or memory differ and cannot be changed", with(func(s *State) { s.Size = SizeFixed })},
		{"The finalizer was removed by somebody", with(func(s *State) { s.Finalizer = false })},
		{"A read failed", with(func(s *State) { s.Machine, s.Fault = MachineUnknown, FaultTransient })},
		{"A read was refused", with(func(s *State) { s.Machine, s.Fault = MachineUnknown, FaultRejected })},
		{"A read says 404, which proves nothing yet", with(func(s *State) { s.Machine = MachineMissing })},
		{"The VM was deleted at the provider", with(func(s *State) { s.Machine = MachineVanished })},
		{"Many VMs vanished at once", with(func(s *State) { s.Machine = MachineVanishedEnMasse })},
		{"A vanished VM may be made again", with(func(s *State) { s.Machine = MachineGone })},
		{"Another identity answers, or the provider is held", with(func(s *State) { s.Provider, s.Machine = ProviderHeld, MachineUnknown })},
		{"The VM was made at another provider", with(func(s *State) { s.Provider, s.Machine = ProviderForeign, MachineUnknown })},
		{"The object was restored from a backup", with(func(s *State) { s.Owner, s.Machine = Restored, MachineUnknown })},
		{"The same, and the VM is to be taken over", with(func(s *State) { s.Owner, s.Machine = RestoredTakeOver, MachineUnknown })},
		{"The same, and another VM is to be made", with(func(s *State) { s.Owner, s.Machine = RestoredMakeNew, MachineUnknown })},
	}
}

// deletions are the situations of an object that is to go.
func deletions() []Situation {
	return []Situation{
		{"Deleted: nothing was ever made", leaving(func(s *State) { s.Intent, s.Machine, s.IDStored = IntentWithdrawn, MachineNone, false })},
		{"Deleted: the VM exists", leaving(func(*State) {})},
		{"Deleted: the id is not known, the POST can be repeated", leaving(func(s *State) { s.Machine, s.IDStored = MachineUnconfirmed, false })},
		{"Deleted: the provider is deleting the VM", leaving(func(s *State) { s.Machine = MachineTerminating })},
		{"Deleted: a read says 404, which proves nothing yet", leaving(func(s *State) { s.Machine = MachineMissing })},
		{"Deleted: the VM is confirmed gone", leaving(func(s *State) { s.Machine = MachineGone })},
		{"Deleted: nobody can tell whether a VM was made", leaving(func(s *State) { minimal(s); s.Machine, s.IDStored = MachineAmbiguous, false })},
		{"Deleted: the provider cannot be reached", leaving(func(s *State) { s.Machine, s.Fault = MachineUnknown, FaultTransient })},
		{"Deleted: the provider refuses to delete the VM", leaving(func(s *State) { s.Fault = FaultRejected })},
		{"Deleted: the ProviderConfig is not ready", leaving(func(s *State) { s.Provider, s.Machine = ProviderNotReady, MachineUnknown })},
		{"Deleted with deletionPolicy Retain", with(func(s *State) { s.Lifecycle, s.Machine = Retaining, MachineUnknown })},
		{"Deleted: restored from a backup", leaving(func(s *State) { s.Owner, s.Machine = Restored, MachineUnknown })},
		{"Deleted and paused", leaving(func(s *State) { s.Paused = true })},
	}
}
