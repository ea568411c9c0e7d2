package virtualmachine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/virtualmachine/intent"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/fake"
	"github.com/example/vmoperator/src/provider/registry"
)

func TestAVirtualMachineBecomesARunningVMWithItsChildren(t *testing.T) {
	w := newWorld(t, full())
	w.vm("web")
	vm := w.awaitsRunning("web")
	w.awaitsAddressed("web")
	w.live(1)
	machine := w.provider.Live()[0]
	if vm.Status.ID != machine.ID || vm.Status.Phase != "Running" || vm.Status.CPU != 2 || vm.Status.ObservedGeneration != vm.Generation {
		t.Errorf("status %+v does not tell of %+v", vm.Status, machine)
	}
	if machine.Labels["compute.example.com/uid"] != string(vm.UID) {
		t.Errorf("the VM's labels do not name its owner: %v", machine.Labels)
	}

	key := client.ObjectKey{Namespace: w.namespace, Name: "web-connection"}
	secret := &corev1.Secret{}
	w.eventually(func() string { return text(w.client.Get(t.Context(), key, secret)) })
	if string(secret.Data["id"]) != machine.ID || string(secret.Data["host"]) != machine.Addresses[0] || string(secret.Data["port"]) != "22" {
		t.Errorf("connection Secret holds %q", secret.Data)
	}
	service := &corev1.Service{}
	w.eventually(func() string { return text(w.client.Get(t.Context(), client.ObjectKeyFromObject(vm), service)) })
	if len(service.Spec.Selector) != 0 || service.Spec.Ports[0].Port != 22 || vm.Status.ServiceName != service.Name {
		t.Errorf("Service %+v, named %q in the status", service.Spec, vm.Status.ServiceName)
	}
	slices := &discoveryv1.EndpointSliceList{}
	w.eventually(func() string {
		w.must(w.client.List(t.Context(), slices, client.InNamespace(w.namespace),
			client.MatchingLabels{discoveryv1.LabelServiceName: service.Name}))
		if len(slices.Items) != 1 {
			return fmt.Sprintf("%d EndpointSlices", len(slices.Items))
		}
		return ""
	})
	slice := slices.Items[0]
	if slice.Endpoints[0].Addresses[0] != machine.Addresses[0] || *slice.Ports[0].Name != "ssh" || !*slice.Endpoints[0].Conditions.Ready {
		t.Errorf("EndpointSlice %+v", slice)
	}
	for _, child := range []client.Object{secret, service, &slice} {
		owner := metav1.GetControllerOf(child)
		if owner == nil || owner.UID != vm.UID || *owner.BlockOwnerDeletion {
			t.Errorf("%T has the owner %+v", child, owner)
		}
	}
	w.awaitsEvent("web", "Created")
	w.awaitsEvent("web", "Running")
}

func text(err error) string {
	if err != nil {
		return err.Error()
	}
	return ""
}

func TestALifeTakesNoMoreWritesAndCallsThanTheFloor(t *testing.T) {
	w := newWorld(t, full(), polled)
	w.writes.reset()
	w.provider.Reset()
	w.vm("web")
	w.awaitsRunning("web")
	w.eventually(func() string {
		if got := len(w.writes.all()); got < 5 {
			return fmt.Sprintf("%d writes", got)
		}
		return ""
	})
	w.awaitsPasses("web", 3)
	want := []string{
		"patch VirtualMachine", "patch status VirtualMachine", "create Secret", "create Service", "create EndpointSlice",
	}
	if diff := cmp.Diff(want, w.writes.all()); diff != "" {
		t.Errorf("writes from apply to Running (-want +got):\n%s", diff)
	}
	if got := w.calls(provider.OperationCreate); got != 1 {
		t.Errorf("%d POSTs", got)
	}

	w.writes.reset()
	w.provider.Reset()
	w.delete("web")
	w.awaitsGone("web")
	if diff := cmp.Diff([]string{"patch VirtualMachine"}, w.writes.all()); diff != "" {
		t.Errorf("writes from delete to gone (-want +got):\n%s", diff)
	}
	want = nil
	for _, entry := range w.provider.Ledger() {
		if entry.Op != provider.OperationGet || entry.Class == provider.NotFound || len(want) > 0 {
			want = append(want, string(entry.Op))
		}
	}
	if diff := cmp.Diff([]string{"delete", "get"}, want); diff != "" {
		t.Errorf("calls from delete to gone (-want +got):\n%s", diff)
	}
	w.live(0)
}

