package decide

import (
	computev1 "github.com/example/vmoperator/src/api/compute/v1"
)

// Decide says what to do next.
func Decide(s State) Decision {
	switch {
	case s.Lifecycle != Live && !s.Finalizer:
		return Decision{Action: None}
	case s.Paused:
		return Decision{None, computev1.ReasonPaused, "the annotation " + computev1.PausedAnnotation + " stops all work on this object", Never}
	case s.Lifecycle != Live:
		return leave(s)
	default:
		return live(s)
	}
}

// leave decides for an object that is being deleted.
func leave(s State) Decision {
	switch {
	case s.Lifecycle == Retaining:
		return Decision{RemoveFinalizer, computev1.ReasonDeleting, "deletionPolicy Retain: the VM is left at the provider", Never}
	case s.Owner == RestoredTakeOver:
		return Decision{TakeOver, computev1.ReasonDeleting, "the VM of the earlier object becomes this object's", Never}
	case s.Owner != Own:
		return Decision{RemoveFinalizer, computev1.ReasonDeleting, "the VM belongs to an earlier object of this name: it is left at the provider", Never}
	case s.Machine == MachineNone:
		return Decision{RemoveFinalizer, computev1.ReasonDeleting, "no VM was made", Never}
	}
	if d, blocked := providerBlocks(s); blocked {
		return d
	}
	if s.Fault != FaultNone {
		return faulted(s)
	}
	switch s.Machine {
	case MachineAmbiguous:
		return ambiguous()
	case MachineUnconfirmed:
		// Repeating the POST is the only way to learn the id of what must be deleted.
		return create(s, "the VM is looked for, to be deleted")
	case MachineMissing:
		return Decision{Wait, computev1.ReasonDeleting, "the provider does not show the VM; its absence is not certain yet", Settle}
	case MachineVanished, MachineVanishedEnMasse, MachineGone:
		return Decision{RemoveFinalizer, computev1.ReasonDeleting, "the VM is gone", Never}
	case MachineTerminating:
		return Decision{Wait, computev1.ReasonDeleting, "the provider is deleting the VM", Soon}
	case MachineProvisioning, MachineSettled:
		return Decision{Delete, computev1.ReasonDeleting, "the VM is being deleted", Never}
	default:
		return unread(computev1.ReasonDeleting)
	}
}

// live decides for an object that is wanted.
func live(s State) Decision {
	switch s.Owner {
	case RestoredTakeOver:
		return Decision{TakeOver, computev1.ReasonRestoredObject, "the VM of the earlier object becomes this object's", Never}
	case RestoredMakeNew:
		return Decision{MakeNew, computev1.ReasonRestoredObject, "the VM of the earlier object is left alone", Never}
	case Restored:
		return Decision{Stall, computev1.ReasonRestoredObject, "this object carries the create key of an earlier object of the same name; " +
			"annotate it with " + computev1.RestoredAnnotation + "=" + computev1.RestoredTakeOver + " to own that VM, or =" + computev1.RestoredMakeNew +
			" to leave it alone and make another", Never}
	case Own, owners:
	}
	if d, blocked := providerBlocks(s); blocked {
		return d
	}
	if s.Machine.Exists() {
		return present(s)
	}
	return absent(s)
}

// providerBlocks decides when the provider cannot be used.
func providerBlocks(s State) (Decision, bool) {
	switch s.Provider {
	case ProviderUnprobed:
		return Decision{Action: None}, true
	case ProviderMissing:
		return Decision{Wait, computev1.ReasonProviderConfigNotFound, "the ProviderConfig of providerRef does not exist in this namespace: create it", Long}, true
	case ProviderNotReady:
		return Decision{Wait, computev1.ReasonProviderNotReady, "the ProviderConfig is not ready", Long}, true
	case ProviderHeld:
		return Decision{Wait, computev1.ReasonProviderHeld, "the ProviderConfig is stalled: nothing is made or deleted until a person releases it", Long}, true
	case ProviderForeign:
		return Decision{Stall, computev1.ReasonForeignProvider, "the VM was made at another provider than the ProviderConfig leads to now: " +
			"nothing is made or deleted; lead the ProviderConfig back, or set deletionPolicy Retain and delete this object", Long}, true
	case ProviderReady, providers:
	}
	return Decision{}, false
}

// absent decides when the provider shows no VM.
func absent(s State) Decision {
	if s.Fault != FaultNone {
		return faulted(s)
	}
	switch s.Machine {
	case MachineNone, MachineUnconfirmed, MachineGone:
		return create(s, "the VM is being made")
	case MachineMissing:
		return Decision{Wait, computev1.ReasonNotShown, "the provider does not show the VM; its absence is not certain yet", Settle}
	case MachineVanished:
		return Decision{Wait, computev1.ReasonVanished, "the VM was deleted at the provider; it will be made again", Recreate}
	case MachineVanishedEnMasse:
		return Decision{Wait, computev1.ReasonVanished, "the VM is one of many that vanished from the provider at once: " +
			"nothing is made again until a person releases the ProviderConfig", Long}
	case MachineAmbiguous:
		return ambiguous()
	default:
		return unread(computev1.ReasonProviderError)
	}
}

