package virtualmachine

import (
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/virtualmachine/decide"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/test/statuses"
)

// failures are what a call says, by what the decision makes of it.
var failures = map[decide.Fault]error{
	decide.FaultTransient:    &provider.Error{Class: provider.Transient, Err: errors.New("the connection was refused")},
	decide.FaultThrottled:    &provider.Error{Class: provider.Throttled, Err: errors.New("too many requests")},
	decide.FaultHeldBack:     &provider.Error{Class: provider.Throttled, Cause: provider.CauseCircuit, Err: errors.New("others failed")},
	decide.FaultUnauthorized: &provider.Error{Class: provider.Unauthorized, Err: errors.New("the key is wrong")},
	decide.FaultAmbiguous:    &provider.Error{Class: provider.Ambiguous, Err: errors.New("no answer in time")},
	decide.FaultRejected:     &provider.Error{Class: provider.Rejected, Err: errors.New("there is no such image")},
	decide.FaultConflict:     &provider.Error{Class: provider.Conflict, Err: errors.New("another request has the key")},
}

func TestTheStatusOfEverySituationIsRecorded(t *testing.T) {
	var all []statuses.Record
	for _, situation := range decide.Situations() {
		decision := decide.Decide(situation.State)
		ends := decision.Ends() || decision.Action == decide.Create || decision.Action == decide.Adopt
		for _, phase := range phases(situation.State, decision) {
			for _, before := range []string{"", "Ready before"} {
				if !ends || before != "" && !situation.State.IDStored {
					continue
				}
				name := situation.Name
				for _, word := range []string{string(phase), before} {
					if word != "" {
						name += "; " + word
					}
				}
				all = append(all, record(name, situation.State, decision, phase, before != ""))
			}
		}
	}
	statuses.Check(t, "VirtualMachine", statuses.Distinct(all))
}

// phases are what the provider may say of the VM; empty if it is not shown.
func phases(s decide.State, d decide.Decision) []provider.Phase {
	switch {
	case d.Action == decide.Create:
		return []provider.Phase{provider.PhaseProvisioning, provider.PhaseRunning}
	case s.Machine == decide.MachineProvisioning:
		return []provider.Phase{provider.PhaseProvisioning}
	case s.Machine == decide.MachineTerminating:
		return []provider.Phase{provider.PhaseDeleting}
	case s.Machine == decide.MachineSettled:
		return []provider.Phase{provider.PhaseRunning, provider.PhaseStopped, provider.PhaseFailed, "Moving"}
	}
	return []provider.Phase{""}
}

// record is a VirtualMachine in a situation.
func record(name string, s decide.State, d decide.Decision, phase provider.Phase, ranBefore bool) statuses.Record {
	now := statuses.Time()
	vm := &computev1.VirtualMachine{ObjectMeta: metav1.ObjectMeta{Name: "it", Namespace: "vms", Generation: statuses.Generation}}
	vm.Status.ObservedGeneration = -1
	if s.Lifecycle != decide.Live {
		vm.DeletionTimestamp = new(metav1.NewTime(now))
	}
	if s.IDStored {
		vm.Status.ID = "vm-1"
	}
	if ranBefore {
		vm.Status.ObservedGeneration = statuses.Generation
		vm.Status.Conditions = statuses.Before(computev1.ReasonRunning)
	}
	p := &pass{vm: vm, seen: &sighting{failures: toldFailures}, fault: failures[s.Fault]}
	p.provider.Message = "what the ProviderConfig says"
	p.children = childPlan{blocked: []string{"Secret it-connection"}, err: errors.New("the write was refused")}
	if phase != "" {
		p.machine = provider.Machine{ID: "vm-1", Phase: phase}
		p.seen.machine = p.machine
	}
	next := nextStatus(p, s, d, nil, now)
	return statuses.Record{
		Situation: name, Meaning: meaning(s, d, phase, next), Deleting: s.Lifecycle != decide.Live,
		ObservedGeneration: next.ObservedGeneration, Conditions: statuses.Conditions(next.Conditions),
	}
}

// meaning is what a tool should make of the situation.
func meaning(s decide.State, d decide.Decision, phase provider.Phase, next computev1.VirtualMachineStatus) statuses.Meaning {
	switch {
	case next.ObservedGeneration != statuses.Generation:
		return statuses.Unseen
	case d.Action == decide.Stall:
		return statuses.Stuck
	case s.Lifecycle != decide.Live:
		return statuses.Working
	case d.Reason == computev1.ReasonPaused:
		return statuses.Resting
	case d.Reason == "":
		// Nothing is told before the provider was tried: what was said stands.
		return statuses.Done
	case d.Action != decide.Wait && phase == provider.PhaseRunning:
		return statuses.Done
	}
	return statuses.Working
}
