package system

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
)

// The provider never comes back. Whoever deletes must not wait for it for ever,
// and is told what is left there.
func TestRetainLetsGoOfAProviderThatIsGoneForGood(t *testing.T) {
	tell(t, []story{
		{"after objects were deleted", func(w *world, m *metronome) { goneForGood(w, m, theVMs+"+"+theConfig+"+"+theSecret) }},
		{"after their namespace was deleted", func(w *world, m *metronome) { goneForGood(w, m, theNamespace) }},
	})
}

func goneForGood(w *world, m *metronome, step string) {
	p := startProvider(w.t)
	w.working(p.URL())
	e := &estate{world: w, order: []string{step}}
	ids := map[string]string{}
	for _, name := range estateVMs {
		w.vm(name)
	}
	for _, name := range estateVMs {
		ids[name] = w.running(name).Status.ID
	}
	if err := p.Stop(); err != nil {
		w.t.Fatal(err)
	}
	e.delete(false)
	m.wait(w.t, 2)

	for _, name := range estateVMs {
		vm := &computev1.VirtualMachine{ObjectMeta: w.meta(name)}
		if err := kube.Get(w.t.Context(), client.ObjectKeyFromObject(vm), vm); err != nil {
			w.t.Fatalf("%s went, and nobody knows whether its VM did: %v", name, err)
		}
		change(w, vm, func(vm *computev1.VirtualMachine) { vm.Spec.DeletionPolicy = computev1.DeletionPolicyRetain })
	}
	e.wantGone()
	for name, id := range ids {
		w.operator.WantLine(`"left at the provider: VM `+id+`"`, `"namespace":"`+w.namespace+`"`, `"name":"`+name+`"`)
		if !strings.Contains(step, theNamespace) { // nobody may make an Event in a namespace that goes
			w.told(vmKind, name, corev1.EventTypeWarning, "Retained", "left at the provider", id)
		}
	}
}
