// Package decide is the judgement of the RoleBinding controller. It does no I/O
// and tells no time.
package decide

// State is what a pass sees. Zero values are the ones that permit least.
type State struct {
	// Binding is what is seen of the RoleBinding.
	Binding Binding
	// Finalizer: it carries ours.
	Finalizer bool
	// Needs says whether the namespace has objects that only the operator can let go.
	Needs Needs
}

// Binding is what is seen of a RoleBinding.
type Binding int

// The values of Binding.
const (
	// Missing: it does not exist.
	Missing Binding = iota
	// Deleting: it is being deleted, with its namespace or alone.
	Deleting
	// Live: it is there to stay.
	Live

	bindings
)

// Needs says whether a namespace needs the operator's rights.
type Needs int

// The values of Needs.
const (
	// Unknown: nobody has looked past the cache.
	Unknown Needs = iota
	// Needed: there is at least one object that waits for the operator, or will.
	Needed
	// NotNeeded: a live look found none.
	NotNeeded

	needs
)

// Action is one thing to do.
type Action int

// The actions.
const (
	// None does nothing.
	None Action = iota
	// AddFinalizer keeps the RoleBinding.
	AddFinalizer
	// RemoveFinalizer lets it go.
	RemoveFinalizer
)

// String is the action's name.
func (a Action) String() string { return [...]string{"None", "AddFinalizer", "RemoveFinalizer"}[a] }

// Decide says what to do.
//
// The finalizer is there only while it is needed, and not for as long as the
// operator runs: an operator that is uninstalled after all its objects then leaves
// nothing behind that waits for it.
func Decide(s State) Action {
	switch {
	case s.Binding == Live && !s.Finalizer && s.Needs == Needed:
		return AddFinalizer
	case s.Binding != Missing && s.Finalizer && s.Needs == NotNeeded:
		return RemoveFinalizer
	}
	return None
}
