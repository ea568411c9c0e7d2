package virtualmachine

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/happening"
)

func TestOneEventTellsOfEachTurnThatAUserShouldKnowOf(t *testing.T) {
	condition := func(kind string, status metav1.ConditionStatus, reason string) metav1.Condition {
		return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: "because"}
	}
	running := condition(computev1.ConditionReady, metav1.ConditionTrue, computev1.ReasonRunning)
	provisioning := condition(computev1.ConditionReady, metav1.ConditionFalse, computev1.ReasonProvisioning)
	stopped := condition(computev1.ConditionReady, metav1.ConditionFalse, computev1.ReasonNotRunning)
	strange := condition(computev1.ConditionReady, metav1.ConditionFalse, computev1.ReasonUnknownPhase)
	failing := condition(computev1.ConditionSynced, metav1.ConditionFalse, computev1.ReasonProviderError)
	rejected := condition(computev1.ConditionSynced, metav1.ConditionFalse, computev1.ReasonRejected)
	stalled := condition(computev1.ConditionStalled, metav1.ConditionTrue, computev1.ReasonRejected)
	warning := func(reason string) happening.Happening {
		return happening.Happening{Reason: reason, Note: "because", Warning: true}
	}
	for name, test := range map[string]struct {
		before, after []metav1.Condition
		want          []happening.Happening
	}{
		"the VM runs":                       {[]metav1.Condition{provisioning}, []metav1.Condition{running}, []happening.Happening{{Reason: computev1.ReasonRunning, Note: "because"}}},
		"the VM runs as before":             {[]metav1.Condition{running}, []metav1.Condition{running}, nil},
		"the VM is being made":              {nil, []metav1.Condition{provisioning}, nil},
		"the VM does not run any more":      {[]metav1.Condition{running}, []metav1.Condition{stopped}, []happening.Happening{warning(computev1.ReasonNotRunning)}},
		"the VM is in a phase not known":    {nil, []metav1.Condition{strange}, []happening.Happening{warning(computev1.ReasonUnknownPhase)}},
		"the provider fails":                {[]metav1.Condition{running}, []metav1.Condition{running, failing}, []happening.Happening{warning(computev1.ReasonProviderError)}},
		"a person must act, told only once": {[]metav1.Condition{running}, []metav1.Condition{running, rejected, stalled}, []happening.Happening{warning(computev1.ReasonRejected)}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, turns(test.before, test.after)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
