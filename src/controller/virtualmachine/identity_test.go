package virtualmachine_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/virtualmachine/intent"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/fake"
)

func TestDeletingWhileTheIDIsUnknownFindsTheVMFirst(t *testing.T) {
	for name, capabilities := range map[string][]string{
		"by its key":            {provider.CapabilityIdempotency, provider.CapabilityList},
		"by repeating the POST": {provider.CapabilityIdempotency},
		"by list alone":         {provider.CapabilityList},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, fake.Options{
				Capabilities: provider.Capabilities{Identity: "fake", Offered: capabilities}, Phase: provider.PhaseRunning,
			})
			sent := make(chan struct{})
			w.provider.Inject(fake.Fault{
				Op: provider.OperationCreate, When: fake.After, Class: provider.Ambiguous,
				Hook: func(fake.Entry) { w.delete("web"); close(sent) },
			})
			w.vm("web")
			<-sent
			w.awaitsGone("web")
			w.live(0)
		})
	}
}

func TestARestoredObjectWaitsForAPerson(t *testing.T) {
	restored := func(t *testing.T) (w *world, old string) {
		t.Helper()
		w = newWorld(t, full())
		w.vm("web")
		backup := w.awaitsRunning("web")
		w.edit("web", func(vm *computev1.VirtualMachine) { vm.Spec.DeletionPolicy = computev1.DeletionPolicyRetain })
		w.delete("web")
		w.awaitsGone("web")
		w.vm("web", func(vm *computev1.VirtualMachine) { vm.Annotations = backup.Annotations })
		w.awaitsStalled("web", computev1.ReasonRestoredObject)
		w.live(1)
		return w, backup.Status.ID
	}
	t.Run("who lets it take the VM over", func(t *testing.T) {
		w, old := restored(t)
		w.annotate("web", computev1.RestoredAnnotation, computev1.RestoredTakeOver)
		if vm := w.awaitsRunning("web"); vm.Status.ID != old {
			t.Errorf("id %s, want the old VM's %s", vm.Status.ID, old)
		}
		w.live(1)
	})
	t.Run("who lets it make another", func(t *testing.T) {
		w, old := restored(t)
		w.annotate("web", computev1.RestoredAnnotation, computev1.RestoredMakeNew)
		if vm := w.awaitsRunning("web"); vm.Status.ID == old {
			t.Error("it has the old VM")
		}
		w.live(2)
	})
	t.Run("and leaves the VM alone when it is deleted", func(t *testing.T) {
		w, _ := restored(t)
		w.delete("web")
		w.awaitsGone("web")
		w.live(1)
	})
}

func TestACopiedManifestGetsAVMOfItsOwn(t *testing.T) {
	w := newWorld(t, full())
	w.vm("web")
	original := w.awaitsRunning("web")
	w.vm("copy", func(vm *computev1.VirtualMachine) {
		vm.Annotations = original.Annotations
		vm.Finalizers = original.Finalizers
	})
	if vm := w.awaitsRunning("copy"); vm.Status.ID == original.Status.ID {
		t.Error("two objects have one VM")
	}
	w.live(2)
}

func TestARecordLostToAReplaceIsDerivedAgain(t *testing.T) {
	w := newWorld(t, full())
	w.vm("web")
	id := w.awaitsRunning("web").Status.ID
	w.edit("web", func(vm *computev1.VirtualMachine) {
		vm.Annotations, vm.Finalizers = nil, nil
		vm.Spec.CPU = 4
	})
	w.eventually(func() string {
		vm := w.get("web")
		if intent.Of(vm) == nil || len(vm.Finalizers) == 0 {
			return fmt.Sprintf("annotations %v, finalizers %v", vm.Annotations, vm.Finalizers)
		}
		return ""
	})
	if vm := w.awaitsRunning("web"); vm.Status.ID != id {
		t.Errorf("id %s, want %s", vm.Status.ID, id)
	}
	w.live(1)
}

func TestAPhaseThatTheContractDoesNotKnowIsShownAndNotTrusted(t *testing.T) {
	w := newWorld(t, fake.Options{Capabilities: fake.Full(), Phase: "Meditating"})
	w.vm("web")
	vm := w.awaits("web", computev1.ConditionReady, metav1.ConditionFalse, computev1.ReasonUnknownPhase)
	if vm.Status.Phase != "Meditating" {
		t.Errorf("phase %q", vm.Status.Phase)
	}
	w.live(1)
	w.provider.SetPhase(vm.Status.ID, provider.PhaseRunning)
	w.awaitsRunning("web")
}

func findCondition(vm *computev1.VirtualMachine, conditionType string) metav1.Condition {
	for _, condition := range vm.Status.Conditions {
		if condition.Type == conditionType {
			return condition
		}
	}
	return metav1.Condition{}
}

func TestAnObjectMadeAnewUnderTheSameNameGetsItsOwnVM(t *testing.T) {
	w := newWorld(t, full())
	w.vm("web")
	first := w.awaitsRunning("web")
	w.delete("web")
	w.awaitsGone("web")
	w.vm("web")
	second := w.awaitsRunning("web")
	if first.Status.ID == second.Status.ID {
		t.Error("the new object has the deleted VM")
	}
	w.live(1)
	secret := &corev1.Secret{}
	w.eventually(func() string {
		err := w.client.Get(t.Context(), client.ObjectKey{Namespace: w.namespace, Name: "web-connection"}, secret)
		if err != nil {
			return err.Error()
		}
		if got := string(secret.Data["id"]); got != second.Status.ID {
			return "the Secret still holds " + got
		}
		return ""
	})
	if !strings.HasPrefix(intent.Of(second).Key, string(second.UID)) {
		t.Errorf("create key %q is not of UID %s", intent.Of(second).Key, second.UID)
	}
}
