package providerconfig

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/providerconfig/decide"
	"github.com/example/vmoperator/src/test/statuses"
)

// earlier are the statuses that a pass can find, as they are recorded.
var earlier = map[string]struct {
	observed   int64
	conditions []metav1.Condition
}{
	"new":               {-1, nil},
	"Ready before":      {2, told(2, "True", computev1.ReasonProbed)},
	"an earlier spec":   {1, told(1, "True", computev1.ReasonProbed)},
	"Unauthorized":      {2, told(2, "False", computev1.ReasonUnauthorized, computev1.ConditionStalled)},
	"held before":       {2, told(2, "False", computev1.ReasonIdentityChanged, computev1.ConditionStalled)},
	"latched before":    {2, told(2, "False", computev1.ReasonMassDisappearance, computev1.ConditionStalled)},
	"Unreachable":       {2, told(2, "False", computev1.ReasonUnreachable, computev1.ConditionReconciling)},
	"latched by others": {2, latched(told(2, "False", computev1.ReasonUnreachable, computev1.ConditionReconciling))},
}

// told are the conditions of one reason; those of further types are true.
func told(generation int64, ready metav1.ConditionStatus, reason string, further ...string) []metav1.Condition {
	all := []metav1.Condition{{Type: computev1.ConditionReady, Status: ready}, {Type: computev1.ConditionSynced, Status: ready}}
	for _, each := range further {
		all = append(all, metav1.Condition{Type: each, Status: metav1.ConditionTrue})
	}
	for i := range all {
		all[i].Reason, all[i].Message, all[i].ObservedGeneration = reason, "a message", generation
		all[i].LastTransitionTime = metav1.NewTime(statuses.Time())
	}
	return all
}

func latched(all []metav1.Condition) []metav1.Condition {
	return append(all, metav1.Condition{
		Type: computev1.ConditionStalled, Status: metav1.ConditionTrue, Reason: computev1.ReasonMassDisappearance, Message: "a message",
	})
}

// Of each status that can be written, the first way to it is recorded.
func TestTheStatusOfEverySituationIsRecorded(t *testing.T) {
	var all []statuses.Record
	for before := range earlier {
		for _, s := range states(before) {
			decision := decide.Decide(s)
			if failing := failing(s); decide.Decide(failing) != decision {
				all = append(all, record(before, failing, decide.Decide(failing)))
			}
			if decision.Action.Ends() && decision.Action != decide.RemoveFinalizer && decision.Action != decide.Gone {
				all = append(all, record(before, s, decision))
			}
		}
	}
	slices.SortFunc(all, func(a, b statuses.Record) int { return strings.Compare(a.Situation, b.Situation) })
	statuses.Check(t, "ProviderConfig", statuses.Distinct(all))
}

// states are all that can be with what a pass finds.
func states(before string) []decide.State {
	conditions := earlier[before].conditions
	ready := meta.FindStatusCondition(conditions, computev1.ConditionReady)
	stalled := meta.FindStatusCondition(conditions, computev1.ConditionStalled)
	isLatched := stalled != nil && stalled.Reason == computev1.ReasonMassDisappearance
	mass := decide.MassNone
	if isLatched {
		mass = decide.MassLatched
	}
	fine := ready != nil && ready.ObservedGeneration == statuses.Generation && (ready.Reason == computev1.ReasonProbed || holds(ready.Reason))
	var all []decide.State
	for bits := range 64 {
		bit := func(n int) bool { return bits>>n&1 == 1 }
		users := decide.NoUsers
		if bit(0) {
			users = decide.SomeUsers
		}
		if bit(1) && !fine {
			continue
		}
		for credentials := decide.CredentialsMissing; credentials <= decide.CredentialsUsable; credentials++ {
			for endpoint := decide.EndpointMoved; endpoint <= decide.EndpointKept; endpoint++ {
				for probe := decide.ProbeSucceeded; probe <= decide.ProbeThrottled; probe++ {
					identity := decide.IdentityOther
					if bit(2) {
						identity = decide.IdentitySame
					}
					all = append(all, decide.State{
						Users: users, Finalizer: bit(0), Tolerable: bit(1), Identity: identity, Shrunk: bit(3), Identified: bit(4),
						Deleting: bit(5) && bit(0), Credentials: credentials, Endpoint: endpoint, Probe: probe, Mass: mass,
					})
				}
			}
		}
	}
	return all
}

// failing is a State with calls that are held back.
func failing(s decide.State) decide.State {
	s.CircuitOpen = true
	return s
}

// record is a ProviderConfig in a situation.
func record(before string, s decide.State, d decide.Decision) statuses.Record {
	config := &computev1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "it", Namespace: "vms", Generation: statuses.Generation}}
	config.Status.ObservedGeneration, config.Status.Conditions = earlier[before].observed, slices.Clone(earlier[before].conditions)
	situation := d.Action.String() + " " + d.Reason + "; " + before
	if s.Deleting {
		config.DeletionTimestamp = new(metav1.NewTime(statuses.Time()))
		situation += "; deleted"
	}
	if s.InUse() {
		situation += "; in use"
	}
	p := &pass{config: config, status: *config.Status.DeepCopy(), memory: &memory{}, now: statuses.Time()}
	next := nextStatus(p, s, d)
	return statuses.Record{
		Situation: situation, Meaning: meaning(before, s, d, next), Deleting: s.Deleting,
		ObservedGeneration: next.ObservedGeneration, Conditions: statuses.Conditions(next.Conditions),
	}
}

// meaning is what a tool should make of the situation.
func meaning(before string, s decide.State, d decide.Decision, next computev1.ProviderConfigStatus) statuses.Meaning {
	switch {
	case next.ObservedGeneration != statuses.Generation:
		return statuses.Unseen
	case d.Action == decide.Stall, d.Action == decide.Hold, s.Latched():
		return statuses.Stuck
	case d.Action == decide.Keep && (before == "held before" || strings.HasPrefix(before, "latched")):
		// The verdict stands until the provider was tried.
		return statuses.Stuck
	case s.Deleting, d.Action == decide.Retry:
		return statuses.Working
	case d.Action == decide.Serve, before == "Ready before":
		return statuses.Done
	}
	return statuses.Working
}
