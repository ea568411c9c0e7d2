package decide

import (
	"testing"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
)

func TestTheSituationsOfTheDocumentationLeadToTheseActions(t *testing.T) {
	t.Parallel()
	want := map[string]Action{
		"The cache shows no Deployment":                                   InspectDeployment,
		"There is no Deployment":                                          ApplyDeployment,
		"The cache shows no Service, and there are ports":                 InspectService,
		"There is no Service, and there are ports":                        ApplyService,
		"Everything is as declared":                                       None,
		"Pods are being started or replaced":                              Wait,
		"A Pod is in trouble":                                             Wait,
		"The Deployment differs":                                          InspectDeployment,
		"The same, and who has changed it is known":                       ApplyDeployment,
		"The Service differs":                                             InspectService,
		"The same, and who has changed that is known":                     ApplyService,
		"What differs is fought over, and was put back a short while ago": Wait,
		"There is a Service, and no ports any more":                       DeleteService,
		"A Deployment of the name is being deleted":                       Wait,
		"A Service of the name is being deleted":                          Wait,
		"A Deployment of the name is somebody else's":                     Stall,
		"A Service of the name is somebody else's":                        Stall,
		"The Kubernetes API refuses what the spec asks for":               Stall,
		"A read or a write failed":                                        Wait,
		"The object is paused":                                            None,
		"The object is being deleted":                                     None,
	}
	for _, situation := range Situations() {
		t.Run(situation.Name, func(t *testing.T) {
			t.Parallel()
			expected, listed := want[situation.Name]
			if !listed {
				t.Fatal("this situation has no expectation")
			}
			if got := Decide(situation.State).Action; got != expected {
				t.Errorf("Decide(%+v) = %s, want %s", situation.State, got, expected)
			}
		})
	}
}

func TestDecide(t *testing.T) {
	t.Parallel()
	fresh := func(state ChildState) Child { return Child{State: state, Fresh: true} }
	for name, test := range map[string]struct {
		state  State
		reason string
	}{
		"a Deployment of somebody else's is left alone, and nothing leads to it": {
			State{Deployment: fresh(ChildForeign), Service: fresh(ChildMissing)}, exampleappsv1.ReasonChildConflict,
		},
		"the Service comes after the Deployment": {
			State{Deployment: fresh(ChildMissing), Service: fresh(ChildForeign)}, exampleappsv1.ReasonApplying,
		},
		"a Service is made though the Deployment is fought over": {
			State{Deployment: Child{State: ChildHeld}, Service: fresh(ChildMissing)}, exampleappsv1.ReasonApplying,
		},
		"Pods that start do not make the Deployment differ": {State{Pods: PodsProgressing}, exampleappsv1.ReasonSynced},
		"nor do Pods in trouble":                            {State{Pods: PodsInTrouble}, exampleappsv1.ReasonSynced},
		"a pause counts for less than deletion":             {State{Paused: true, Deleting: true}, exampleappsv1.ReasonDeleting},
		"a fault counts for more than a refusal":            {State{Fault: true, Refused: true}, exampleappsv1.ReasonReconcileFailed},
		"what is refused is not written again":              {State{Refused: true, Service: fresh(ChildMissing)}, exampleappsv1.ReasonRefused},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Decide(test.state).Reason; got != test.reason {
				t.Errorf("reason %q, want %q", got, test.reason)
			}
		})
	}
}

func TestEveryActionAndDelayHasAName(t *testing.T) {
	t.Parallel()
	for action := range actions {
		if action.String() == "Unknown" || action.String() == "" {
			t.Errorf("action %d has no name", action)
		}
	}
	for delay := range delays {
		if delay.String() == "Unknown" || delay.String() == "" {
			t.Errorf("delay %d has no name", delay)
		}
	}
	if Action(-1).String() != "Unknown" || delays.String() != "Unknown" {
		t.Error("what is no action or delay has a name")
	}
}
