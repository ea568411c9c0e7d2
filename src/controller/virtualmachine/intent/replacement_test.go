package intent

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/test/builders"
)

func TestOnlyTheRecordOfAReplacementIsOne(t *testing.T) {
	for name, replaces := range map[string]string{"a first VM": "", "one made instead of another": "vm-1"} {
		t.Run(name, func(t *testing.T) {
			vm := builders.VirtualMachine("default", "web", func(vm *computev1.VirtualMachine) { vm.UID = "u-1" })
			record := New(vm, 1, "fake", provider.CreateRequest{Name: "web", Labels: map[string]string{"replaces": "no"}})
			record.Replaces = replaces
			vm.Annotations = map[string]string{computev1.CreateIntentAnnotation: record.String()}
			var got string
			if found := Replacement(vm); found != nil {
				got = found.Replaces
			}
			if got != replaces {
				t.Errorf("replaces %q, want %q", got, replaces)
			}
			if diff := cmp.Diff(record, Of(vm)); diff != "" {
				t.Error(diff)
			}
		})
	}
	if Replacement(builders.VirtualMachine("default", "web")) != nil {
		t.Error("an object without a record replaces something")
	}
}
