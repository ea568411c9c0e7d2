package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The floor of creation must know every write and call that the operator may make for
// an object, or it would be too low.
func TestTheFloorCanMakeEveryWriteAndCallOfAVirtualMachine(t *testing.T) {
	t.Parallel()
	vms := &virtualMachines{}
	for _, p := range []phase{vms.creation(), vms.deletion()} {
		for _, w := range p.writes {
			if w.do == nil {
				t.Errorf("%s: nobody can make %s", p.name, w.call)
			}
		}
	}
}

func TestWritesAndCallsAreReplayedTogether(t *testing.T) {
	t.Parallel()
	done := timed{Writes: counts{patchVM: 2, createEvent: 6}, Calls: counts{"create": 2}}
	want := counts{patchVM: 2, createEvent: 6, callCreate: 2}
	if diff := cmp.Diff(want, done.made()); diff != "" {
		t.Error(diff)
	}
}

func TestWritesAreSortedIntoThoseOfTheVirtualMachineItsChildrenAndEvents(t *testing.T) {
	t.Parallel()
	writes := counts{
		patchVM: 2, patchVMStatus: 3, "update virtualmachines": 1, createSecret: 1, createService: 1, "update endpointslices": 1,
		// To the credentials and the ProviderConfig.
		"patch secrets": 10, "patch providerconfigs/status": 10,
		createEvent: 4, "patch events": 1,
	}
	if own, children, events := own(writes), childWrites(writes), eventWrites(writes); own != 6 || children != 3 || events != 5 {
		t.Errorf("%d + %d + %d, want 6 + 3 + 5", own, children, events)
	}
}
