package decide

// ListsNeeded is how many complete lists in a row must show a VM without an object
// before it counts as an orphan: a VM can be deleted, and its object go, between a
// list and the reading of the objects.
const ListsNeeded = 2

// State is what is known of one orphan and of whether it may be deleted. Zero
// values are the ones that permit least.
type State struct {
	// OptedIn: the ProviderConfig wants orphans to be deleted.
	OptedIn bool
	// Hold is what speaks against any deletion.
	Hold Hold
	// Lists is how many complete lists in a row have shown it without an object.
	Lists int
	// Old: it was seen as an orphan for the minimum age.
	Old bool
	// Leaving: the provider is deleting it already.
	Leaving bool
	// Machine is what a read of the VM says.
	Machine Machine
	// Object is what a read of the object past the cache says.
	Object Presence
}

// Hold is what speaks against deleting any orphan of a ProviderConfig.
type Hold int

// The values of Hold.
const (
	// HoldUnknown: nobody has looked.
	HoldUnknown Hold = iota
	// HoldNotReady: the ProviderConfig is not Ready, or is held or stalled.
	HoldNotReady
	// HoldDeleting: the ProviderConfig is being deleted.
	HoldDeleting
	// HoldPaused: the ProviderConfig is paused.
	HoldPaused
	// HoldDisappearance: VMs vanish in masses, so that the provider is not believed.
	HoldDisappearance
	// HoldDoubt: a person must confirm first.
	HoldDoubt
	// HoldRetainedFull: more VMs may have been retained than could be recorded.
	HoldRetainedFull
	// HoldNone: nothing speaks against it.
	HoldNone
	holds
)

// Machine is what a read of the VM says, right before its deletion.
type Machine int

// The values of Machine.
const (
	// MachineUnread: nobody has read it.
	MachineUnread Machine = iota
	// MachineSame: it carries the labels that the list showed.
	MachineSame
	// MachineOther: it is gone, or carries other labels, or is being deleted.
	MachineOther
	machines
)

// Presence is what the cluster says of the object, right before the deletion.
type Presence int

// The values of Presence.
const (
	// PresenceUnread: nobody has read it.
	PresenceUnread Presence = iota
	// Present: it exists and may own the VM.
	Present
	// Absent: there is none, or one that is another's.
	Absent
	presences
)

// Decision is the next thing to do about one orphan.
type Decision int

// The decisions.
const (
	// Report leaves it alone, and tells of it once it counts.
	Report Decision = iota
	// Wait leaves it alone until it may be deleted.
	Wait
	// ReadMachine reads the VM.
	ReadMachine
	// ReadCluster reads the object, and the ProviderConfig, past the cache.
	ReadCluster
	// Delete deletes the VM.
	Delete
	decisions
)

// String is the decision's name as it appears in logs.
func (d Decision) String() string {
	names := [decisions]string{"Report", "Wait", "ReadMachine", "ReadCluster", "Delete"}
	if d < 0 || d >= decisions {
		return "Unknown"
	}
	return names[d]
}

// Decide says what to do next. What could stop a deletion is asked from the
// cheapest to the latest: the cluster is read last of all.
func Decide(s State) Decision {
	switch {
	case !s.OptedIn || s.Hold != HoldNone:
		return Report
	case s.Lists < ListsNeeded || !s.Old || s.Leaving:
		return Wait
	case s.Machine == MachineOther || s.Object == Present:
		return Report
	case s.Machine == MachineUnread:
		return ReadMachine
	case s.Object == PresenceUnread:
		return ReadCluster
	}
	return Delete
}
