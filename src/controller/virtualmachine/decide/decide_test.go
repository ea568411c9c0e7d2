package decide

import (
	"testing"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
)

func TestTheSituationsOfTheDocumentationLeadToTheseActions(t *testing.T) {
	want := map[string]Action{
		"The object is new":                                          RecordIntent,
		"The ProviderConfig does not exist":                          Wait,
		"The ProviderConfig is not ready":                            Wait,
		"The provider has not been tried since the operator started": None,
		"The object is paused":                                       None,
		"The intent is recorded":                                     Create,
		"The POST failed without effect":                             Wait,
		"The POST waits for its turn":                                Wait,
		"The POST is held back, for other calls fail":                Wait,
		"The POST was refused for good":                              WithdrawIntent,
		"A refused request is withdrawn":                             Stall,
		"The credentials were refused":                               Wait,
		"The create key is known with another request":               Stall,
		"The POST had no clear answer, and can be repeated":          Wait,
		"The POST had no clear answer, and cannot be repeated":       Stall,
		"The operator restarted after recording the intent":          RecordIntent,
		"The same, at a provider where a POST cannot be repeated":    Stall,
		"A person said that nothing was made":                        RecordIntent,
		"A person named the VM, or it was found by its key":          Adopt,
		"The question is answered and the answer still there":        ClearAnswer,
		"The VM is being made":                                       Wait,
		"The children differ":                                        ApplyChildren,
		"The children could not be written":                          Wait,
		"Somebody else's object is in the place of a child":          Stall,
		"Everything is as declared":                                  None,
		"cpu or memory differ":                                       Update,
		"The resize was asked for":                                   Wait,
		"cpu or memory differ and cannot be changed":                 Stall,
		"The finalizer was removed by somebody":                      AddFinalizer,
		"A read failed":                                              Wait,
		"A read was refused":                                         Wait,
		"A read says 404, which proves nothing yet":                  Wait,
		"The VM was deleted at the provider":                         Wait,
		"Many VMs vanished at once":                                  Wait,
		"A vanished VM may be made again":                            RecordIntent,
		"Another identity answers, or the provider is held":          Wait,
		"The VM was made at another provider":                        Stall,
		"The object was restored from a backup":                      Stall,
		"The same, and the VM is to be taken over":                   TakeOver,
		"The same, and another VM is to be made":                     MakeNew,
		"Deleted: nothing was ever made":                             RemoveFinalizer,
		"Deleted: the VM exists":                                     Delete,
		"Deleted: the id is not known, the POST can be repeated":     RecordIntent,
		"Deleted: the provider is deleting the VM":                   Wait,
		"Deleted: a read says 404, which proves nothing yet":         Wait,
		"Deleted: the VM is confirmed gone":                          RemoveFinalizer,
		"Deleted: nobody can tell whether a VM was made":             Stall,
		"Deleted: the provider cannot be reached":                    Wait,
		"Deleted: the provider refuses to delete the VM":             Stall,
		"Deleted: the ProviderConfig is not ready":                   Wait,
		"Deleted with deletionPolicy Retain":                         RemoveFinalizer,
		"Deleted: restored from a backup":                            RemoveFinalizer,
		"Deleted and paused":                                         None,
	}
	for _, situation := range Situations() {
		t.Run(situation.Name, func(t *testing.T) {
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

func TestReasonsAreThoseThatAUserCanLookUp(t *testing.T) {
	for name, test := range map[string]struct {
		state State
		want  string
	}{
		"a missing ProviderConfig is named as such": {
			State{Provider: ProviderMissing}, computev1.ReasonProviderConfigNotFound,
		},
		"an ambiguous creation is named as such": {
			State{Finalizer: true, Provider: ProviderReady, Intent: IntentStored, Machine: MachineAmbiguous}, computev1.ReasonCreateAmbiguous,
		},
		"a VM whose absence is not certain is not called vanished": {
			State{Finalizer: true, Provider: ProviderReady, Intent: IntentStored, Machine: MachineMissing, IDStored: true}, computev1.ReasonNotShown,
		},
		"an unprobed provider leaves the status as it is": {
			State{Finalizer: true, Provider: ProviderUnprobed, Machine: MachineUnknown}, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Decide(test.state).Reason; got != test.want {
				t.Errorf("reason %q, want %q", got, test.want)
			}
		})
	}
}
