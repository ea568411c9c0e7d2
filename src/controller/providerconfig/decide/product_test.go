package decide

import (
	"iter"
	"testing"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
)

var both = []bool{false, true}

// every yields all States: three million.
func every() iter.Seq[State] {
	return func(yield func(State) bool) {
		for s := range objects() {
			for s := range providers(s) {
				if !yield(s) {
					return
				}
			}
		}
	}
}

// objects are the States of what Kubernetes knows.
func objects() iter.Seq[State] {
	return func(yield func(State) bool) {
		for bits := range 1 << 6 {
			for users := UsersUnknown; users <= SomeUsers; users++ {
				for credentials := CredentialsMissing; credentials <= CredentialsUsable; credentials++ {
					for release := ReleaseNone; release <= ReleaseMass; release++ {
						for mass := MassNone; mass <= MassLatched; mass++ {
							if !yield(State{
								Deleting: bits&1 != 0, Finalizer: bits&2 != 0, Unmarked: bits&4 != 0, Strays: bits&8 != 0,
								EndpointAllowed: bits&16 != 0, Identified: bits&32 != 0,
								Users: users, Credentials: credentials, Release: release, Mass: mass,
							}) {
								return
							}
						}
					}
				}
			}
		}
	}
}

// providers are the States of what a provider can say about an object.
func providers(s State) iter.Seq[State] {
	return func(yield func(State) bool) {
		for s.Endpoint = EndpointMoved; s.Endpoint <= EndpointKept; s.Endpoint++ {
			for s.Probe = ProbeDue; s.Probe <= ProbeThrottled; s.Probe++ {
				for s.Identity = IdentityOther; s.Identity <= IdentitySame; s.Identity++ {
					for _, s.Shrunk = range both {
						for _, s.Tolerable = range both {
							for _, s.CircuitOpen = range both {
								if !yield(s) {
									return
								}
							}
						}
					}
				}
			}
		}
	}
}

// broken returns the promise that a decision breaks; empty if it breaks none.
func broken(s State, d Decision) string {
	unproven := s.Endpoint == EndpointMoved && !s.Identified && s.InUse() && !s.EndpointAllowed
	switch d.Action {
	case AddFinalizer:
		return unless(!s.Deleting && !s.Finalizer && s.InUse(),
			"the finalizer is added where VMs need it, and not to what is being deleted")
	case Rest:
		return unless(!s.Deleting && s.Finalizer && s.Users == NoUsers && !s.Strays,
			"the finalizer is taken off where nobody needs it, and after the Secrets that it kept")
	case RunProbe:
		return unless(s.Probe == ProbeDue && s.Credentials == CredentialsUsable && !unproven,
			"the provider is called only when due, with usable credentials, where VMs may be")
	case MarkSecrets:
		return unless(s.Unmarked && s.InUse(), "only Secrets that are in use are marked")
	case UnmarkSecrets:
		return unless(s.Strays, "only strays are unmarked")
	case Latch:
		return unless(s.Mass == MassFound && s.InUse(), "only what was found is latched")
	case ReleaseMassDisappearance:
		return unless(s.Mass == MassLatched && s.Release == ReleaseMass, "only a person ends the latch")
	case AcceptIdentity:
		return unless(s.Release == ReleaseIdentity && s.Identity == IdentityOther && s.Probe == ProbeSucceeded,
			"only a person accepts another identity under VMs")
	case AcceptCapabilities:
		return unless(s.Release == ReleaseCapabilities && s.Shrunk && s.Probe == ProbeSucceeded,
			"only a person accepts fewer capabilities under VMs")
	case Serve:
		trusted := s.Identity == IdentitySame && !s.Shrunk && s.Mass == MassNone && !unproven
		return unless(s.Probe == ProbeSucceeded && s.Credentials == CredentialsUsable && (trusted || !s.InUse()) &&
			(s.Finalizer || s.Deleting || s.Users == NoUsers), "a provider serves only when tried, kept, and trusted with the VMs there are")
	case Hold:
		return unless(s.Probe == ProbeSucceeded && s.InUse(), "only a provider that answers, and has VMs, is held")
	case Keep:
		return unless(s.Tolerable || s.Probe == ProbeThrottled, "only a few failures are overlooked")
	case Retry:
		return unless(s.Probe == ProbeUnreachable || s.Probe == ProbeGarbled, "only what may pass is tried again by itself")
	case Stall:
		return unless(s.Probe != ProbeSucceeded || s.Credentials != CredentialsUsable || unproven, "what works does not stall")
	case RemoveFinalizer:
		return unless(s.Deleting && s.Users == NoUsers && !s.Strays,
			"an object goes only when deleted, unused, and after the Secrets that it kept")
	case Gone:
		return unless(s.Deleting && !s.Finalizer && s.Users == NoUsers, "nothing is done only where nothing is left")
	}
	return "every decision is a known one"
}

