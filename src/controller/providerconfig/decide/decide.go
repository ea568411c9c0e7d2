package decide

import (
	computev1 "github.com/example/vmoperator/src/api/compute/v1"
)

// Decide says what to do next. The checks are tried in order and the first that
// has something to say wins; when none has, the provider serves.
func Decide(s State) Decision {
	for _, check := range []func(State) (Decision, bool){
		upkeep,
		leave,
		disappearance,
		credentials,
		endpoint,
		probe,
		held,
		identity,
		capabilities,
	} {
		if decision, decided := check(s); decided {
			return decision
		}
	}
	if s.CircuitOpen {
		// One call at a time is still tried: the provider must stay open to it.
		return Decision{Action: Serve, Reason: computev1.ReasonCircuitOpen, Pace: Poll}
	}
	return Decision{Action: Serve, Reason: computev1.ReasonProbed, Pace: Poll}
}

// upkeep keeps the marks on this object and on Secrets right. The finalizer comes
// before anything that lets a VirtualMachine use the provider, and stays no longer
// than they do: an object that nobody uses must not keep its namespace or its kind
// from being deleted after the operator is gone.
func upkeep(s State) (Decision, bool) {
	switch {
	case !s.Deleting && !s.Finalizer && s.InUse():
		return Decision{Action: AddFinalizer}, true
	case s.Strays:
		return Decision{Action: UnmarkSecrets}, true
	case s.Unmarked && s.InUse():
		return Decision{Action: MarkSecrets}, true
	case !s.Deleting && s.Finalizer && !s.InUse():
		return Decision{Action: Rest}, true
	}
	return Decision{}, false
}

// leave lets the object go. While it is in use, all goes on as before: its users
// need the provider for their own deletion.
func leave(s State) (Decision, bool) {
	switch {
	case !s.Deleting || s.InUse():
		return Decision{}, false
	case s.Finalizer:
		return Decision{Action: RemoveFinalizer}, true
	}
	return Decision{Action: Gone}, true
}

// disappearance latches what was found, and lets go what is released, whatever
// the provider says meanwhile.
func disappearance(s State) (Decision, bool) {
	switch {
	case !s.InUse():
		return Decision{}, false
	case s.Mass == MassFound:
		return Decision{Action: Latch}, true
	case s.Mass == MassLatched && s.Release == ReleaseMass:
		return Decision{Action: ReleaseMassDisappearance}, true
	}
	return Decision{}, false
}

func credentials(s State) (Decision, bool) {
	switch s.Credentials {
	case CredentialsUsable:
		return Decision{}, false
	case CredentialsInvalid:
		return Decision{Action: Stall, Reason: computev1.ReasonSecretInvalid, Pace: Look}, true
	case CredentialsMissing:
	}
	return Decision{Action: Stall, Reason: computev1.ReasonSecretNotFound, Pace: Look}, true
}

// endpoint stops before the first call at a new endpoint where nothing could
// prove that the same provider answers there. Where the accepted provider has an
// identity, the probe will tell.
func endpoint(s State) (Decision, bool) {
	if s.Endpoint == EndpointMoved && !s.Identified && s.InUse() && !s.EndpointAllowed {
		return Decision{Action: Stall, Reason: computev1.ReasonEndpointChanged, Pace: Slow}, true
	}
	return Decision{}, false
}

func probe(s State) (Decision, bool) {
	switch s.Probe {
	case ProbeSucceeded:
		return Decision{}, false
	case ProbeThrottled:
		return Decision{Action: Keep, Reason: computev1.ReasonProbing, Pace: Told}, true
	case ProbeUnreachable:
		return passing(s, computev1.ReasonUnreachable), true
	case ProbeGarbled:
		return passing(s, computev1.ReasonProtocol), true
	case ProbeForeign:
		return Decision{Action: Stall, Reason: computev1.ReasonProtocol, Pace: Slow}, true
	case ProbeUnauthorized:
		return Decision{Action: Stall, Reason: computev1.ReasonUnauthorized, Pace: Slow}, true
	case ProbeRefused:
		return Decision{Action: Stall, Reason: computev1.ReasonEndpointRefused, Pace: Slow}, true
	case ProbeImpossible:
		return Decision{Action: Stall, Reason: computev1.ReasonEndpointInvalid, Pace: Slow}, true
	case ProbeDue:
	}
	return Decision{Action: RunProbe}, true
}

// passing is a failure that may pass: one or two of them are not worth waking
// every VirtualMachine for.
func passing(s State, reason string) Decision {
	if s.Tolerable {
		return Decision{Action: Keep, Reason: computev1.ReasonProbing, Pace: Backoff}
	}
	return Decision{Action: Retry, Reason: reason, Pace: Backoff}
}

func held(s State) (Decision, bool) {
	if !s.Latched() {
		return Decision{}, false
	}
	return Decision{Action: Hold, Reason: computev1.ReasonMassDisappearance, Pace: Poll}, true
}

// identity holds when another installation answers than the one that existing
// VMs were made at. When the old one answers again, nothing is held any more.
func identity(s State) (Decision, bool) {
	switch {
	case s.Identity == IdentitySame || !s.InUse():
		return Decision{}, false
	case s.Release == ReleaseIdentity:
		return Decision{Action: AcceptIdentity}, true
	}
	return Decision{Action: Hold, Reason: computev1.ReasonIdentityChanged, Pace: Poll}, true
}

func capabilities(s State) (Decision, bool) {
	switch {
	case !s.Shrunk || !s.InUse():
		return Decision{}, false
	case s.Release == ReleaseCapabilities:
		return Decision{Action: AcceptCapabilities}, true
	}
	return Decision{Action: Hold, Reason: computev1.ReasonCapabilitiesShrunk, Pace: Poll}, true
}
