// Package decide is the judgement of the labeller. It does no I/O and tells no
// time.
package decide

// State is what a pass sees of one Deployment. Zero values are the ones that permit
// least.
type State struct {
	// Live: it is not being deleted.
	Live bool
	// Selected: it is among those that carry the label.
	Selected bool
	// Label is what it has in the label's place.
	Label Label
	// Rested: the label is not contended, or its last correction is long enough ago.
	Rested bool
}

// Label is what a Deployment has in the label's place.
type Label int

// The values of Label.
const (
	// Right: the label with the value that it should have.
	Right Label = iota
	// Missing: no label of that key.
	Missing
	// Other: another value.
	Other

	labels
)

// Action is one thing to do.
type Action int

// The actions.
const (
	// None does nothing, until the Deployment changes.
	None Action = iota
	// Wait does nothing until the label may be set again.
	Wait
	// SetLabel sets the label.
	SetLabel

	actions
)

// String is the action's name.
func (a Action) String() string { return [...]string{"None", "Wait", "SetLabel"}[a] }

// Decide says what to do.
func Decide(s State) Action {
	switch {
	case !s.Live, !s.Selected, s.Label == Right:
		return None
	case !s.Rested:
		return Wait
	}
	return SetLabel
}
