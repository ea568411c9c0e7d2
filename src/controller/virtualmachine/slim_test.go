package virtualmachine

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/test/builders"
)

func TestASlimObjectLacksWhatNobodyReads(t *testing.T) {
	whole := builders.VirtualMachine("default", "web", func(vm *computev1.VirtualMachine) {
		vm.Labels = map[string]string{"team": "a"}
		vm.Annotations = map[string]string{
			corev1.LastAppliedConfigAnnotation: "{}", computev1.CreateIntentAnnotation: "record", "note": "another's",
		}
		vm.Finalizers = []string{computev1.VirtualMachineFinalizer}
		vm.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}
		vm.Spec.Service = &computev1.VirtualMachineService{Ports: []computev1.VirtualMachinePort{{Name: "ssh", Port: 22}}}
		vm.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Running", Message: "the VM runs"}}
	})
	want := whole.DeepCopy()
	want.ManagedFields = nil
	delete(want.Annotations, corev1.LastAppliedConfigAnnotation)
	got, err := Slim(whole.DeepCopy())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := Slim(&corev1.Secret{}); err == nil {
		t.Error("a Secret is taken for a VirtualMachine")
	}
}

func TestAPatchOfASlimObjectKeepsWhatTheObjectLacks(t *testing.T) {
	slim, err := Slim(builders.VirtualMachine("default", "web", func(vm *computev1.VirtualMachine) {
		vm.Annotations = map[string]string{corev1.LastAppliedConfigAnnotation: "{}"}
		vm.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}
	}))
	if err != nil {
		t.Fatal(err)
	}
	vm, ok := slim.(*computev1.VirtualMachine)
	if !ok {
		t.Fatalf("the slim object is a %T", slim)
	}
	changed := vm.DeepCopy()
	changed.Annotations = map[string]string{computev1.CreateIntentAnnotation: "record"}
	changed.Finalizers = []string{computev1.VirtualMachineFinalizer}
	patch, err := client.MergeFrom(vm).Data(changed)
	if err != nil {
		t.Fatal(err)
	}
	var got, want map[string]any
	if err := json.Unmarshal(patch, &got); err != nil {
		t.Fatal(err)
	}
	want = map[string]any{"metadata": map[string]any{
		"annotations": map[string]any{computev1.CreateIntentAnnotation: "record"},
		"finalizers":  []any{computev1.VirtualMachineFinalizer},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
