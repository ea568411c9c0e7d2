package decide

// Decision is what to do next, and why.
type Decision struct {
	// Action is the one side effect to have.
	Action Action
	// Reason is that of the condition that tells of it.
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

// Log is what the log says of the decision: names and values.
func (d Decision) Log() []any { return []any{"action", d.Action.String(), "reason", d.Reason} }

// Action is a side effect.
type Action int

const (
	// None does nothing: all is as declared, or nothing is to be done here.
	None Action = iota
	// Wait does nothing now: work goes on after a while.
	Wait
	// Stall does nothing: a person must act.
	Stall
	// InspectDeployment reads the Deployment past the cache.
	InspectDeployment
	// InspectService reads the Service past the cache.
	InspectService
	// ApplyDeployment makes the Deployment, or puts it right.
	ApplyDeployment
	// ApplyService makes the Service, or puts it right.
	ApplyService
	// DeleteService deletes the Service.
	DeleteService
	actions
)

// String is the action's name as it appears in logs and in the documentation.
func (a Action) String() string {
	names := [actions]string{
		"None", "Wait", "Stall", "InspectDeployment", "InspectService", "ApplyDeployment", "ApplyService", "DeleteService",
	}
	if a < 0 || a >= actions {
		return "Unknown"
	}
	return names[a]
}

// Writes reports whether the action changes something in the cluster.
func (a Action) Writes() bool {
	return a == ApplyDeployment || a == ApplyService || a == DeleteService
}

// Delay is how long to wait. The durations belong to whoever acts.
type Delay int

const (
	// Never means that only an event leads to the next look.
	Never Delay = iota
	// Soon is for what converges.
	Soon
	// Backoff is for what failed: longer each time.
	Backoff
	// Turn is when what somebody else changes again and again may be put back.
	Turn
	// Long is a look in case that an event was missed, or that nobody tells.
	Long
	delays
)

// String is the delay's name as it appears in the documentation.
func (d Delay) String() string {
	names := [delays]string{"Never", "Soon", "Backoff", "Turn", "Long"}
	if d < 0 || d >= delays {
		return "Unknown"
	}
	return names[d]
}
