package disappearance_test

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/disappearance"
	"github.com/example/vmoperator/src/controller/virtualmachine/intent"
	"github.com/example/vmoperator/src/provider"
)

const interval = 30 * time.Second

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func vm(changes ...func(*computev1.VirtualMachine)) computev1.VirtualMachine {
	made := computev1.VirtualMachine{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "vm", UID: "1-2-3"}}
	for _, change := range changes {
		change(&made)
	}
	return made
}

func settled(vm *computev1.VirtualMachine) { vm.Status.ID = "vm-1" }

func deleting(vm *computev1.VirtualMachine) { vm.DeletionTimestamp = new(metav1.NewTime(now)) }

func vanished(ago time.Duration) func(*computev1.VirtualMachine) {
	return func(vm *computev1.VirtualMachine) {
		vm.Status.ID = "vm-1"
		vm.Status.Conditions = []metav1.Condition{{
			Type: computev1.ConditionSynced, Status: metav1.ConditionFalse, Reason: computev1.ReasonVanished,
			LastTransitionTime: metav1.NewTime(now.Add(-ago)),
		}}
	}
}

func unready(ago time.Duration) func(*computev1.VirtualMachine) {
	return func(vm *computev1.VirtualMachine) {
		vm.Status.Conditions = append(vm.Status.Conditions, metav1.Condition{
			Type: computev1.ConditionReady, Status: metav1.ConditionFalse, LastTransitionTime: metav1.NewTime(now.Add(-ago)),
		})
	}
}

func made(ordinal int, ago time.Duration) func(*computev1.VirtualMachine) {
	return func(vm *computev1.VirtualMachine) {
		record := intent.New(vm, ordinal, "", provider.CreateRequest{}).Attempted(now.Add(-ago), time.Second)
		if ordinal > 1 {
			record.Replaces = "id-of-the-one-before"
		}
		vm.Annotations = map[string]string{computev1.CreateIntentAnnotation: record.String()}
	}
}

func several(count int, changes ...func(*computev1.VirtualMachine)) []computev1.VirtualMachine {
	list := make([]computev1.VirtualMachine, 0, count)
	for range count {
		list = append(list, vm(changes...))
	}
	return list
}

func fleet(parts ...[]computev1.VirtualMachine) []computev1.VirtualMachine {
	var all []computev1.VirtualMachine
	for _, part := range parts {
		all = append(all, part...)
	}
	return all
}

func TestMass(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		vms             []computev1.VirtualMachine
		releasedAt      time.Time
		held            bool
		vanished, total int
	}{
		"no VMs are no disappearance":            {},
		"a fleet that is there has not vanished": {vms: several(3, settled), total: 3},
		"the only VM may vanish":                 {vms: several(1, vanished(0)), vanished: 1, total: 1},
		"all of two are held":                    {vms: several(2, vanished(0)), held: true, vanished: 2, total: 2},
		"four of five are made again":            {vms: fleet(several(4, vanished(0)), several(1, settled)), vanished: 4, total: 5},
		"five of six are held":                   {vms: fleet(several(5, vanished(0)), several(1, settled)), held: true, vanished: 5, total: 6},
		"a tenth is made again":                  {vms: fleet(several(5, vanished(0)), several(45, settled)), vanished: 5, total: 50},
		"more than a tenth is held":              {vms: fleet(several(5, vanished(0)), several(44, settled)), held: true, vanished: 5, total: 49},
		"what vanished at the window's far end counts": {
			vms: several(2, vanished(3*interval)), held: true, vanished: 2, total: 2,
		},
		"what vanished before the window does not count": {vms: several(2, vanished(3*interval+time.Second)), total: 2},
		"what vanished before a release does not count":  {vms: several(2, vanished(time.Minute)), releasedAt: now.Add(-time.Minute), total: 2},
		"what is found soon after a release is part of it": {
			vms: several(9, vanished(time.Second)), releasedAt: now.Add(-3*interval - time.Second), total: 9,
		},
		"what vanished well after a release counts": {
			vms: several(2, vanished(time.Second)), releasedAt: now.Add(-3*interval - 2*time.Second), held: true, vanished: 2, total: 2,
		},
		"a VM that was out of order before counts from when it ceased to be ready": {
			vms: several(2, vanished(time.Hour), unready(time.Second)), held: true, vanished: 2, total: 2,
		},
		"what was made again counts still":               {vms: several(2, made(2, time.Minute)), held: true, vanished: 2, total: 2},
		"what was made again long ago does not":          {vms: several(2, made(2, time.Hour)), total: 2},
		"what is made for the first time never vanished": {vms: several(2, made(1, 0)), total: 0},
		"what a release lets be made again is no disappearance": {
			vms: several(9, made(2, time.Second)), releasedAt: now.Add(-2 * time.Second), total: 9,
		},
		"what was made again well after a release counts": {
			vms: several(2, made(3, time.Second)), releasedAt: now.Add(-time.Hour), held: true, vanished: 2, total: 2,
		},
		"what a person deletes is not in the fleet": {
			vms: fleet(several(2, vanished(0)), several(8, settled, deleting)), held: true, vanished: 2, total: 2,
		},
		"what vanished while a person deletes it counts": {
			vms: fleet(several(1, vanished(0)), several(1, vanished(0), deleting)), held: true, vanished: 2, total: 2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			held, vanished, total := disappearance.Mass(test.vms, now, interval, test.releasedAt)
			got := fmt.Sprint(held, vanished, total)
			if want := fmt.Sprint(test.held, test.vanished, test.total); got != want {
				t.Errorf("held, vanished, total = %s, want %s", got, want)
			}
		})
	}
}

func TestOneMoreVanishedVMNeverEndsADisappearance(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		gone := rapid.IntRange(0, 30).Draw(t, "gone")
		there := rapid.IntRange(1, 200).Draw(t, "there")
		before, _, _ := disappearance.Mass(fleet(several(gone, vanished(0)), several(there, settled)), now, interval, time.Time{})
		after, _, _ := disappearance.Mass(fleet(several(gone+1, vanished(0)), several(there-1, settled)), now, interval, time.Time{})
		if before && !after {
			t.Fatalf("%d of %d are held, and one more is not", gone, gone+there)
		}
	})
}
