package crdschema_test

import (
	"strings"
	"testing"

	"github.com/example/vmoperator/src/test/builders"
	"github.com/example/vmoperator/src/test/crdschema"
)

func TestAnObjectIsTriedAsTheAPIServerTriesIt(t *testing.T) {
	t.Parallel()
	machines, err := crdschema.Load(crdschema.VirtualMachines)
	if err != nil {
		t.Fatal(err)
	}
	vm := builders.VirtualMachine("team", "web")
	if err := machines.Validate(vm); err != nil {
		t.Errorf("the minimal object: %v", err)
	}
	vm.Spec.CPU = 1025
	vm.Status.Addresses = []string{"192.0.2.1", "192.0.2.1"}
	vm.Status.Phase = strings.Repeat("ä", 65)
	refusal := machines.Validate(vm)
	for _, field := range []string{"spec.cpu", "status.addresses[1]", "status.phase"} {
		if refusal == nil || !strings.Contains(refusal.Error(), field) {
			t.Errorf("%v does not name %s", refusal, field)
		}
	}
}

func TestAFileThatIsNotThereIsNamed(t *testing.T) {
	t.Parallel()
	if _, err := crdschema.Load("missing.yaml"); err == nil || !strings.Contains(err.Error(), "missing.yaml") {
		t.Errorf("the error is %v", err)
	}
}