func TestASettledVMIsLookedAtAndNothingIsWritten(t *testing.T) {
	w := newWorld(t, full(), polled)
	w.vm("web")
	w.awaitsRunning("web")
	w.awaitsPasses("web", 2)
	w.writes.reset()
	w.provider.Reset()
	w.awaitsPasses("web", 4)
	if got := w.writes.all(); len(got) > 0 {
		t.Errorf("writes to a settled VM: %v", got)
	}
	for op, count := range w.provider.Effects() {
		t.Errorf("%d calls of %s changed the provider", count, op)
	}
}

func TestALookThatNoPollIsDueForMakesNoCall(t *testing.T) {
	w := newWorld(t, full())
	w.set("default", slow(w))
	w.vm("web")
	w.awaitsRunning("web")
	w.awaitsEvent("web", "Applied")
	w.provider.Reset()
	w.must(w.client.Delete(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "web-connection"}}))
	w.eventually(func() string {
		return text(w.client.Get(t.Context(), client.ObjectKey{Namespace: w.namespace, Name: "web-connection"}, &corev1.Secret{}))
	})
	if got := w.provider.Ledger(); len(got) > 0 {
		t.Errorf("restoring a child cost calls: %+v", got)
	}
}

// slow is the world's entry with a poll interval that no test lives to see.
func slow(w *world) registry.Entry {
	return registry.Entry{
		State: registry.Ready, Client: w.provider, Capabilities: fake.Full(), Identities: []string{"fake"},
		PollInterval: time.Hour, Timeout: 100 * time.Millisecond,
	}
}

func TestProvisioningIsShownUntilTheVMRuns(t *testing.T) {
	w := newWorld(t, fake.Options{Capabilities: fake.Full()})
	w.vm("web")
	vm := w.awaits("web", computev1.ConditionReconciling, metav1.ConditionTrue, computev1.ReasonProvisioning)
	if vm.Status.ID == "" || vm.Status.Phase != "Provisioning" {
		t.Errorf("status while provisioning: %+v", vm.Status)
	}
	w.provider.Provision()
	vm = w.awaitsRunning("web")
	if slices.ContainsFunc(vm.Status.Conditions, func(c metav1.Condition) bool { return c.Type == computev1.ConditionReconciling }) {
		t.Errorf("Reconciling stays: %+v", vm.Status.Conditions)
	}
}

func TestAVMDeletedAtTheProviderIsMadeAgainUnderTheNextKey(t *testing.T) {
	w := newWorld(t, full())
	w.vm("web")
	before := w.awaitsRunning("web")
	w.provider.Vanish(before.Status.ID)
	w.eventually(func() string {
		if vm := w.get("web"); vm.Status.ID == before.Status.ID || vm.Status.ID == "" {
			return "the VM is not made again"
		}
		return ""
	})
	vm := w.awaitsRunning("web")
	w.live(1)
	if got, want := intent.Of(vm).Key, intent.Key(vm.UID, 2); got != want {
		t.Errorf("create key %q, want %q", got, want)
	}
	w.awaitsEvent("web", computev1.ReasonVanished)
}

func TestAFleetThatVanishesAtOnceIsNotMadeAgain(t *testing.T) {
	w := newWorld(t, full())
	names := []string{"a", "b", "c"}
	for _, name := range names {
		w.vm(name)
	}
	for _, name := range names {
		w.awaitsRunning(name)
	}
	for _, machine := range w.provider.Live() {
		w.provider.Vanish(machine.ID)
	}
	for _, name := range names {
		w.eventually(func() string {
			vm := w.get(name)
			synced := meta.FindStatusCondition(vm.Status.Conditions, computev1.ConditionSynced)
			if synced.Reason == computev1.ReasonVanished && strings.Contains(synced.Message, "one of many") {
				return ""
			}
			return fmt.Sprintf("%s is not held: %+v", name, synced)
		})
	}
	w.live(0)
	w.provider.Reset()
	entry := w.registry.Get(client.ObjectKey{Namespace: w.namespace, Name: "default"})
	entry.ReleasedAt = time.Now().Add(time.Second)
	w.set("default", entry)
	for _, name := range names {
		w.awaitsRunning(name)
	}
	w.live(3)
	if got := w.calls(provider.OperationCreate); got != 3 {
		t.Errorf("%d POSTs after the release, want 3", got)
	}
}

