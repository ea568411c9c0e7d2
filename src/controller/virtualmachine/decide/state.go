package decide

// State is everything that a Decision depends on. Its zero value is a new object
// of which nothing is known.
type State struct {
	// Lifecycle is whether the object is wanted.
	Lifecycle Lifecycle
	// Paused is true while the user wants all work stopped.
	Paused bool
	// Finalizer is true while our finalizer is on the object.
	Finalizer bool
	// Owner is whose the VM is that the object's create record tells of.
	Owner Owner
	// Provider is whether the provider can be used for this object.
	Provider Provider
	// Idempotent is true if a repeated POST under one key is safe.
	Idempotent bool
	// FindsByKey is true if a VM can be found by its create key.
	FindsByKey bool
	// Intent is what is stored about the creation.
	Intent Intent
	// Machine is what is known of the VM.
	Machine Machine
	// IDStored is true if the status holds the VM's id.
	IDStored bool
	// AnswerSpent is true while an annotation that has served its purpose is still
	// on the object.
	AnswerSpent bool
	// Size is how the VM's size compares with the spec.
	Size Size
	// Children is how the owned objects compare with what they should be.
	Children Children
	// Fault is the class of the call that failed in this pass, or of one that was
	// refused before and would be refused again.
	Fault Fault
}

// Lifecycle is whether an object is wanted.
type Lifecycle int

const (
	// Live means that the object is wanted.
	Live Lifecycle = iota
	// Deleting means that object and VM are to go.
	Deleting
	// Retaining means that the object is to go and its VM is to stay.
	Retaining
	lifecycles
)

// Owner is whose the VM is that a create record tells of.
type Owner int

const (
	// Own means this object's, or nobody's.
	Own Owner = iota
	// Restored means that of an earlier object of the same name.
	Restored
	// RestoredTakeOver means Restored, and the user wants this object to have it.
	RestoredTakeOver
	// RestoredMakeNew means Restored, and the user wants a new VM.
	RestoredMakeNew
	owners
)

// Provider is whether a provider can be used for an object.
type Provider int

const (
	// ProviderUnprobed means that this process has yet to try it, or, since the way to
	// it has changed, to try it with a few other VMs first.
	ProviderUnprobed Provider = iota
	// ProviderMissing means that there is no such ProviderConfig.
	ProviderMissing
	// ProviderNotReady means that it does not work.
	ProviderNotReady
	// ProviderHeld means that nothing may be made or deleted until a person
	// releases it.
	ProviderHeld
	// ProviderForeign means that it is not the one that the VM was made at.
	ProviderForeign
	// ProviderReady means that it can be used.
	ProviderReady
	providers
)

// Intent is what is stored about a creation.
type Intent int

const (
	// IntentNone means nothing: no POST was ever sent.
	IntentNone Intent = iota
	// IntentWithdrawn means that every POST so far is known to have made nothing.
	IntentWithdrawn
	// IntentStored means that a POST may have been sent.
	IntentStored
	// IntentFresh means that this very pass stored it, bound to the resourceVersion
	// that the pass began with: nobody else is at work on the object.
	IntentFresh
	intents
)

// Machine is what is known of a VM.
type Machine int

const (
	// MachineUnknown means that it could not be read.
	MachineUnknown Machine = iota
	// MachineNone means that none was ever made under the present key.
	MachineNone
	// MachineUnconfirmed means that a POST may have made one, and that only
	// repeating it can tell.
	MachineUnconfirmed
	// MachineAmbiguous means that a POST may have made one, and that only a person
	// can tell.
	MachineAmbiguous
	// MachineMissing means that the provider does not show it, which proves nothing
	// yet.
	MachineMissing
	// MachineVanished means that it is confirmed gone though nobody here deleted it,
	// and that it is too early to make another.
	MachineVanished
	// MachineVanishedEnMasse means MachineVanished, together with so many others
	// that the provider is believed to be wrong.
	MachineVanishedEnMasse
	// MachineGone means that it is confirmed absent and may be replaced.
	MachineGone
	// MachineProvisioning means that the provider is making it.
	MachineProvisioning
	// MachineSettled means that it exists and nothing is going on.
	MachineSettled
	// MachineTerminating means that the provider is deleting it, or was just asked to.
	MachineTerminating
	machines
)

// Exists reports whether the provider shows the VM.
func (m Machine) Exists() bool {
	return m == MachineProvisioning || m == MachineSettled || m == MachineTerminating
}

// Size is how a VM's size compares with the spec.
type Size int

const (
	// SizeSame means that it is as declared, or that the provider does not tell.
	SizeSame Size = iota
	// SizeDiffers means that it should be changed.
	SizeDiffers
	// SizeRequested means that the change was asked for and is not seen yet.
	SizeRequested
	// SizeFixed means that it differs and the provider cannot change it.
	SizeFixed
	sizes
)

// Children is how the owned objects compare with what they should be.
type Children int

const (
	// ChildrenApplied means that nothing needs to be written.
	ChildrenApplied Children = iota
	// ChildrenDiffer means that something needs to be written.
	ChildrenDiffer
	// ChildrenBlocked means that an object of somebody else's is in the way.
	ChildrenBlocked
	// ChildrenUnknown means that they could not be read or written.
	ChildrenUnknown
	childrens
)

// Fault is the class of a failed call, as far as the decision depends on it.
type Fault int

const (
	// FaultNone means that no call failed.
	FaultNone Fault = iota
	// FaultTransient may pass; nothing was done.
	FaultTransient
	// FaultThrottled means to wait for a turn; nothing was done.
	FaultThrottled
	// FaultHeldBack means to wait until a call of somebody else's succeeds, for the
	// provider fails; nothing was done.
	FaultHeldBack
	// FaultUnauthorized means that the credentials are wrong; nothing was done.
	FaultUnauthorized
	// FaultAmbiguous may have had its effect.
	FaultAmbiguous
	// FaultRejected will be refused again; nothing was done.
	FaultRejected
	// FaultConflict means that the create key is known with another request.
	FaultConflict
	faults
)