func unless(kept bool, promise string) string {
	if kept {
		return ""
	}
	return promise
}

func TestEveryStateKeepsThePromises(t *testing.T) {
	t.Parallel()
	for s := range every() {
		d := Decide(s)
		if promise := broken(s, d); promise != "" {
			t.Fatalf("%s: %+v -> %s", promise, s, d.Action)
		}
		paced := d.Action.Ends() && d.Action != RemoveFinalizer && d.Action != Gone
		if paced != (d.Pace != Never) || paced != (d.Reason != "") {
			t.Fatalf("an end has a pace and a reason, a step has none: %+v -> %+v", s, d)
		}
		if s.Users == UsersUnknown {
			known := s
			known.Users = SomeUsers
			if Decide(known) != d {
				t.Fatalf("users that cannot be counted count as some: %+v -> %s", s, d.Action)
			}
		}
	}
}

// world is what a ProviderConfig lives in: it carries out decisions, and a person
// mends what is reported.
type world struct {
	State

	// answer is what the next probe finds.
	answer Probe
}

// carryOut is what act does, in terms of the State.
func (w *world) carryOut(action Action) {
	switch action {
	case AddFinalizer:
		w.Finalizer = true
	case Rest:
		w.Finalizer = false
	case MarkSecrets:
		w.Unmarked = false
	case UnmarkSecrets:
		w.Strays = false
	case Latch:
		w.Mass, w.Release = MassLatched, ReleaseNone
	case ReleaseMassDisappearance:
		w.Mass, w.Release = MassNone, ReleaseNone
	case RunProbe:
		w.Probe = w.answer
	case AcceptIdentity:
		w.Identity, w.Endpoint, w.Release = IdentitySame, EndpointKept, ReleaseNone
	case AcceptCapabilities:
		w.Shrunk, w.Release = false, ReleaseNone
	case Serve:
		w.Identity, w.Endpoint, w.Shrunk = IdentitySame, EndpointKept, false
	case Keep, Retry, Stall, Hold, RemoveFinalizer, Gone:
	}
}

// mend is what a person does about a reason, and what time does about the rest.
func (w *world) mend(d Decision) {
	w.Probe, w.answer, w.CircuitOpen = ProbeDue, ProbeSucceeded, false
	switch d.Reason {
	case computev1.ReasonSecretNotFound, computev1.ReasonSecretInvalid:
		w.Credentials = CredentialsUsable
	case computev1.ReasonEndpointChanged:
		w.EndpointAllowed = true
	case computev1.ReasonIdentityChanged:
		w.Release = ReleaseIdentity
	case computev1.ReasonCapabilitiesShrunk:
		w.Release = ReleaseCapabilities
	case computev1.ReasonMassDisappearance:
		w.Release = ReleaseMass
	case computev1.ReasonProbed, computev1.ReasonCircuitOpen:
		if w.Deleting {
			w.Users, w.Strays = NoUsers, true
		}
	}
}

// pass steps until a decision ends it; false if none does.
func (w *world) pass() (Decision, bool) {
	const steps = 12 // as many as a pass takes at most
	for range steps {
		d := Decide(w.State)
		w.carryOut(d.Action)
		if d.Action.Ends() {
			return d, true
		}
	}
	return Decision{}, false
}

// From any State, whatever the first probe finds: when faults stop and a person
// does what the conditions ask for, the provider serves, or is gone if deleted.
func TestEveryStateConverges(t *testing.T) {
	t.Parallel()
	const enough = 10
	for s := range every() {
		w := world{State: s, answer: ProbeUnreachable}
		settled := false
		for range enough {
			d, ended := w.pass()
			if !ended {
				t.Fatalf("a pass does not end: %+v -> %+v", s, w.State)
			}
			settled = !s.Deleting && d.Action == Serve || s.Deleting && (d.Action == RemoveFinalizer || d.Action == Gone)
			if settled {
				break
			}
			w.mend(d)
		}
		if !settled {
			t.Fatalf("not settled after %d passes: %+v -> %+v", enough, s, w.State)
		}
	}
}
