package crash

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/virtualmachine/intent"
)

// ambiguous is the object that asks a person whether a VM was made; nil if none
// does.
func (w *world) ambiguous(ctx context.Context) (*computev1.VirtualMachine, error) {
	vm := &computev1.VirtualMachine{}
	err := kube.Get(ctx, w.named(vmName), vm)
	if apierrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // nobody asks, and that is no failure
	}
	if err != nil {
		return nil, err
	}
	stalled := meta.FindStatusCondition(vm.Status.Conditions, computev1.ConditionStalled)
	if stalled == nil || stalled.Reason != computev1.ReasonCreateAmbiguous {
		return nil, nil //nolint:nilnil // nobody asks, and that is no failure
	}
	return vm, nil
}

// answer is the person: who looks at the provider, and says what is true. At a
// provider that can tell by itself nobody is there to answer, and whoever asks all
// the same is stuck.
func (w *world) answer(ctx context.Context) error {
	point := w.saboteur.point
	if w.kind != Minimal || point != nil && point.Mode == Late && w.restarted >= 0 && !w.delivered {
		// Who answers while a POST is still on its way says what will not be true.
		return nil
	}
	vm, err := w.ambiguous(ctx)
	if err != nil || vm == nil {
		return err
	}
	record := intent.Of(vm)
	switch {
	case record == nil:
		return &harmed{Stuck, "a person is asked about a creation that nobody recorded"}
	case w.asked[record.Key]:
		return nil
	}
	if point != nil && point.Abandoned && !w.abandoned {
		w.abandoned = true
		return kube.Delete(ctx, vm)
	}
	if w.abandoned && vm.DeletionTimestamp.IsZero() {
		return nil
	}
	if waits, err := w.waitsInWords(vm); !waits {
		return err
	}
	w.asked[record.Key] = true
	return w.say(ctx, vm, record)
}

// waitsInWords checks that the user is told what to look for, before and after the
// object is deleted.
func (w *world) waitsInWords(vm *computev1.VirtualMachine) (bool, error) {
	stalled := meta.FindStatusCondition(vm.Status.Conditions, computev1.ConditionStalled)
	if stalled.ObservedGeneration != vm.Generation || !strings.Contains(stalled.Message, intent.Of(vm).Key) {
		// The deletion is yet to be seen, or the question is an earlier one, whose answer
		// has led to another POST.
		return false, nil
	}
	for _, words := range []string{computev1.TakeOverIDAnnotation, computev1.ConfirmNotCreatedAnnotation} {
		if !strings.Contains(stalled.Message, words) {
			return false, &harmed{Stuck, fmt.Sprintf("the question does not name %q: %s", words, stalled.Message)}
		}
	}
	return true, nil
}

// say gives the answer: the id of the VM that is there, or that there is none.
func (w *world) say(ctx context.Context, vm *computev1.VirtualMachine, record *intent.Record) error {
	before := vm.DeepCopy()
	annotation, value := computev1.ConfirmNotCreatedAnnotation, record.Key
	for _, machine := range w.fake.Live() {
		if w.auditor.uidOf(machine.ID) == string(vm.UID) {
			annotation, value = computev1.TakeOverIDAnnotation, machine.ID
		}
	}
	metav1.SetMetaDataAnnotation(&vm.ObjectMeta, annotation, value)
	return kube.Patch(ctx, vm, client.MergeFrom(before))
}
