package system

import (
	"testing"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/test/mockprovider"
)

// lateAnswer is how long the answer to a POST takes in these tests, in seconds:
// long enough for the operator to be found waiting for it.
const lateAnswer = 3

// posting makes a VirtualMachine and returns while its POST is under way.
func (w *world) posting(p *mockprovider.Provider, when string) {
	w.t.Helper()
	fault(w.t, p, mockprovider.Fault{Operation: "create", When: when, LatencySeconds: lateAnswer})
	w.working(p.URL())
	w.vm("web")
	awaitRequests(w.t, p, "a POST", func(all []mockprovider.Request) bool {
		return countOf(all)["create"] == 1 && (when == "before" || effects(all) == 1)
	})
}

// effects counts the POSTs that made a VM.
func effects(all []mockprovider.Request) int {
	made := 0
	for _, request := range all {
		if request.Operation == "create" && request.Effect {
			made++
		}
	}
	return made
}

// answered waits until no POST is under way.
func answered(t *testing.T, p *mockprovider.Provider) {
	t.Helper()
	awaitRequests(t, p, "all POSTs to be answered", func(all []mockprovider.Request) bool {
		for _, request := range all {
			if request.Operation == "create" && request.Status == 0 {
				return false
			}
		}
		return true
	})
}

func TestAnOperatorKilledDuringAPOSTHasOneVM(t *testing.T) {
	for when, name := range map[string]string{"after": "that was made", "before": "that is made later"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := startProvider(t)
			w := newWorld(t)
			w.posting(p, when)
			w.operator.Kill()
			w.start(loopback)
			w.running("web")
			answered(t, p)
			w.wantMachines(p, "web")
			if got := effects(requests(t, p)); got != 1 {
				t.Errorf("%d VMs were made", got)
			}
			w.deleted("web")
			if left := machines(t, p); len(left) > 0 {
				t.Errorf("left at the provider: %v", left)
			}
		})
	}
}

func TestAnOperatorKilledDuringAPOSTThatCannotBeRepeatedAsksAPerson(t *testing.T) {
	t.Parallel()
	p := startProvider(t, "--minimal")
	w := newWorld(t)
	w.posting(p, "after")
	w.operator.Kill()
	w.start(loopback)
	want := condition{computev1.ConditionStalled, isTrue, computev1.ReasonCreateAmbiguous, []string{"look there for it"}}
	w.awaits("web", want)
	w.warned(vmKind, "web", want)
	for range 3 {
		w.poke(w.both()[0])
	}
	if all := requests(t, p); countOf(all)["create"] != 1 || len(machines(t, p)) != 1 {
		t.Errorf("the provider was asked %v and has %v", countOf(all), machines(t, p))
	}
}

func TestAnOperatorToldToStopDuringAPOSTStoresTheID(t *testing.T) {
	t.Parallel()
	p := startProvider(t)
	w := newWorld(t)
	w.posting(p, "after")
	w.operator.Terminate()
	w.operator.WantEnd()
	vm := w.awaits("web", condition{computev1.ConditionSynced, isTrue, computev1.ReasonSynced, nil})
	if made := machines(t, p); len(made) != 1 || vm.Status.ID != made[0] {
		t.Errorf("the provider has %v, and the object %q", made, vm.Status.ID)
	}
	w.start(loopback)
	w.wantMachines(p, "web")
	if got := calls(t, p)["create"]; got != 1 {
		t.Errorf("%d POSTs", got)
	}
}
