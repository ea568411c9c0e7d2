package decide

import (
	"testing"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
)

func TestDecide(t *testing.T) {
	t.Parallel()
	is := func(state ChildState) Child { return Child{State: state} }
	fresh := func(state ChildState) Child { return Child{State: state, Fresh: true} }
	for name, test := range map[string]struct {
		state  State
		action Action
		reason string
	}{
		"what the cache does not show is looked for before it is made":   {State{Deployment: is(ChildMissing)}, InspectDeployment, exampleappsv1.ReasonApplying},
		"a missing Deployment is made":                                   {State{Deployment: fresh(ChildMissing)}, ApplyDeployment, exampleappsv1.ReasonApplying},
		"a Deployment that differs is read, for who did it":              {State{Deployment: is(ChildDiffers)}, InspectDeployment, exampleappsv1.ReasonApplying},
		"a Deployment that differs is put right":                         {State{Deployment: fresh(ChildDiffers)}, ApplyDeployment, exampleappsv1.ReasonApplying},
		"a Deployment of somebody else's is left alone":                  {State{Deployment: fresh(ChildForeign), Service: is(ChildMissing)}, Stall, exampleappsv1.ReasonChildConflict},
		"a Deployment that is being deleted is waited for":               {State{Deployment: is(ChildWaiting), Service: is(ChildMissing)}, Wait, exampleappsv1.ReasonWaiting},
		"the Service comes after the Deployment":                         {State{Deployment: fresh(ChildMissing), Service: fresh(ChildMissing)}, ApplyDeployment, exampleappsv1.ReasonApplying},
		"a missing Service is looked for":                                {State{Service: is(ChildMissing)}, InspectService, exampleappsv1.ReasonApplying},
		"a missing Service is made":                                      {State{Service: fresh(ChildMissing)}, ApplyService, exampleappsv1.ReasonApplying},
		"a Service that nothing asks for is deleted":                     {State{Service: is(ChildSurplus)}, DeleteService, exampleappsv1.ReasonApplying},
		"a Service of somebody else's is left alone":                     {State{Service: fresh(ChildForeign)}, Stall, exampleappsv1.ReasonChildConflict},
		"a Service that is being deleted is waited for":                  {State{Service: is(ChildWaiting)}, Wait, exampleappsv1.ReasonWaiting},
		"a Deployment that is fought over waits for its turn":            {State{Deployment: is(ChildHeld)}, Wait, exampleappsv1.ReasonContended},
		"a Service is made though the Deployment is fought over":         {State{Deployment: is(ChildHeld), Service: fresh(ChildMissing)}, ApplyService, exampleappsv1.ReasonApplying},
		"all is as declared":                                             {State{}, None, exampleappsv1.ReasonSynced},
		"Pods that start do not make the Deployment differ":              {State{Pods: PodsProgressing}, Wait, exampleappsv1.ReasonSynced},
		"nor do Pods in trouble":                                         {State{Pods: PodsInTrouble}, Wait, exampleappsv1.ReasonSynced},
		"a terminating object makes nothing":                             {State{Deleting: true, Deployment: fresh(ChildMissing), Service: fresh(ChildMissing)}, None, exampleappsv1.ReasonDeleting},
		"a paused object writes nothing":                                 {State{Paused: true, Deployment: fresh(ChildDiffers)}, None, exampleappsv1.ReasonPaused},
		"a pause counts for less than deletion":                          {State{Paused: true, Deleting: true}, None, exampleappsv1.ReasonDeleting},
		"after a fault nothing is written":                               {State{Fault: true, Deployment: fresh(ChildDiffers)}, Wait, exampleappsv1.ReasonReconcileFailed},
		"what the API refuses is not tried again before the spec change": {State{Refused: true, Deployment: fresh(ChildDiffers)}, Stall, exampleappsv1.ReasonRefused},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Decide(test.state); got.Action != test.action || got.Reason != test.reason {
				t.Errorf("Decide(%+v) = %s, %s, want %s, %s", test.state, got.Action, got.Reason, test.action, test.reason)
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