func TestDeletionWaitsUntilTheProviderIsDone(t *testing.T) {
	w := newWorld(t, fake.Options{Capabilities: fake.Full(), Phase: provider.PhaseRunning, SlowDelete: true})
	w.vm("web")
	w.awaitsRunning("web")
	w.delete("web")
	w.awaits("web", computev1.ConditionReconciling, metav1.ConditionTrue, computev1.ReasonDeleting)
	w.awaitsPasses("web", 3)
	if got := w.calls(provider.OperationDelete); got != 1 {
		t.Errorf("%d DELETEs while the provider is at it", got)
	}
	w.provider.Finish()
	w.awaitsGone("web")
	w.live(0)
}

func TestRetainLeavesTheVMAndSaysWhichOne(t *testing.T) {
	w := newWorld(t, full())
	w.vm("web", func(vm *computev1.VirtualMachine) { vm.Spec.DeletionPolicy = computev1.DeletionPolicyRetain })
	id := w.awaitsRunning("web").Status.ID
	w.delete("web")
	w.awaitsGone("web")
	w.live(1)
	if note := w.awaitsEvent("web", "Retained"); note != "left at the provider: VM "+id {
		t.Errorf("event %q", note)
	}
}

func TestRetainReleasesAnObjectWhoseProviderIsGone(t *testing.T) {
	w := newWorld(t, full())
	w.vm("web")
	w.awaitsRunning("web")
	w.set("default", registry.Entry{State: registry.NotReady, Reason: computev1.ReasonUnreachable, Message: "no answer"})
	w.delete("web")
	w.awaits("web", computev1.ConditionSynced, metav1.ConditionUnknown, computev1.ReasonProviderNotReady)
	w.edit("web", func(vm *computev1.VirtualMachine) { vm.Spec.DeletionPolicy = computev1.DeletionPolicyRetain })
	w.awaitsGone("web")
	w.live(1)
}

func TestAnEditedSizeIsAppliedAsAResize(t *testing.T) {
	w := newWorld(t, full())
	w.vm("web")
	w.awaitsRunning("web")
	w.edit("web", func(vm *computev1.VirtualMachine) { vm.Spec.CPU = 8 })
	w.eventually(func() string {
		if vm := w.get("web"); vm.Status.CPU != 8 || vm.Status.ObservedGeneration != vm.Generation {
			return fmt.Sprintf("status %+v", vm.Status)
		}
		return ""
	})
	w.awaitsRunning("web")
	if got := w.provider.Live()[0].CPU; got != 8 {
		t.Errorf("the VM has %d CPUs", got)
	}
	if got := w.calls(provider.OperationResize); got != 1 {
		t.Errorf("%d PATCHes", got)
	}
	w.live(1)
}

func TestASizeThatTheProviderCannotChangeIsSaid(t *testing.T) {
	w := newWorld(t, minimal())
	w.vm("web")
	w.awaitsRunning("web")
	w.provider.Change(w.provider.Live()[0].ID, func(m *provider.Machine) { m.CPU = 2 })
	w.edit("web", func(vm *computev1.VirtualMachine) { vm.Spec.CPU = 8 })
	w.awaitsStalled("web", computev1.ReasonResizeNotSupported)
	w.awaits("web", computev1.ConditionSynced, metav1.ConditionFalse, computev1.ReasonResizeNotSupported)
	w.awaits("web", computev1.ConditionReady, metav1.ConditionTrue, "")
	w.edit("web", func(vm *computev1.VirtualMachine) { vm.Spec.CPU = 2 })
	w.awaitsRunning("web")
}

func TestAPausedObjectIsLeftAlone(t *testing.T) {
	w := newWorld(t, full())
	w.vm("web", func(vm *computev1.VirtualMachine) {
		vm.Annotations = map[string]string{computev1.PausedAnnotation: "true"}
	})
	w.awaits("web", computev1.ConditionSynced, metav1.ConditionUnknown, computev1.ReasonPaused)
	w.live(0)
	w.edit("web", func(vm *computev1.VirtualMachine) { delete(vm.Annotations, computev1.PausedAnnotation) })
	w.awaitsRunning("web")
	w.live(1)
	w.annotate("web", computev1.PausedAnnotation, "true")
	w.awaits("web", computev1.ConditionSynced, metav1.ConditionUnknown, computev1.ReasonPaused)
	w.delete("web")
	w.looksAgain("web")
	w.live(1)
	w.edit("web", func(vm *computev1.VirtualMachine) { delete(vm.Annotations, computev1.PausedAnnotation) })
	w.awaitsGone("web")
	w.live(0)
}
