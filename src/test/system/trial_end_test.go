package system

import (
	"context"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/test/builders"
	"github.com/example/vmoperator/src/test/faults"
	"github.com/example/vmoperator/src/test/operator"
)

// end ends the failure, and waits until all is well.
func (tr *trial) end() {
	tr.t.Helper()
	if tr.lasting() && tr.row.Ends != faults.UndoesEdit && tr.row.Ends != faults.Retains {
		tr.clear()
	}
	switch tr.row.Ends {
	case faults.Passes:
	case faults.EditsSpec:
		tr.size(4)
	case faults.UndoesEdit:
		tr.size(builders.VirtualMachine("", "").Spec.CPU)
	case faults.TakesOver:
		tr.answer(computev1.TakeOverIDAnnotation, tr.made()[0])
	case faults.ConfirmsNone:
		tr.answer(computev1.ConfirmNotCreatedAnnotation, tr.key())
	case faults.Retains:
		tr.edit(func(vm *computev1.VirtualMachine) { vm.Spec.DeletionPolicy = computev1.DeletionPolicyRetain })
	case faults.RemovesVM:
		if err := tr.p.Remove(tr.t.Context(), tr.made()[0]); err != nil {
			tr.t.Fatal(err)
		}
	case faults.ChangesProvider:
		change(tr.world, &computev1.ProviderConfig{ObjectMeta: tr.meta(tr.name)}, func(config *computev1.ProviderConfig) {
			config.Spec.RateLimit = &computev1.ProviderRateLimit{QPS: 20}
		})
		tr.spaced(0)
	}
	if tr.row.During == faults.Deleting || tr.row.During == faults.Finding {
		tr.gone()
		return
	}
	tr.running(tr.name)
	// A second look begins only when all of the first has been told.
	tr.poke(&computev1.VirtualMachine{ObjectMeta: tr.meta(tr.name)})
}

func (tr *trial) answer(annotation, value string) {
	tr.t.Helper()
	tr.edit(func(vm *computev1.VirtualMachine) { metav1.SetMetaDataAnnotation(&vm.ObjectMeta, annotation, value) })
}

// key is the create key, which the user reads in the condition.
func (tr *trial) key() string {
	tr.t.Helper()
	vm := tr.awaits(tr.name, condition{computev1.ConditionStalled, isTrue, computev1.ReasonCreateAmbiguous, nil})
	for _, c := range vm.Status.Conditions {
		if _, key, found := strings.Cut(c.Message, "the create key is "); found {
			return key
		}
	}
	tr.t.Fatalf("no condition tells the create key:\n%s", shown(vm.Status.Conditions))
	return ""
}

// gone waits until the object is, and until it has been told.
func (tr *trial) gone() {
	tr.t.Helper()
	tr.awaitsGone(tr.name)
	operator.WaitFor(tr.t, "the end of "+tr.name+" to be told", func(context.Context) bool {
		return slices.Contains(tr.told(), "Deleted") || slices.Contains(tr.told(), retained)
	})
}

// tidy deletes what is left, so that others have the machine, and fails if that
// leaves a VM behind that nobody wanted to keep.
func (tr *trial) tidy() {
	tr.t.Helper()
	if tr.row.During != faults.Deleting && tr.row.During != faults.Finding {
		tr.delete()
		tr.gone()
	}
	config := &computev1.ProviderConfig{ObjectMeta: tr.meta(tr.name)}
	if err := kube.Delete(tr.t.Context(), config); err != nil {
		tr.t.Fatal(err)
	}
	left := tr.made()
	for _, request := range requests(tr.t, tr.p) {
		if request.Operation == "delete" && request.Effect {
			left = slices.DeleteFunc(left, func(id string) bool { return id == request.ID })
		}
	}
	if want := tr.row.Warns[retained]; len(left) != want {
		tr.t.Errorf("left at the provider: %v, want %d", left, want)
	}
}
