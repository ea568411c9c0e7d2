package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
)

// vm reads a VirtualMachine.
func (t *tour) vm(ctx context.Context, name string) (*computev1.VirtualMachine, error) {
	vm := &computev1.VirtualMachine{}
	return vm, t.client.Get(ctx, key(name), vm)
}

// ids are the VMs' ids by name.
func (t *tour) ids(ctx context.Context) (map[string]string, error) {
	var list computev1.VirtualMachineList
	if err := t.client.List(ctx, &list, client.InNamespace(namespace)); err != nil {
		return nil, err
	}
	ids := map[string]string{}
	for i := range list.Items {
		ids[list.Items[i].Name] = list.Items[i].Status.ID
	}
	return ids, nil
}

// untilVMs waits until all VMs, as they are declared now, run.
func (t *tour) untilVMs(ctx context.Context, expected string) error {
	return t.until(ctx, expected, func(ctx context.Context) (string, bool) {
		var list computev1.VirtualMachineList
		if err := t.client.List(ctx, &list, client.InNamespace(namespace)); err != nil {
			return err.Error(), false
		}
		seen, all := map[string]string{}, true
		for i := range list.Items {
			vm := &list.Items[i]
			seen[vm.Name] = summary(vm)
			all = all && runs(vm)
		}
		names := slices.Sorted(maps.Keys(seen))
		parts := make([]string, len(names))
		for i, name := range names {
			parts[i] = name + " is " + seen[name]
		}
		return strings.Join(parts, ", "), all && slices.Equal(names, t.names)
	})
}

// untilVM waits until a VM is as a condition wants it.
func (t *tour) untilVM(ctx context.Context, name, expected string, fits func(*computev1.VirtualMachine) bool) error {
	return t.until(ctx, expected, func(ctx context.Context) (string, bool) {
		vm, err := t.vm(ctx, name)
		if err != nil {
			return err.Error(), false
		}
		return name + " is " + summary(vm), fits(vm)
	})
}

// untilObject waits until an object fits. An object that is not there is a sight
// like any other.
func (t *tour) untilObject(ctx context.Context, object client.Object, name, expected string, fits func() (string, bool)) error {
	return t.until(ctx, expected, func(ctx context.Context) (string, bool) {
		if err := t.client.Get(ctx, key(name), object); err != nil {
			return err.Error(), false
		}
		return fits()
	})
}

func runs(vm *computev1.VirtualMachine) bool {
	return vm.Status.ObservedGeneration == vm.Generation &&
		meta.IsStatusConditionTrue(vm.Status.Conditions, computev1.ConditionReady) &&
		meta.IsStatusConditionTrue(vm.Status.Conditions, computev1.ConditionSynced)
}

// summary is a VM in a few words: "Provisioning (Ready False, Synced True)".
func summary(vm *computev1.VirtualMachine) string {
	phase := vm.Status.Phase
	if phase == "" {
		phase = "without a phase"
	}
	return fmt.Sprintf("%s (%s)", phase, conditions(vm.Status.Conditions))
}

func conditions(all []metav1.Condition) string {
	told := make([]string, len(all))
	for i := range all {
		told[i] = fmt.Sprintf("%s %s %s", all[i].Type, all[i].Status, all[i].Reason)
	}
	return strings.Join(told, ", ")
}

func key(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: namespace, Name: name}
}
