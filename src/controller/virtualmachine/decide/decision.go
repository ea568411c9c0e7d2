package decide

// Decision is what to do next, and why.
type Decision struct {
	// Action is the one side effect to have.
	Action Action
	// Reason is that of the condition that tells of it. An empty Reason leaves the
	// status as it is.
	Reason string
	// Message explains the Reason to the user.
	Message string
	// After is when to look again, if nothing happens before.
	After Delay
}

// Ends reports whether a pass is over with this decision.
func (d Decision) Ends() bool {
	return d.Action == None || d.Action == Wait || d.Action == Stall
}

// Action is a side effect.
type Action int

const (
	// None does nothing: all is as declared, or nothing can be done here.
	None Action = iota
	// Wait does nothing now: work goes on after a while.
	Wait
	// Stall does nothing: a person must act.
	Stall
	// AddFinalizer puts the finalizer on an object whose VM exists.
	AddFinalizer
	// RecordIntent stores finalizer, create key, request, provider and time of the
	// attempt, in one write bound to the resourceVersion that was read.
	RecordIntent
	// WithdrawIntent stores that the last POST made nothing.
	WithdrawIntent
	// TakeOver makes a restored object the owner of the VM.
	TakeOver
	// MakeNew lets a restored object forget the VM of the earlier one.
	MakeNew
	// ClearAnswer removes an annotation that has served its purpose.
	ClearAnswer
	// Create sends the POST.
	Create
	// Adopt stores the id of a VM that was found.
	Adopt
	// Update resizes the VM.
	Update
	// ApplyChildren writes the owned objects.
	ApplyChildren
	// Delete asks the provider to delete the VM.
	Delete
	// RemoveFinalizer lets the object go.
	RemoveFinalizer
	actions
)

// String is the action's name as it appears in logs and in the documentation.
func (a Action) String() string {
	names := [actions]string{
		"None", "Wait", "Stall", "AddFinalizer", "RecordIntent", "WithdrawIntent", "TakeOver", "MakeNew",
		"ClearAnswer", "Create", "Adopt", "Update", "ApplyChildren", "Delete", "RemoveFinalizer",
	}
	if a < 0 || a >= actions {
		return "Unknown"
	}
	return names[a]
}

// Mutates reports whether the action changes something at the provider.
func (a Action) Mutates() bool { return a == Create || a == Update || a == Delete }

// Delay is how long to wait. The durations belong to whoever acts.
type Delay int

const (
	// Never means that only an event leads to the next look.
	Never Delay = iota
	// Soon is for a VM in transition.
	Soon
	// Poll is the ProviderConfig's poll interval.
	Poll
	// Settle is when absence will count.
	Settle
	// Recreate is when a vanished VM may be made again.
	Recreate
	// Backoff grows with every failure.
	Backoff
	// Turn is when the provider or the rate limit lets the next call through.
	Turn
	// Long is a look in case that an event was missed.
	Long
	delays
)

// String is the delay's name as it appears in the documentation.
func (d Delay) String() string {
	names := [delays]string{"Never", "Soon", "Poll", "Settle", "Recreate", "Backoff", "Turn", "Long"}
	if d < 0 || d >= delays {
		return "Unknown"
	}
	return names[d]
}
