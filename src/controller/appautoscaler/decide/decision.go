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
	// Create makes the Deployment.
	Create
	// Inspect reads the Deployment past the cache, for who has set what.
	Inspect
	// PutBack writes the fields that differ.
	PutBack
	// CreateScaler makes the HorizontalPodAutoscaler.
	CreateScaler
	// CompareScaler asks the Kubernetes API what it makes of what is declared.
	CompareScaler
	// InspectScaler reads the HorizontalPodAutoscaler past the cache.
	InspectScaler
	// PutBackScaler makes the HorizontalPodAutoscaler what is declared.
	PutBackScaler
	// DeleteScaler deletes the HorizontalPodAutoscaler.
	DeleteScaler
	actions int = iota
)

// String is the action's name as it appears in logs and in the documentation.
func (a Action) String() string {
	names := [...]string{
		"None", "Wait", "Stall", "Create", "Inspect", "PutBack",
		"CreateScaler", "CompareScaler", "InspectScaler", "PutBackScaler", "DeleteScaler",
	}
	if a < 0 || int(a) >= len(names) {
		return "Unknown"
	}
	return names[a]
}

// Writes reports whether the action changes something in the cluster.
func (a Action) Writes() bool {
	switch a {
	case Create, PutBack, CreateScaler, PutBackScaler, DeleteScaler:
		return true
	default:
		return false
	}
}

// Delay is how long to wait. The durations belong to whoever acts.
type Delay int

const (
	// Never means that only an event leads to the next look.
	Never Delay = iota
	// Soon is for what converges, or fails.
	Soon
	// Turn is when a field that is fought over may be put back again.
	Turn
	// Long is a look in case that an event was missed.
	Long
	delays
)

// String is the delay's name as it appears in the documentation.
func (d Delay) String() string {
	names := [delays]string{"Never", "Soon", "Turn", "Long"}
	if d < 0 || d >= delays {
		return "Unknown"
	}
	return names[d]
}
