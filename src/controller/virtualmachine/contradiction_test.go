package virtualmachine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/fake"
)

func TestAProviderThatSaysOfEveryKeyThatItsVMIsDeletedIsNotAskedInAHurry(t *testing.T) {
	w := newWorld(t, full())
	w.provider.Inject(fake.Fault{Op: provider.OperationCreate, Class: provider.NotFound, Count: fake.Forever})
	w.vm("web")
	vm := w.awaits("web", computev1.ConditionSynced, metav1.ConditionFalse, computev1.ReasonProviderError)
	if message := findCondition(vm, computev1.ConditionSynced).Message; !strings.Contains(message, "a new create key") {
		t.Errorf("the user reads %q", message)
	}
	// With the first key a look begins, and no look asks for more than its own.
	if posts, looks := w.calls(provider.OperationCreate), w.writes.passes()["web"]; posts > looks {
		t.Errorf("%d POSTs in %d looks", posts, looks)
	}
	w.provider.ClearFaults()
	w.awaitsRunning("web")
	w.live(1)
}

func TestAResizeOfAVMThatIsShownAndNotKnownIsRepeatedWithBackoff(t *testing.T) {
	w := newWorld(t, full())
	w.vm("web")
	w.awaitsRunning("web")
	w.provider.Inject(fake.Fault{Op: provider.OperationResize, Class: provider.NotFound, Count: fake.Forever})
	begin := w.writes.passes()["web"]
	w.edit("web", func(vm *computev1.VirtualMachine) { vm.Spec.CPU = 4 })
	w.awaits("web", computev1.ConditionSynced, metav1.ConditionFalse, computev1.ReasonProviderError)
	if patches, looks := w.calls(provider.OperationResize), w.writes.passes()["web"]-begin; patches > looks {
		t.Errorf("%d PATCHes in %d looks", patches, looks)
	}
	w.provider.ClearFaults()
	w.awaitsRunning("web")
	if got := w.provider.Live()[0].CPU; got != 4 {
		t.Errorf("%d CPUs", got)
	}
}

func TestALookThatIsRefusedIsRepeated(t *testing.T) {
	w := newWorld(t, full(), polled)
	w.vm("web")
	w.awaitsRunning("web")
	w.provider.Inject(fake.Fault{Op: provider.OperationGet, Class: provider.Rejected, Count: fake.Forever})
	w.awaits("web", computev1.ConditionSynced, metav1.ConditionFalse, computev1.ReasonProviderError)
	w.provider.ClearFaults()
	w.awaitsRunning("web")
	w.live(1)
}

func TestARefusalSaysNothingOfAVMThatHasGoneSince(t *testing.T) {
	t.Run("while its object is being deleted", func(t *testing.T) {
		w := newWorld(t, full())
		w.vm("web")
		id := w.awaitsRunning("web").Status.ID
		w.provider.Inject(fake.Fault{Op: provider.OperationDelete, Class: provider.Rejected, Count: fake.Forever})
		w.delete("web")
		vm := w.awaitsStalled("web", computev1.ReasonRejected)
		if message := findCondition(vm, computev1.ConditionStalled).Message; !strings.Contains(message, "delete it there") {
			t.Errorf("the user reads %q", message)
		}
		w.provider.Vanish(id)
		w.awaitsGone("web")
		if got := w.calls(provider.OperationDelete); got != 1 {
			t.Errorf("%d DELETEs", got)
		}
	})
	t.Run("while its size is refused", func(t *testing.T) {
		w := newWorld(t, full())
		w.vm("web")
		id := w.awaitsRunning("web").Status.ID
		w.provider.Inject(fake.Fault{Op: provider.OperationResize, Class: provider.Rejected, Count: fake.Forever})
		w.edit("web", func(vm *computev1.VirtualMachine) { vm.Spec.CPU = 4 })
		w.awaitsStalled("web", computev1.ReasonRejected)
		w.provider.Vanish(id)
		if vm := w.awaitsRunning("web"); vm.Status.ID == id {
			t.Errorf("the status still has %s", id)
		}
		w.live(1)
	})
}

func TestAKeyThatIsNotFoundProvesNothingWithoutIdempotency(t *testing.T) {
	w := newWorld(t, fake.Options{
		Capabilities: provider.Capabilities{Identity: "fake", Offered: []string{provider.CapabilityList}}, Phase: provider.PhaseRunning,
	})
	w.provider.Inject(fake.Fault{Op: provider.OperationCreate, When: fake.After, Class: provider.Ambiguous})
	w.provider.Inject(fake.Fault{Op: provider.OperationFind, Class: provider.NotFound, Count: fake.Forever})
	w.vm("web")
	w.awaitsStalled("web", computev1.ReasonCreateAmbiguous)
	w.restart()
	w.looksAgain("web")
	w.awaitsStalled("web", computev1.ReasonCreateAmbiguous)
	w.live(1)
	w.annotate("web", computev1.TakeOverIDAnnotation, w.provider.Live()[0].ID)
	w.awaitsRunning("web")
	if got := w.calls(provider.OperationCreate); got != 1 {
		t.Errorf("%d POSTs: it guessed", got)
	}
}

func TestAPauseAfterAFailureIsNotToldAnew(t *testing.T) {
	w := newWorld(t, full())
	const rounds = 4
	for range rounds {
		w.provider.Inject(fake.Fault{Op: provider.OperationCreate, Class: provider.Ambiguous, RetryAfter: 20 * time.Millisecond})
		w.provider.Inject(fake.Fault{Op: provider.OperationCreate, Class: provider.Throttled, RetryAfter: 20 * time.Millisecond})
	}
	w.vm("web")
	w.awaitsRunning("web")
	w.live(1)
	if got := w.writes.all(); strings.Count(fmt.Sprint(got), "patch status") > 3 {
		t.Errorf("the status was written for every pause: %v", got)
	}
}
