package v1

// Condition types. Reconciling, Stalled, Unaddressed and OrphansFound exist only
// while they are true, as kstatus expects of the first two.
const (
	// ConditionReady is true when the object serves its purpose now.
	ConditionReady = "Ready"
	// ConditionSynced is true when the last look found everything as declared.
	ConditionSynced = "Synced"
	// ConditionReconciling is present while the operator works towards the spec.
	ConditionReconciling = "Reconciling"
	// ConditionStalled is present while only a change by a person can help.
	ConditionStalled = "Stalled"
	// ConditionUnaddressed is present while a VM has no address that may be
	// published: its Service leads nowhere.
	ConditionUnaddressed = "Unaddressed"
	// ConditionOrphansFound is present while the provider has VMs that carry a
	// ProviderConfig's labels and belong to no VirtualMachine.
	ConditionOrphansFound = "OrphansFound"
)

// Reasons of a VirtualMachine's conditions.
const (
	// ReasonRunning means that the provider reports the VM as running.
	ReasonRunning = "Running"
	// ReasonNotRunning means that the VM exists and the provider reports a phase
	// that is neither running nor on its way there.
	ReasonNotRunning = "NotRunning"
	// ReasonUnknownPhase means that the provider reports a phase that the
	// contract does not know.
	ReasonUnknownPhase = "UnknownPhase"
	// ReasonProvisioning means that the provider is making the VM.
	ReasonProvisioning = "Provisioning"
	// ReasonCreating means that the VM is about to be made.
	ReasonCreating = "Creating"
	// ReasonDeleting means that the VM is being deleted.
	ReasonDeleting = "Deleting"
	// ReasonSynced means that everything is as declared.
	ReasonSynced = "Synced"
	// ReasonNotShown means that the provider does not show the VM, which proves
	// nothing yet.
	ReasonNotShown = "NotShown"
	// ReasonVanished means that the VM was deleted behind the operator's back.
	ReasonVanished = "Vanished"
	// ReasonResizing means that cpu or memory is being changed.
	ReasonResizing = "Resizing"
	// ReasonResizeNotSupported means that cpu or memory differ from the spec and
	// the provider cannot change them.
	ReasonResizeNotSupported = "ResizeNotSupported"
	// ReasonPaused means that PausedAnnotation is set.
	ReasonPaused = "Paused"
	// ReasonProviderConfigNotFound means that providerRef names nothing.
	ReasonProviderConfigNotFound = "ProviderConfigNotFound"
	// ReasonProviderNotReady means that the ProviderConfig is not Ready.
	ReasonProviderNotReady = "ProviderNotReady"
	// ReasonProviderHeld means that the ProviderConfig is stalled in a way that
	// forbids making and deleting VMs until a person releases it.
	ReasonProviderHeld = "ProviderHeld"
	// ReasonForeignProvider means that the VM was made at another provider, or
	// under another identity, than the ProviderConfig leads to now.
	ReasonForeignProvider = "ForeignProvider"
	// ReasonRestoredObject means that the object carries the create key of an
	// earlier object of the same name.
	ReasonRestoredObject = "RestoredObject"
	// ReasonCreateAmbiguous means that nobody can tell whether a VM was made.
	ReasonCreateAmbiguous = "CreateAmbiguous"
	// ReasonCreateConflict means that the provider knows the create key with
	// another request.
	ReasonCreateConflict = "CreateConflict"
	// ReasonRejected means that the provider refused the request for good.
	ReasonRejected = "Rejected"
	// ReasonProviderError means that the provider failed in a way that may pass.
	ReasonProviderError = "ProviderError"
	// ReasonThrottled means that the call waits for its turn.
	ReasonThrottled = "Throttled"
	// ReasonChildConflict means that an object which somebody else owns stands
	// where a child belongs.
	ReasonChildConflict = "ChildConflict"
	// ReasonChildError means that a child could not be written.
	ReasonChildError = "ChildError"
	// ReasonNoAddress means that the provider tells no address for the VM.
	ReasonNoAddress = "NoAddress"
	// ReasonAddressRefused means that no reported address may be published.
	ReasonAddressRefused = "AddressRefused"
)

// VirtualMachineStallReasons are the reasons that a VirtualMachine's Stalled
// condition can have.
func VirtualMachineStallReasons() []string {
	return []string{
		ReasonChildConflict, ReasonCreateAmbiguous, ReasonCreateConflict, ReasonForeignProvider, ReasonRejected,
		ReasonResizeNotSupported, ReasonRestoredObject,
	}
}

// Reasons of a ProviderConfig's conditions.
const (
	// ReasonProbed means that endpoint and credentials were tried and work.
	ReasonProbed = "Probed"
	// ReasonProbing means that endpoint and credentials are being tried.
	ReasonProbing = "Probing"
	// ReasonSecretNotFound means that a referenced Secret does not exist.
	ReasonSecretNotFound = "SecretNotFound"
	// ReasonSecretInvalid means that a referenced Secret lacks a usable key.
	ReasonSecretInvalid = "SecretInvalid"
	// ReasonEndpointInvalid means that the endpoint is not a usable URL.
	ReasonEndpointInvalid = "EndpointInvalid"
	// ReasonEndpointRefused means that the endpoint's address may not be dialled.
	ReasonEndpointRefused = "EndpointRefused"
	// ReasonUnreachable means that the endpoint does not answer.
	ReasonUnreachable = "Unreachable"
	// ReasonUnauthorized means that the provider refuses the credentials.
	ReasonUnauthorized = "Unauthorized"
	// ReasonProtocol means that the endpoint answers, but not as a provider does.
	ReasonProtocol = "ProtocolError"
	// ReasonCircuitOpen means that the endpoint answers the probe, but that calls for
	// VMs failed one after another and are held back.
	ReasonCircuitOpen = "CircuitOpen"
	// ReasonEndpointChanged means that the endpoint was changed under existing
	// VMs at a provider that tells no identity.
	ReasonEndpointChanged = "EndpointChanged"
	// ReasonIdentityChanged means that another installation answers at the
	// endpoint than the one that existing VMs were made at.
	ReasonIdentityChanged = "IdentityChanged"
	// ReasonCapabilitiesShrunk means that the provider lost a capability that
	// existing VMs rely on.
	ReasonCapabilitiesShrunk = "CapabilitiesShrunk"
	// ReasonMassDisappearance means that so many VMs vanished at once that the
	// provider is believed to be wrong.
	ReasonMassDisappearance = "MassDisappearance"
	// ReasonInUse means that deletion waits for the VMs that refer to it.
	ReasonInUse = "InUse"
	// ReasonOrphansReported means that orphans are reported and left alone.
	ReasonOrphansReported = "OrphansReported"
	// ReasonOrphansPending means that orphans will be deleted once they are old
	// enough.
	ReasonOrphansPending = "OrphansPending"
	// ReasonOrphansHeld means that orphans would be deleted, but for something that
	// speaks against it.
	ReasonOrphansHeld = "OrphansHeld"
	// ReasonDuplicates means that VirtualMachines have more than one VM. What is too
	// many is never deleted.
	ReasonDuplicates = "Duplicates"
)
