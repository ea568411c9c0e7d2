package virtualmachine_test

import (
	"fmt"
	"time"

	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/provider"
)

// eventually waits until holds returns an empty string: it says what is missing.
func (w *world) eventually(holds func() string) {
	w.t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		missing := holds()
		if missing == "" {
			return
		}
		select {
		case <-deadline.C:
			w.t.Fatalf("after %s: %s", patience, missing)
		case <-tick.C:
		}
	}
}

// awaits waits until a VirtualMachine's condition has this status and reason; an
// empty reason means any.
func (w *world) awaits(name, conditionType string, status metav1.ConditionStatus, reason string) *computev1.VirtualMachine {
	w.t.Helper()
	var vm *computev1.VirtualMachine
	w.eventually(func() string {
		vm = w.get(name)
		condition := meta.FindStatusCondition(vm.Status.Conditions, conditionType)
		if condition != nil && condition.Status == status && (reason == "" || condition.Reason == reason) {
			return ""
		}
		return fmt.Sprintf("%s is not %s=%s/%s; status: %+v", name, conditionType, status, reason, vm.Status)
	})
	return vm
}

func (w *world) awaitsRunning(name string) *computev1.VirtualMachine {
	w.t.Helper()
	w.awaits(name, computev1.ConditionReady, metav1.ConditionTrue, computev1.ReasonRunning)
	return w.awaits(name, computev1.ConditionSynced, metav1.ConditionTrue, computev1.ReasonSynced)
}

func (w *world) awaitsAddressed(name string) *computev1.VirtualMachine {
	w.t.Helper()
	var vm *computev1.VirtualMachine
	w.eventually(func() string {
		vm = w.get(name)
		if len(vm.Status.Addresses) > 0 && meta.FindStatusCondition(vm.Status.Conditions, computev1.ConditionUnaddressed) == nil {
			return ""
		}
		return fmt.Sprintf("%s has no address; status: %+v", name, vm.Status)
	})
	return vm
}

func (w *world) awaitsStalled(name, reason string) *computev1.VirtualMachine {
	w.t.Helper()
	return w.awaits(name, computev1.ConditionStalled, metav1.ConditionTrue, reason)
}

func (w *world) awaitsGone(name string) {
	w.t.Helper()
	w.eventually(func() string {
		err := w.client.Get(w.t.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, &computev1.VirtualMachine{})
		if client.IgnoreNotFound(err) == nil && err != nil {
			return ""
		}
		return name + " is still there"
	})
}

// awaitsEvent waits for an event with this reason about an object.
func (w *world) awaitsEvent(name, reason string) string {
	w.t.Helper()
	note := ""
	w.eventually(func() string {
		var list eventsv1.EventList
		w.must(w.client.List(w.t.Context(), &list, client.InNamespace(w.namespace)))
		var reasons []string
		for _, event := range list.Items {
			if event.Regarding.Name == name {
				reasons = append(reasons, event.Reason)
				if event.Reason == reason {
					note = event.Note
					return ""
				}
			}
		}
		return fmt.Sprintf("no event %s about %s, only %v", reason, name, reasons)
	})
	return note
}

// awaitsPasses waits until an object has been reconciled so many times more.
func (w *world) awaitsPasses(name string, more int) {
	w.t.Helper()
	w.awaitsPassesSince(name, w.writes.passes()[name], more)
}

func (w *world) awaitsPassesSince(name string, begin, more int) {
	w.t.Helper()
	w.eventually(func() string {
		if got := w.writes.passes()[name] - begin; got < more {
			return fmt.Sprintf("%s was reconciled %d times more, not %d", name, got, more)
		}
		return ""
	})
}

// looksAgain makes the controller look at an object once more, and waits until
// it has: a second look begins only when the first has ended.
func (w *world) looksAgain(name string) {
	w.t.Helper()
	for look := range 2 {
		begin := w.writes.passes()[name]
		w.annotate(name, computev1.RestoredAnnotation, fmt.Sprintf("look %d after %d", look, begin))
		w.awaitsPassesSince(name, begin, 1)
	}
}

// live is the number of VMs at the provider.
func (w *world) live(want int) {
	w.t.Helper()
	if got := w.provider.Live(); len(got) != want {
		w.t.Fatalf("%d VMs at the provider, want %d: %+v", len(got), want, got)
	}
}

func (w *world) calls(op provider.Operation) int { return w.provider.Counts()[op] }