// create leads to the POST: never without an intent that this pass has stored.
func create(s State, message string) Decision {
	if s.Machine == MachineUnconfirmed && !s.Idempotent {
		return ambiguous()
	}
	if s.Intent == IntentFresh && s.Finalizer && s.Machine != MachineGone {
		return Decision{Create, computev1.ReasonCreating, message, Never}
	}
	return Decision{RecordIntent, computev1.ReasonCreating, message, Never}
}

// present decides when the VM exists.
func present(s State) Decision {
	switch {
	case !s.IDStored:
		return Decision{Adopt, computev1.ReasonProvisioning, "the VM was found", Never}
	case !s.Finalizer:
		return Decision{AddFinalizer, computev1.ReasonProvisioning, "the finalizer was missing", Never}
	case s.AnswerSpent:
		return Decision{ClearAnswer, computev1.ReasonProvisioning, "the question is answered", Never}
	case s.Machine == MachineTerminating:
		return Decision{Wait, computev1.ReasonDeleting, "the VM is being deleted at the provider; another will be made", Soon}
	case s.Children == ChildrenDiffer:
		return Decision{ApplyChildren, computev1.ReasonSynced, "Secret, Service and EndpointSlices are being written", Never}
	case s.Children == ChildrenUnknown:
		return Decision{Wait, computev1.ReasonChildError, "Secret, Service or EndpointSlices could not be read or written", Backoff}
	case s.Fault != FaultNone:
		return faulted(s)
	case s.Machine == MachineProvisioning:
		return Decision{Wait, computev1.ReasonProvisioning, "the provider is making the VM", Soon}
	case s.Size == SizeDiffers:
		return Decision{Update, computev1.ReasonResizing, "cpu and memory are being changed", Never}
	case s.Size == SizeRequested:
		return Decision{Wait, computev1.ReasonResizing, "the provider is changing cpu and memory", Poll}
	case s.Size == SizeFixed:
		return Decision{Stall, computev1.ReasonResizeNotSupported, "cpu or memory differ from the spec, and this provider cannot change them: " +
			"set them back, or delete this VirtualMachine and create another", Poll}
	case s.Children == ChildrenBlocked:
		return Decision{Stall, computev1.ReasonChildConflict, "an object that somebody else owns stands where a child of this object belongs: remove or rename it", Poll}
	default:
		return Decision{None, computev1.ReasonSynced, "the VM is as declared", Poll}
	}
}

// faulted decides after a call that failed.
func faulted(s State) Decision {
	if madeNothing(s) {
		return Decision{WithdrawIntent, computev1.ReasonCreating, "the provider has made nothing", Never}
	}
	switch s.Fault {
	case FaultThrottled:
		return Decision{Wait, computev1.ReasonThrottled, "the call waits for its turn", Turn}
	case FaultHeldBack:
		return Decision{Wait, computev1.ReasonThrottled, "calls to the provider failed one after another: this one waits until one succeeds", Turn}
	case FaultUnauthorized:
		return Decision{Wait, computev1.ReasonProviderNotReady, "the provider refuses the credentials of the ProviderConfig", Backoff}
	case FaultRejected:
		if s.Machine == MachineUnknown {
			// A look has nothing that a person could change.
			return Decision{Wait, computev1.ReasonProviderError, "the provider refuses to show the VM; it will be asked again", Backoff}
		}
		if s.Lifecycle != Live {
			return Decision{Stall, computev1.ReasonRejected, "the provider refuses to delete the VM: delete it there, or set deletionPolicy Retain to leave it", Poll}
		}
		after := Long
		if s.Machine.Exists() {
			after = Poll
		}
		return Decision{Stall, computev1.ReasonRejected, "the provider refuses this for good: change the spec, or delete this VirtualMachine and create another", after}
	case FaultConflict:
		return Decision{Stall, computev1.ReasonCreateConflict, "the provider knows the create key with another request: look at the VM of this key at the provider", Long}
	case FaultAmbiguous:
		if nobodyCanTell(s) {
			return ambiguous()
		}
		return Decision{Wait, computev1.ReasonProviderError, "the provider gave no clear answer; it will be asked again", Backoff}
	default:
		return Decision{Wait, computev1.ReasonProviderError, "the provider failed; the call will be repeated", Backoff}
	}
}

// madeNothing reports whether the first POST of an intent failed for certain and
// that must be stored: because a repeat could not be told from a second VM, or
// because the request is going to change.
func madeNothing(s State) bool {
	certain := s.Fault != FaultAmbiguous && s.Fault != FaultConflict
	return s.Intent == IntentFresh && s.Machine == MachineNone && certain && (!s.Idempotent || s.Fault == FaultRejected)
}

// nobodyCanTell reports whether a POST without a clear answer can neither be
// repeated nor looked up.
func nobodyCanTell(s State) bool {
	return s.Intent == IntentFresh && !s.Machine.Exists() && !s.Idempotent && !s.FindsByKey
}

func ambiguous() Decision {
	return Decision{Stall, computev1.ReasonCreateAmbiguous, "a VM may or may not have been made, and this provider cannot tell: look there for it; " +
		"if it is there, annotate this object with " + computev1.TakeOverIDAnnotation + "=<its id>, if not with " +
		computev1.ConfirmNotCreatedAnnotation + "=<the create key>", Never}
}

// unread is for a VM that could not be read though no call failed: the next look
// may tell more.
func unread(reason string) Decision {
	return Decision{Wait, reason, "the VM could not be read", Backoff}
}
