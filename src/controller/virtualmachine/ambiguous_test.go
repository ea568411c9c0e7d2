package virtualmachine_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/virtualmachine/intent"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/fake"
)

func TestAPOSTWhoseAnswerIsLostMakesOneVM(t *testing.T) {
	for name, capabilities := range map[string][]string{
		"repeated under its key":  {provider.CapabilityIdempotency},
		"found by its key":        {provider.CapabilityList},
		"with every capability":   fake.Full().Offered,
		"repeated, and no resize": {provider.CapabilityIdempotency, provider.CapabilityList},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, fake.Options{
				Capabilities: provider.Capabilities{Identity: "fake", Offered: capabilities}, Phase: provider.PhaseRunning,
			})
			w.provider.Inject(fake.Fault{Op: provider.OperationCreate, When: fake.After, Class: provider.Ambiguous})
			w.vm("web")
			vm := w.awaitsRunning("web")
			w.live(1)
			if got, want := intent.Of(vm).Key, intent.Key(vm.UID, 1); got != want {
				t.Errorf("create key %q, want %q", got, want)
			}
		})
	}
}

func TestAnOperatorThatStopsBetweenPOSTAndStatusFindsItsVM(t *testing.T) {
	w := newWorld(t, full())
	sent, release := make(chan struct{}), make(chan struct{})
	w.provider.Inject(fake.Fault{
		Op: provider.OperationCreate, When: fake.After, Class: provider.Ambiguous,
		Hook: func(fake.Entry) { close(sent) }, Block: release,
	})
	w.vm("web")
	<-sent
	stopped := make(chan struct{})
	go func() { w.stop(); close(stopped) }()
	close(release)
	<-stopped
	w.startManager()
	w.ready("default")
	w.awaitsRunning("web")
	w.live(1)
}

func TestAnIDIsStoredThoughTheOperatorIsToldToStop(t *testing.T) {
	w := newWorld(t, full())
	sent, release := make(chan struct{}), make(chan struct{})
	w.provider.Inject(fake.Fault{
		Op: provider.OperationCreate, When: fake.After, Hook: func(fake.Entry) { close(sent) }, Block: release,
	})
	w.vm("web")
	<-sent
	stopped := make(chan struct{})
	go func() { w.stop(); close(stopped) }()
	w.edit("web", func(vm *computev1.VirtualMachine) { metav1.SetMetaDataLabel(&vm.ObjectMeta, "team", "a") })
	close(release)
	<-stopped
	if vm := w.get("web"); vm.Status.ID == "" {
		t.Errorf("the id is lost: %+v", vm.Status)
	}
}

func TestAnAmbiguousCreationAtAMinimalProviderWaitsForAPerson(t *testing.T) {
	ambiguous := func(t *testing.T, when fake.When) *world {
		t.Helper()
		w := newWorld(t, minimal())
		w.provider.Inject(fake.Fault{Op: provider.OperationCreate, When: when, Class: provider.Ambiguous})
		w.vm("web")
		w.awaitsStalled("web", computev1.ReasonCreateAmbiguous)
		w.awaitsEvent("web", computev1.ReasonCreateAmbiguous)
		w.restart()
		w.looksAgain("web")
		if got := w.calls(provider.OperationCreate); got != 1 {
			t.Fatalf("%d POSTs: it guessed", got)
		}
		return w
	}
	t.Run("who names the VM", func(t *testing.T) {
		w := ambiguous(t, fake.After)
		w.annotate("web", computev1.TakeOverIDAnnotation, w.provider.Live()[0].ID)
		w.awaitsRunning("web")
		w.eventually(func() string {
			if value := w.get("web").Annotations[computev1.TakeOverIDAnnotation]; value != "" {
				return "the answer is still there"
			}
			return ""
		})
		w.live(1)
		w.delete("web")
		w.awaitsGone("web")
		w.live(0)
	})
	t.Run("who says that nothing was made", func(t *testing.T) {
		w := ambiguous(t, fake.Before)
		w.annotate("web", computev1.ConfirmNotCreatedAnnotation, intent.Of(w.get("web")).Key)
		vm := w.awaitsRunning("web")
		w.live(1)
		if got, want := intent.Of(vm).Key, intent.Key(vm.UID, 2); got != want {
			t.Errorf("create key %q, want %q", got, want)
		}
	})
	t.Run("whose answer about another key does not count", func(t *testing.T) {
		w := ambiguous(t, fake.After)
		w.annotate("web", computev1.ConfirmNotCreatedAnnotation, "true")
		w.looksAgain("web")
		w.awaitsStalled("web", computev1.ReasonCreateAmbiguous)
		w.live(1)
	})
	t.Run("also when it is deleted meanwhile", func(t *testing.T) {
		w := ambiguous(t, fake.After)
		w.delete("web")
		w.looksAgain("web")
		w.awaitsStalled("web", computev1.ReasonCreateAmbiguous)
		w.annotate("web", computev1.TakeOverIDAnnotation, w.provider.Live()[0].ID)
		w.awaitsGone("web")
		w.live(0)
	})
	t.Run("and Retain releases it", func(t *testing.T) {
		w := ambiguous(t, fake.After)
		w.delete("web")
		w.edit("web", func(vm *computev1.VirtualMachine) { vm.Spec.DeletionPolicy = computev1.DeletionPolicyRetain })
		w.awaitsGone("web")
		w.awaitsEvent("web", "Retained")
		w.live(1)
	})
	t.Run("though its record is lost", func(t *testing.T) {
		w := ambiguous(t, fake.After)
		w.edit("web", func(vm *computev1.VirtualMachine) {
			delete(vm.Annotations, computev1.CreateIntentAnnotation)
			vm.Spec.CPU = 4
		})
		w.looksAgain("web")
		w.awaitsStalled("web", computev1.ReasonCreateAmbiguous)
		w.live(1)
	})
}
