package decide

// Decision is what to do about a State.
type Decision struct {
	// Action is the one thing to do.
	Action Action
	// Reason is the reason that conditions give, where Action ends a pass.
	Reason string
	// Pace says when to look again, where Action ends a pass.
	Pace Pace
}

// Action is one thing to do.
type Action int

// Steps change something, after which the State is judged again.
const (
	// AddFinalizer keeps the object until its users are gone.
	AddFinalizer Action = iota + 1
	// Rest closes the provider to VirtualMachines, and takes the finalizer off if
	// there still are none.
	Rest
	// MarkSecrets labels and keeps the Secrets that VirtualMachines need.
	MarkSecrets
	// UnmarkSecrets takes the marks off Secrets that none needs any more.
	UnmarkSecrets
	// Latch records that a mass disappearance was found. A release that stands
	// already was given for something else, and is void.
	Latch
	// ReleaseMassDisappearance ends the latch, once.
	ReleaseMassDisappearance
	// RunProbe calls the provider.
	RunProbe
	// AcceptIdentity takes the new identity for the accepted one's successor.
	AcceptIdentity
	// AcceptCapabilities takes the fewer capabilities for good.
	AcceptCapabilities
)

// Ends end a pass.
const (
	// Serve opens the provider to the VirtualMachines, if there are any.
	Serve Action = iota + 100
	// Keep leaves the verdict as it was.
	Keep
	// Retry closes the provider for a failure that may pass.
	Retry
	// Stall closes the provider until a person acts.
	Stall
	// Hold opens the provider to reads only, until a person releases it.
	Hold
	// RemoveFinalizer lets the object go.
	RemoveFinalizer
	// Gone does nothing: others keep the object.
	Gone
)

// Ends reports whether the action ends a pass.
func (a Action) Ends() bool { return a >= Serve }

// String is the action's name.
func (a Action) String() string { return names[a] }

var names = map[Action]string{
	AddFinalizer:             "AddFinalizer",
	Rest:                     "Rest",
	MarkSecrets:              "MarkSecrets",
	UnmarkSecrets:            "UnmarkSecrets",
	Latch:                    "Latch",
	ReleaseMassDisappearance: "ReleaseMassDisappearance",
	RunProbe:                 "RunProbe",
	AcceptIdentity:           "AcceptIdentity",
	AcceptCapabilities:       "AcceptCapabilities",
	Serve:                    "Serve",
	Keep:                     "Keep",
	Retry:                    "Retry",
	Stall:                    "Stall",
	Hold:                     "Hold",
	RemoveFinalizer:          "RemoveFinalizer",
	Gone:                     "Gone",
}

// Pace says when to look again.
type Pace int

// The paces.
const (
	// Never: an event will come.
	Never Pace = iota
	// Poll: after the poll interval.
	Poll
	// Backoff: soon, then less and less often.
	Backoff
	// Look: the same, slower: for Secrets, which cannot be watched before they
	// carry our label.
	Look
	// Slow: seldom; a person has to act, and may do so where we cannot see it.
	Slow
	// Told: when the provider said.
	Told
)
