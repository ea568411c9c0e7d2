// Package decide is the judgement of the ProviderConfig controller: what is seen
// goes in as a State, what to do comes out as a Decision. It does no I/O and
// tells no time, so that its tests can try every State.
package decide

// State is what a pass sees of a ProviderConfig. Zero values are the ones that
// permit least.
type State struct {
	// Deleting: a person has deleted the object.
	Deleting bool
	// Finalizer: the object carries ours.
	Finalizer bool
	// Users says whether VirtualMachines refer to the object.
	Users Users
	// Credentials is what the referenced Secrets are worth.
	Credentials Credentials
	// Unmarked: a Secret that VirtualMachines need lacks our label or finalizer.
	Unmarked bool
	// Strays: a Secret carries our marks that no VirtualMachine needs.
	Strays bool
	// Endpoint compares spec.endpoint with the accepted one.
	Endpoint Endpoint
	// EndpointAllowed: a person has permitted the move.
	EndpointAllowed bool
	// Identified: the accepted provider told an identity.
	Identified bool
	// Probe is how the last probe went.
	Probe Probe
	// Tolerable: before this probe the provider was fine as it is declared now, and
	// too few probes in a row have failed to say otherwise.
	Tolerable bool
	// Identity compares the probe's identity with the accepted one. It means
	// something only after ProbeSucceeded.
	Identity Identity
	// Shrunk: the probe lacks a capability that was accepted. As Identity.
	Shrunk bool
	// CircuitOpen: calls other than the probe failed one after another, and are held
	// back.
	CircuitOpen bool
	// Mass says whether a mass disappearance was found.
	Mass Mass
	// Release is what a person's annotation releases.
	Release Release
}

// Users says whether VirtualMachines refer to a ProviderConfig.
type Users int

// The values of Users.
const (
	// UsersUnknown: nobody could count them. It counts as SomeUsers.
	UsersUnknown Users = iota
	// NoUsers: a live look found none.
	NoUsers
	// SomeUsers: there is at least one.
	SomeUsers
)

// Credentials is what the referenced Secrets are worth.
type Credentials int

// The values of Credentials.
const (
	// CredentialsMissing: a Secret does not exist.
	CredentialsMissing Credentials = iota
	// CredentialsInvalid: a Secret lacks a key, or its content cannot be used.
	CredentialsInvalid
	// CredentialsUsable: nothing speaks against them, or none are referred to.
	CredentialsUsable
)

// Endpoint compares the declared endpoint with the accepted one.
type Endpoint int

// The values of Endpoint.
const (
	// EndpointMoved: another endpoint was accepted.
	EndpointMoved Endpoint = iota
	// EndpointNew: no endpoint was ever accepted.
	EndpointNew
	// EndpointKept: it is the accepted one.
	EndpointKept
)

// Probe is how the last probe of the declared endpoint went.
type Probe int

// The values of Probe.
const (
	// ProbeDue: there is no answer, or none that is fresh enough.
	ProbeDue Probe = iota
	// ProbeSucceeded: the provider answered as one does.
	ProbeSucceeded
	// ProbeUnreachable: no usable connection; it may pass.
	ProbeUnreachable
	// ProbeGarbled: an answer that makes no sense; it may pass.
	ProbeGarbled
	// ProbeForeign: an answer that no provider gives, such as a redirect.
	ProbeForeign
	// ProbeUnauthorized: the credentials are refused.
	ProbeUnauthorized
	// ProbeRefused: the endpoint's address may not be dialled.
	ProbeRefused
	// ProbeImpossible: the settings can never work.
	ProbeImpossible
	// ProbeThrottled: the provider told us to wait.
	ProbeThrottled
)

// Identity compares the identity that a probe found with the accepted one.
type Identity int

// The values of Identity.
const (
	// IdentityOther: it differs.
	IdentityOther Identity = iota
	// IdentitySame: it is the same, or the first.
	IdentitySame
)

// Mass says whether a mass disappearance was found.
type Mass int

// The values of Mass.
const (
	// MassNone: no.
	MassNone Mass = iota
	// MassFound: the VMs' statuses say so now.
	MassFound
	// MassLatched: it was found before, and not released since.
	MassLatched
)

// Release is what a person's annotation releases.
type Release int

// The values of Release.
const (
	// ReleaseNone: nothing.
	ReleaseNone Release = iota
	// ReleaseIdentity: IdentityChanged.
	ReleaseIdentity
	// ReleaseCapabilities: CapabilitiesShrunk.
	ReleaseCapabilities
	// ReleaseMass: MassDisappearance.
	ReleaseMass
)

// InUse reports whether the object must be kept for the VirtualMachines that
// refer to it.
func (s State) InUse() bool { return s.Users != NoUsers }

// Latched reports whether a mass disappearance is to be shown and acted on.
// Without users there is nothing left to protect from it.
func (s State) Latched() bool { return s.Mass == MassLatched && s.InUse() }
