package virtualmachine_test

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/virtualmachine/intent"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/fake"
	"github.com/example/vmoperator/src/provider/registry"
)

func TestAFailureWithoutEffectAtAMinimalProviderIsRepeated(t *testing.T) {
	w := newWorld(t, minimal())
	w.provider.Inject(fake.Fault{Op: provider.OperationCreate, Class: provider.Transient, Cause: provider.CauseUnreachable})
	w.vm("web")
	w.awaitsRunning("web")
	w.live(1)
	if got := w.calls(provider.OperationCreate); got != 2 {
		t.Errorf("%d POSTs, want 2", got)
	}
}

func TestARefusedRequestIsNotRepeatedUntilTheSpecChanges(t *testing.T) {
	for name, options := range map[string]fake.Options{"with every capability": full(), "with the minimum": minimal()} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, options)
			w.provider.Inject(fake.Fault{Op: provider.OperationCreate, Class: provider.Rejected, Count: fake.Forever})
			w.vm("web")
			vm := w.awaitsStalled("web", computev1.ReasonRejected)
			if vm.Status.ObservedGeneration != vm.Generation {
				t.Errorf("observedGeneration %d, generation %d", vm.Status.ObservedGeneration, vm.Generation)
			}
			w.awaitsEvent("web", computev1.ReasonRejected)
			w.looksAgain("web")
			if got := w.calls(provider.OperationCreate); got != 1 {
				t.Errorf("%d POSTs of a refused request", got)
			}
			w.provider.ClearFaults()
			w.edit("web", func(vm *computev1.VirtualMachine) { vm.Spec.CPU = 4 })
			w.awaitsRunning("web")
			w.live(1)
			if got := w.provider.Live()[0].CPU; got != 4 {
				t.Errorf("made with %d CPUs", got)
			}
		})
	}
}

func TestARefusedObjectIsDeletedWithoutACall(t *testing.T) {
	w := newWorld(t, full())
	w.provider.Inject(fake.Fault{Op: provider.OperationCreate, Class: provider.Rejected, Count: fake.Forever})
	w.vm("web")
	w.awaitsStalled("web", computev1.ReasonRejected)
	w.provider.Reset()
	w.delete("web")
	w.awaitsGone("web")
	if got := w.provider.Ledger(); len(got) > 0 {
		t.Errorf("calls for a VM that never was: %+v", got)
	}
}

func TestAProviderThatCannotBeUsedIsSaidAndWaitedFor(t *testing.T) {
	w := newWorld(t, full())
	w.set("default", registry.Entry{State: registry.NotReady, Reason: computev1.ReasonUnauthorized, Message: "the provider refuses the API key"})
	w.vm("web")
	vm := w.awaits("web", computev1.ConditionSynced, metav1.ConditionFalse, computev1.ReasonProviderNotReady)
	if len(vm.Finalizers) != 0 {
		t.Errorf("finalizers %v before anything can have been made", vm.Finalizers)
	}
	w.awaitsEvent("web", computev1.ReasonProviderNotReady)
	w.ready("default")
	w.awaitsRunning("web")
}

func TestAMissingProviderConfigIsSaidAndWaitedFor(t *testing.T) {
	w := newWorld(t, full())
	w.vm("web", func(vm *computev1.VirtualMachine) { vm.Spec.ProviderRef = new("later") })
	w.awaits("web", computev1.ConditionSynced, metav1.ConditionFalse, computev1.ReasonProviderConfigNotFound)
	w.providerConfig("later")
	w.ready("later")
	w.awaitsRunning("web")
}

func TestAnEmptyProviderRefCountsAsDefault(t *testing.T) {
	w := newWorld(t, full())
	w.vm("web", func(vm *computev1.VirtualMachine) { vm.Spec.ProviderRef = new("") })
	w.awaitsRunning("web")
}

func TestNothingIsMadeOrDeletedWhileTheProviderIsHeld(t *testing.T) {
	w := newWorld(t, full())
	w.vm("old")
	w.awaitsRunning("old")
	w.set("default", registry.Entry{State: registry.Held, Reason: computev1.ReasonIdentityChanged, Message: "another installation answers", Client: w.provider})
	w.vm("new")
	w.awaits("new", computev1.ConditionSynced, metav1.ConditionFalse, computev1.ReasonProviderHeld)
	w.delete("old")
	w.awaits("old", computev1.ConditionSynced, metav1.ConditionFalse, computev1.ReasonProviderHeld)
	w.live(1)
	w.ready("default")
	w.awaitsGone("old")
	w.awaitsRunning("new")
	w.live(1)
}

