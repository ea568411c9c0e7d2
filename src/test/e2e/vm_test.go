//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/test/builders"
)

// vm makes a VirtualMachine in the first namespace that the release watches.
func (r *release) vm(name string, changes ...func(*computev1.VirtualMachine)) {
	r.t.Helper()
	must(r.t, kube.Create(r.t.Context(), builders.VirtualMachine(r.watched[0], name, changes...)))
}

// deleteVM deletes one, and does not wait.
func (r *release) deleteVM(name string) {
	r.t.Helper()
	vm := &computev1.VirtualMachine{ObjectMeta: metav1.ObjectMeta{Namespace: r.watched[0], Name: name}}
	must(r.t, kube.Delete(r.t.Context(), vm))
}

// gone waits until a VirtualMachine does not exist any more.
func (r *release) gone(name string) {
	r.t.Helper()
	waitFor(r.t, func(ctx context.Context) string {
		vm := &computev1.VirtualMachine{}
		err := kube.Get(ctx, client.ObjectKey{Namespace: r.watched[0], Name: name}, vm)
		if apierrors.IsNotFound(err) {
			return ""
		}
		return fmt.Sprintf("%s is %+v; %v", name, vm.Status, err)
	})
}

// running waits until a VM runs, and returns its object.
func (r *release) running(name string) *computev1.VirtualMachine {
	r.t.Helper()
	vm := &computev1.VirtualMachine{}
	waitFor(r.t, func(ctx context.Context) string {
		if err := kube.Get(ctx, client.ObjectKey{Namespace: r.watched[0], Name: name}, vm); err != nil {
			return err.Error()
		}
		if runs(vm) {
			return ""
		}
		return fmt.Sprintf("%s is %+v", name, vm.Status)
	})
	return vm
}

func runs(vm *computev1.VirtualMachine) bool {
	return meta.IsStatusConditionTrue(vm.Status.Conditions, computev1.ConditionReady) &&
		meta.IsStatusConditionTrue(vm.Status.Conditions, computev1.ConditionSynced)
}

// allRunning waits until so many VMs of the first watched namespace run, and
// returns their ids by name.
func (r *release) allRunning(want int) map[string]string {
	r.t.Helper()
	ids := map[string]string{}
	waitFor(r.t, func(ctx context.Context) string {
		var list computev1.VirtualMachineList
		if err := kube.List(ctx, &list, client.InNamespace(r.watched[0])); err != nil {
			return err.Error()
		}
		clear(ids)
		for i := range list.Items {
			if runs(&list.Items[i]) {
				ids[list.Items[i].Name] = list.Items[i].Status.ID
			}
		}
		if len(ids) == want {
			return ""
		}
		return fmt.Sprintf("%d of %d VMs run", len(ids), want)
	})
	return ids
}

// deleteObjects deletes all VirtualMachines and ProviderConfigs of a namespace and
// waits until they are gone, as the chart's notes tell.
func deleteObjects(ctx context.Context, namespace string) error {
	for _, kind := range []client.Object{&computev1.VirtualMachine{}, &computev1.ProviderConfig{}} {
		if err := kube.DeleteAllOf(ctx, kind, client.InNamespace(namespace)); err != nil {
			return err
		}
	}
	err := wait.PollUntilContextTimeout(ctx, interval, patience, true, func(ctx context.Context) (bool, error) {
		var vms computev1.VirtualMachineList
		var configs computev1.ProviderConfigList
		err := errors.Join(kube.List(ctx, &vms, client.InNamespace(namespace)), kube.List(ctx, &configs, client.InNamespace(namespace)))
		return len(vms.Items)+len(configs.Items) == 0, err
	})
	if err != nil {
		return fmt.Errorf("waiting until the objects in %s are gone: %w", namespace, err)
	}
	return nil
}
