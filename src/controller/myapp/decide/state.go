package decide

// State is what a pass sees of a MyApp and what belongs to it.
type State struct {
	// Deleting: the object is on its way out, and what it owns goes with it.
	Deleting bool
	// Paused: a person wants all to be left alone.
	Paused bool
	// Fault: a read or a write of this pass failed in a way that may pass.
	Fault bool
	// Refused: the Kubernetes API refuses what this generation of the spec asks for.
	Refused bool
	// Deployment and Service compare what there is with what there should be.
	Deployment, Service Child
	// Pods says how the Deployment's Pods are.
	Pods Pods
}

// Child compares an owned object with what it should be.
type Child struct {
	// State is how it compares.
	State ChildState
	// Fresh: it was read past the cache, so that it tells who has set what, and one
	// that is missing is missing now.
	Fresh bool
}

// ChildState is how an owned object compares with what it should be.
type ChildState int

// The values of ChildState.
const (
	// ChildSame: it is as it should be; that may be to be absent.
	ChildSame ChildState = iota
	// ChildMissing: there is none, and there should be.
	ChildMissing
	// ChildDiffers: something in it is not as declared.
	ChildDiffers
	// ChildHeld: the same, but somebody else changes it again and again: it is not due
	// to be put back yet.
	ChildHeld
	// ChildSurplus: there is one, and there should be none.
	ChildSurplus
	// ChildWaiting: one is being deleted, or about to be, as that of an earlier object
	// of this name.
	ChildWaiting
	// ChildForeign: the one of that name is somebody else's.
	ChildForeign
	childStates
)

// Pods says how the Deployment's Pods are.
type Pods int

// The values of Pods.
const (
	// PodsAvailable: all run what is declared and are available.
	PodsAvailable Pods = iota
	// PodsProgressing: some are being started or replaced.
	PodsProgressing
	// PodsInTrouble: something is known to be wrong with one of them.
	PodsInTrouble
	podStates
)