func TestAVMMadeUnderAnotherIdentityIsNotTouched(t *testing.T) {
	w := newWorld(t, full())
	w.vm("web")
	w.awaitsRunning("web")
	other := fake.New(fake.Options{Capabilities: provider.Capabilities{Identity: "other", Offered: fake.Full().Offered}})
	w.readyVia("default", other)
	w.awaitsStalled("web", computev1.ReasonForeignProvider)
	w.delete("web")
	w.looksAgain("web")
	w.live(1)
	if got := other.Effects(); len(got) > 0 {
		t.Errorf("effects at the other provider: %v", got)
	}
	w.ready("default")
	w.awaitsGone("web")
	w.live(0)
}

func TestAVMThatReadsDoNotShowYetIsNotMadeTwice(t *testing.T) {
	capabilities := fake.Full()
	capabilities.Settle = time.Hour
	w := newWorld(t, fake.Options{Capabilities: capabilities, HiddenReads: 3})
	w.vm("web")
	w.eventually(func() string {
		if w.calls(provider.OperationGet)+w.calls(provider.OperationList) < 4 {
			return "too few reads"
		}
		return ""
	})
	w.provider.Provision()
	w.awaitsRunning("web")
	w.live(1)
	if got := w.calls(provider.OperationCreate); got != 1 {
		t.Errorf("%d POSTs", got)
	}
}

func TestAKeyWhoseVMWasDeletedGetsASuccessor(t *testing.T) {
	w := newWorld(t, full())
	w.provider.Inject(fake.Fault{
		Op: provider.OperationCreate, When: fake.After, Class: provider.Ambiguous,
		Hook: func(e fake.Entry) { w.provider.Vanish(e.ID) },
	})
	w.vm("web")
	vm := w.awaitsRunning("web")
	w.live(1)
	if got, want := intent.Of(vm).Key, intent.Key(vm.UID, 2); got != want {
		t.Errorf("create key %q, want %q", got, want)
	}
}

func TestAConflictingKeyStalls(t *testing.T) {
	w := newWorld(t, full())
	w.provider.Inject(fake.Fault{Op: provider.OperationCreate, Class: provider.Conflict, Count: fake.Forever})
	w.vm("web")
	w.awaitsStalled("web", computev1.ReasonCreateConflict)
	w.live(0)
}

func TestAThrottledCallWaitsForItsTurnAndIsNotAnError(t *testing.T) {
	w := newWorld(t, full())
	w.provider.Inject(fake.Fault{Op: provider.OperationCreate, Class: provider.Throttled, RetryAfter: 50 * time.Millisecond, Count: 3})
	w.vm("web")
	w.awaitsRunning("web")
	w.live(1)
}

func TestAnUnauthorizedCallDoubtsTheProviderConfig(t *testing.T) {
	w := newWorld(t, full())
	doubted := make(chan struct{}, 10)
	w.registry.Listen(registry.Doubted, func(client.ObjectKey) { doubted <- struct{}{} })
	w.provider.Inject(fake.Fault{Op: provider.OperationCreate, Class: provider.Unauthorized})
	w.vm("web")
	<-doubted
	w.awaits("web", computev1.ConditionSynced, metav1.ConditionFalse, computev1.ReasonProviderNotReady)
}

func TestASilentProviderLeavesTheVMAsItWasLastSeen(t *testing.T) {
	w := newWorld(t, full(), polled)
	w.vm("web")
	w.awaitsRunning("web")
	w.provider.Inject(fake.Fault{Op: provider.OperationGet, Class: provider.Transient, Count: fake.Forever})
	vm := w.awaits("web", computev1.ConditionSynced, metav1.ConditionFalse, computev1.ReasonProviderError)
	if ready := findCondition(vm, computev1.ConditionReady); ready.Status != metav1.ConditionTrue {
		t.Errorf("Ready flipped: %+v", ready)
	}
	w.provider.ClearFaults()
	w.awaitsRunning("web")
	w.live(1)
}

func TestALookThatIsThrottledOrFailsOnceIsNotWorthAWrite(t *testing.T) {
	w := newWorld(t, full(), polled)
	w.vm("web")
	w.awaitsRunning("web")
	w.awaitsPasses("web", 2)
	w.writes.reset()
	w.provider.Reset()
	for _, class := range []provider.Class{provider.Throttled, provider.Transient, provider.Throttled} {
		w.provider.Inject(fake.Fault{Op: provider.OperationGet, Class: class, RetryAfter: 10 * time.Millisecond})
	}
	w.eventually(func() string {
		if got := w.calls(provider.OperationGet); got < 6 {
			return fmt.Sprintf("%d looks", got)
		}
		return ""
	})
	if got := w.writes.all(); len(got) > 0 {
		t.Errorf("writes: %v", got)
	}
}
