package orphan_test

import (
	"maps"
	"strings"

	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/owner"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/test/builders"
)

// config is the ProviderConfig as it is stored.
func (w *world) config() *computev1.ProviderConfig {
	w.t.Helper()
	config := &computev1.ProviderConfig{}
	w.must(w.on.kube.Get(w.t.Context(), w.key(), config))
	return config
}

// ready waits until all controllers see the ProviderConfig as it is stored, and
// ready.
func (w *world) ready() {
	w.t.Helper()
	w.eventually("the ProviderConfig to be ready", func() string {
		stored, seen := w.config(), &computev1.ProviderConfig{}
		if err := w.mgr.GetClient().Get(w.t.Context(), w.key(), seen); err != nil {
			return err.Error()
		}
		ready := meta.FindStatusCondition(seen.Status.Conditions, computev1.ConditionReady)
		fresh := seen.Generation == stored.Generation && maps.Equal(seen.Annotations, stored.Annotations) &&
			len(seen.Status.Retained) == len(stored.Status.Retained)
		if !fresh || ready == nil || ready.Status != metav1.ConditionTrue || ready.ObservedGeneration != seen.Generation {
			return "it is not"
		}
		if w.orphans.Registry.Get(w.key()).Client == nil {
			return "nobody has probed it"
		}
		return ""
	})
}

// edit changes the ProviderConfig as a user does.
func (w *world) edit(change func(*computev1.ProviderConfig)) {
	w.t.Helper()
	before := w.config()
	after := before.DeepCopy()
	change(after)
	w.must(w.on.kube.Patch(w.t.Context(), after, client.MergeFrom(before)))
	w.ready()
}

func (w *world) annotate(annotation, value string) {
	w.t.Helper()
	w.edit(func(config *computev1.ProviderConfig) {
		metav1.SetMetaDataAnnotation(&config.ObjectMeta, annotation, value)
	})
}

// vm makes a VirtualMachine, and returns it once its VM is made.
func (w *world) vm(vmName string, changes ...func(*computev1.VirtualMachine)) *computev1.VirtualMachine {
	w.t.Helper()
	vm := builders.VirtualMachine(w.namespace, vmName, changes...)
	w.must(w.on.kube.Create(w.t.Context(), vm))
	w.eventually(vmName+" to have a VM", func() string {
		w.must(w.on.kube.Get(w.t.Context(), client.ObjectKeyFromObject(vm), vm))
		if vm.Status.ID == "" {
			return "it has none"
		}
		return ""
	})
	return vm
}

// orphan makes a VirtualMachine and loses it, as somebody does who removes its
// finalizer by hand. It returns the id of the VM.
func (w *world) orphan(vmName string) string {
	w.t.Helper()
	vm := w.vm(vmName)
	w.change(vm, func() { metav1.SetMetaDataAnnotation(&vm.ObjectMeta, computev1.PausedAnnotation, "true") })
	w.eventually(vmName+" to be left alone", func() string {
		w.must(w.on.kube.Get(w.t.Context(), client.ObjectKeyFromObject(vm), vm))
		if synced := meta.FindStatusCondition(vm.Status.Conditions, computev1.ConditionSynced); synced.Reason != computev1.ReasonPaused {
			return synced.Reason
		}
		return ""
	})
	w.change(vm, func() { vm.Finalizers = nil })
	w.delete(vm)
	return vm.Status.ID
}

func (w *world) change(vm *computev1.VirtualMachine, edit func()) {
	w.t.Helper()
	before := vm.DeepCopy()
	edit()
	w.must(w.on.kube.Patch(w.t.Context(), vm, client.MergeFrom(before)))
}

// delete deletes a VirtualMachine and waits until nobody sees it any more.
func (w *world) delete(vm *computev1.VirtualMachine) {
	w.t.Helper()
	w.must(w.on.kube.Delete(w.t.Context(), vm))
	w.eventually(vm.Name+" to go", func() string {
		for _, reader := range []client.Reader{w.on.kube, w.mgr.GetClient()} {
			if !apierrors.IsNotFound(reader.Get(w.t.Context(), client.ObjectKeyFromObject(vm), &computev1.VirtualMachine{})) {
				return "it is there"
			}
		}
		return ""
	})
}

// stray puts a VM at the provider that was made for an object which never was.
func (w *world) stray(vmName string, changes ...func(*owner.Owner)) string {
	w.t.Helper()
	made := owner.Owner{
		Object: types.NamespacedName{Namespace: w.namespace, Name: vmName}, UID: types.UID("uid-of-" + vmName), ProviderConfig: w.config().UID,
	}
	for _, change := range changes {
		change(&made)
	}
	return w.provider.Put(provider.Machine{Name: vmName, Phase: provider.PhaseRunning, Labels: made.Labels()}, "")
}

// shows waits until the condition has a reason, or is absent for an empty one, and
// returns its message.
func (w *world) shows(reason string) string {
	w.t.Helper()
	var message string
	w.eventually("the condition to say "+reason, func() string {
		found := meta.FindStatusCondition(w.config().Status.Conditions, computev1.ConditionOrphansFound)
		switch {
		case found == nil && reason == "":
			return ""
		case found == nil:
			return "there is none"
		case found.Reason != reason:
			return found.Reason + ": " + found.Message
		}
		message = found.Message
		return ""
	})
	return message
}

// says fails unless a message has all parts.
func (w *world) says(message string, parts ...string) {
	w.t.Helper()
	for _, part := range parts {
		if !strings.Contains(message, part) {
			w.t.Errorf("%q does not say %q", message, part)
		}
	}
}

// told waits for events of a reason, and returns their notes.
func (w *world) told(reason string, count int) []string {
	w.t.Helper()
	var notes []string
	w.eventually("events "+reason, func() string {
		list := &eventsv1.EventList{}
		w.must(w.on.kube.List(w.t.Context(), list, client.InNamespace(w.namespace)))
		notes = nil
		for i := range list.Items {
			if list.Items[i].Reason == reason {
				notes = append(notes, list.Items[i].Note)
				if list.Items[i].Series != nil {
					w.t.Errorf("%s was told more than once: %s", reason, list.Items[i].Note)
				}
			}
		}
		if len(notes) < count {
			return strings.Join(notes, ", ")
		}
		return ""
	})
	if len(notes) != count {
		w.t.Errorf("%d events %s, want %d: %q", len(notes), reason, count, notes)
	}
	return notes
}

// deleted are the ids of the VMs that were deleted at the provider.
func (w *world) deleted() []string {
	var ids []string
	for _, entry := range w.provider.Ledger() {
		if entry.Op == provider.OperationDelete && entry.Effect {
			ids = append(ids, entry.ID)
		}
	}
	return ids
}

// wantDeleted fails unless just these VMs were deleted.
func (w *world) wantDeleted(ids ...string) {
	w.t.Helper()
	if got := strings.Join(w.deleted(), " "); got != strings.Join(ids, " ") {
		w.t.Errorf("the VMs %q were deleted, want %q", got, ids)
	}
}
