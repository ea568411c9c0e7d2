package v1

// Names that the operator writes on objects. Users, scripts and other
// controllers rely on them: none may change.
const (
	// VirtualMachineFinalizer keeps a VirtualMachine until its VM is confirmed
	// gone at the provider, or is retained.
	VirtualMachineFinalizer = "compute.example.com/vm-cleanup"
	// ProviderConfigFinalizer keeps a ProviderConfig while a VirtualMachine
	// refers to it.
	ProviderConfigFinalizer = "compute.example.com/provider-in-use"
	// CredentialsFinalizer keeps a credentials Secret while VirtualMachines
	// need it to be deleted.
	CredentialsFinalizer = "compute.example.com/credentials-in-use"
	// RoleBindingFinalizer keeps the RoleBinding that gives the operator its rights
	// in a namespace while an object there needs them, where the operator is told to
	// keep it.
	RoleBindingFinalizer = "compute.example.com/rights-in-use"

	// WatchedLabel marks the Secrets, Services and EndpointSlices that the
	// operator's cache holds. Its value is WatchedLabelValue.
	WatchedLabel = "compute.example.com/watched"
	// WatchedLabelValue is the only value of WatchedLabel.
	WatchedLabelValue = "true"
	// VirtualMachineLabel names the VirtualMachine that a child belongs to, when
	// its name is short enough for a label value.
	VirtualMachineLabel = "compute.example.com/virtual-machine"

	// FieldOwner is the field manager of everything that the operator writes.
	FieldOwner = "vmoperator"

	// DefaultProviderConfig is the ProviderConfig that an empty providerRef means.
	DefaultProviderConfig = "default"
	// APIKeyKey is the key in a credentials Secret that holds the API key.
	APIKeyKey = "apiKey"
	// CACertificateKey is the key in a CA Secret that holds PEM certificates.
	CACertificateKey = "ca.crt"
)

// Annotations that a user sets. Each of them causes a reconcile.
const (
	// PausedAnnotation, when "true", stops all work on an object, its deletion
	// included.
	PausedAnnotation = "compute.example.com/paused"
	// TakeOverIDAnnotation answers a CreateAmbiguous VirtualMachine: the VM with
	// this id is the one that was made.
	TakeOverIDAnnotation = "compute.example.com/take-over-id"
	// ConfirmNotCreatedAnnotation answers a CreateAmbiguous VirtualMachine:
	// nothing was made under the create key that is its value.
	ConfirmNotCreatedAnnotation = "compute.example.com/confirm-not-created"
	// RestoredAnnotation answers a VirtualMachine that is stalled as
	// RestoredObject, with RestoredTakeOver or RestoredMakeNew.
	RestoredAnnotation = "compute.example.com/restored"
	// ReleaseAnnotation lets a held ProviderConfig go on, once. Its value is the
	// reason of the Stalled condition that it releases.
	ReleaseAnnotation = "compute.example.com/release"
	// AllowEndpointChangeAnnotation, when "true", permits a change of endpoint
	// while VMs exist at a provider that tells no identity.
	AllowEndpointChangeAnnotation = "compute.example.com/allow-endpoint-change"
	// ConfirmOrphanDeletionAnnotation confirms that a ProviderConfig's orphans may be
	// deleted though that was in doubt. Its value is status.orphans.doubtedAt: it
	// answers that doubt and no later one.
	ConfirmOrphanDeletionAnnotation = "compute.example.com/confirm-orphan-deletion"
)

// Values of RestoredAnnotation.
const (
	// RestoredTakeOver makes the restored object the owner of the VM.
	RestoredTakeOver = "TakeOver"
	// RestoredMakeNew leaves the old VM alone and makes a new one.
	RestoredMakeNew = "MakeNew"
)

// CreateIntentAnnotation holds what must outlive a crash between the decision
// to make a VM and the knowledge of its id: see the virtualmachine controller.
const CreateIntentAnnotation = "compute.example.com/create-intent"
