package decide

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
)

// fine is a ProviderConfig whose provider serves VirtualMachines.
func fine(changes ...func(*State)) State {
	s := State{
		Finalizer: true, Users: SomeUsers, Credentials: CredentialsUsable, Endpoint: EndpointKept,
		Identified: true, Probe: ProbeSucceeded, Identity: IdentitySame,
	}
	for _, change := range changes {
		change(&s)
	}
	return s
}

func step(action Action) Decision { return Decision{Action: action} }

func TestDecide(t *testing.T) {
	t.Parallel()
	deleted := func(s *State) { s.Deleting = true }
	unused := func(s *State) { s.Users, s.Finalizer = NoUsers, false }
	resting := func(s *State) { s.Users = NoUsers }
	answer := func(probe Probe) func(*State) { return func(s *State) { s.Probe = probe } }
	release := func(release Release) func(*State) { return func(s *State) { s.Release = release } }
	mass := func(mass Mass) func(*State) { return func(s *State) { s.Mass = mass } }
	tolerable := func(s *State) { s.Tolerable = true }
	other := func(s *State) { s.Identity = IdentityOther }
	shrunk := func(s *State) { s.Shrunk = true }
	moved := func(s *State) { s.Endpoint = EndpointMoved }
	nameless := func(s *State) { s.Identified = false }
	serve := Decision{Serve, computev1.ReasonProbed, Poll}

	for name, test := range map[string]struct {
		state State
		want  Decision
	}{
		"an object without our finalizer that is in use gets it before anything else": {State{}, step(AddFinalizer)},
		"an object that nobody uses any more is not kept":                             {fine(resting), step(Rest)},
		"an object that nobody uses is let go after the Secret that it kept": {
			fine(resting, func(s *State) { s.Strays = true }), step(UnmarkSecrets),
		},
		"an object that is being deleted gets no finalizer any more": {
			State{Deleting: true, Users: NoUsers}, step(Gone),
		},
		"a Secret that VMs need is marked before the provider is asked": {
			fine(answer(ProbeDue), func(s *State) { s.Unmarked = true }), step(MarkSecrets),
		},
		"a Secret that no VM needs stays as it is":                 {fine(unused, func(s *State) { s.Unmarked = true }), serve},
		"a Secret that no VM needs any more is let go":             {fine(func(s *State) { s.Strays = true }), step(UnmarkSecrets)},
		"a Secret is let go before the object that referred to it": {fine(deleted, resting, func(s *State) { s.Strays = true }), step(UnmarkSecrets)},
		"a deleted object that nobody uses goes":                   {fine(deleted, resting), step(RemoveFinalizer)},
		"a deleted object whose VMs remain goes on serving them":   {fine(deleted), serve},
		"a provider whose calls fail though it answers the probe serves, and says so": {
			fine(func(s *State) { s.CircuitOpen = true }), Decision{Serve, computev1.ReasonCircuitOpen, Poll},
		},
		"a deleted object whose users cannot be counted stays": {
			fine(deleted, func(s *State) { s.Users = UsersUnknown }), serve,
		},
		"a missing Secret stalls, and is looked for": {
			fine(func(s *State) { s.Credentials = CredentialsMissing }), Decision{Stall, computev1.ReasonSecretNotFound, Look},
		},
		"a Secret without a key stalls, and is looked at": {
			fine(func(s *State) { s.Credentials = CredentialsInvalid }), Decision{Stall, computev1.ReasonSecretInvalid, Look},
		},
		"a provider that was not asked is":         {fine(answer(ProbeDue)), step(RunProbe)},
		"a provider that answers as before serves": {fine(), serve},
		"a wrong key stalls at once, even if it was right before": {
			fine(answer(ProbeUnauthorized), tolerable), Decision{Stall, computev1.ReasonUnauthorized, Slow},
		},
		"a refused address stalls":           {fine(answer(ProbeRefused)), Decision{Stall, computev1.ReasonEndpointRefused, Slow}},
		"settings that cannot work stall":    {fine(answer(ProbeImpossible)), Decision{Stall, computev1.ReasonEndpointInvalid, Slow}},
		"a redirect stalls":                  {fine(answer(ProbeForeign)), Decision{Stall, computev1.ReasonProtocol, Slow}},
		"an answer in HTML is tried again":   {fine(answer(ProbeGarbled)), Decision{Retry, computev1.ReasonProtocol, Backoff}},
		"no answer is tried again":           {fine(answer(ProbeUnreachable)), Decision{Retry, computev1.ReasonUnreachable, Backoff}},
		"one failure changes nothing":        {fine(answer(ProbeUnreachable), tolerable), Decision{Keep, computev1.ReasonProbing, Backoff}},
		"one answer in HTML changes nothing": {fine(answer(ProbeGarbled), tolerable), Decision{Keep, computev1.ReasonProbing, Backoff}},
		"a throttled probe changes nothing":  {fine(answer(ProbeThrottled)), Decision{Keep, computev1.ReasonProbing, Told}},
		"a provider without identity may not move under VMs, and is not even asked": {
			fine(moved, nameless, answer(ProbeDue)), Decision{Stall, computev1.ReasonEndpointChanged, Slow},
		},
		"a provider without identity moves once a person allows it": {
			fine(moved, nameless, func(s *State) { s.EndpointAllowed = true }), serve,
		},
		"a provider without identity moves when there are no VMs":      {fine(moved, nameless, unused), serve},
		"a provider with an identity is asked at its new endpoint":     {fine(moved, answer(ProbeDue)), step(RunProbe)},
		"a provider with the same identity at its new endpoint serves": {fine(moved), serve},
		"another identity under VMs is held":                           {fine(other), Decision{Hold, computev1.ReasonIdentityChanged, Poll}},
		"another identity without VMs is accepted":                     {fine(other, unused), serve},
		"another identity is accepted once a person releases it":       {fine(other, release(ReleaseIdentity)), step(AcceptIdentity)},
		"a release of something else does not release an identity": {
			fine(other, release(ReleaseMass)), Decision{Hold, computev1.ReasonIdentityChanged, Poll},
		},
		"fewer capabilities under VMs are held":              {fine(shrunk), Decision{Hold, computev1.ReasonCapabilitiesShrunk, Poll}},
		"fewer capabilities without VMs are accepted":        {fine(shrunk, unused), serve},
		"fewer capabilities are accepted when released":      {fine(shrunk, release(ReleaseCapabilities)), step(AcceptCapabilities)},
		"a mass disappearance is latched before the probe":   {fine(mass(MassFound), answer(ProbeDue)), step(Latch)},
		"a release that was there first does not release it": {fine(mass(MassFound), release(ReleaseMass)), step(Latch)},
		"a latched mass disappearance is held":               {fine(mass(MassLatched)), Decision{Hold, computev1.ReasonMassDisappearance, Poll}},
		"a latched mass disappearance is released, though the provider is away": {
			fine(mass(MassLatched), release(ReleaseMass), answer(ProbeUnreachable)), step(ReleaseMassDisappearance),
		},
		"a latched mass disappearance comes before another identity": {
			fine(mass(MassLatched), other), Decision{Hold, computev1.ReasonMassDisappearance, Poll},
		},
		"a latched mass disappearance without VMs is over": {fine(mass(MassLatched), unused), serve},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, Decide(test.state)); diff != "" {
				t.Errorf("Decide(%+v): (-want +got)\n%s", test.state, diff)
			}
		})
	}
}

func TestEveryActionHasAName(t *testing.T) {
	t.Parallel()
	for _, action := range []Action{AddFinalizer, AcceptCapabilities, Serve, Gone} {
		if action.String() == "" {
			t.Errorf("action %d has no name", action)
		}
	}
}
