package main

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
)

// demoPollInterval is how often the demo's VMs are looked at: fast, for somebody
// waits.
const demoPollInterval = "2s"

func createVMs(ctx context.Context, t *tour) error {
	if err := t.applySamples(ctx, map[string]string{
		"endpoint": t.provider.URL(), "pollInterval": demoPollInterval,
	}); err != nil {
		return err
	}
	ids, err := t.ids(ctx)
	if err != nil {
		return err
	}
	if t.names = slices.Sorted(maps.Keys(ids)); len(t.names) < 2 {
		return fmt.Errorf("the samples have the VMs %v, and the story is about two at least", t.names)
	}
	if err := t.untilVMs(ctx, "the VMs to run"); err != nil {
		return err
	}
	made, err := t.made(ctx)
	if err != nil {
		return err
	}
	if made != len(t.names) {
		return fmt.Errorf("the provider made %d VMs for %d objects", made, len(t.names))
	}
	return t.kubectl.show(ctx, "get", "vm,pcfg")
}

func findChildren(ctx context.Context, t *tour) error {
	for _, name := range t.names {
		vm, err := t.vm(ctx, name)
		if err != nil {
			return err
		}
		if err := t.untilSecretTells(ctx, name, vm.Status.ID); err != nil {
			return err
		}
		if err := t.client.Get(ctx, key(vm.Status.ServiceName), &corev1.Service{}); err != nil {
			return fmt.Errorf("looking for the Service: %w", err)
		}
		if err := t.untilSliceLeadsTo(ctx, vm); err != nil {
			return err
		}
	}
	return t.kubectl.show(ctx, "get", "secret,service,endpointslice", "-l", computev1.VirtualMachineLabel)
}

// secretName is that of the Secret with what connects to a VM.
func secretName(vm string) string { return vm + "-connection" }

func (t *tour) untilSecretTells(ctx context.Context, vm, id string) error {
	secret := &corev1.Secret{}
	expected := fmt.Sprintf("Secret %s with id %s", secretName(vm), id)
	return t.untilObject(ctx, secret, secretName(vm), expected, func() (string, bool) {
		return "id " + string(secret.Data["id"]), string(secret.Data["id"]) == id
	})
}

func (t *tour) untilSliceLeadsTo(ctx context.Context, vm *computev1.VirtualMachine) error {
	expected := fmt.Sprintf("an EndpointSlice that leads from Service %s to %v", vm.Status.ServiceName, vm.Status.Addresses)
	return t.until(ctx, expected, func(ctx context.Context) (string, bool) {
		var list discoveryv1.EndpointSliceList
		if err := t.client.List(ctx, &list, client.InNamespace(namespace),
			client.MatchingLabels{discoveryv1.LabelServiceName: vm.Status.ServiceName}); err != nil {
			return err.Error(), false
		}
		var addresses []string
		for i := range list.Items {
			for j := range list.Items[i].Endpoints {
				addresses = append(addresses, list.Items[i].Endpoints[j].Addresses...)
			}
		}
		return fmt.Sprintf("slices with %v", addresses), len(addresses) > 0 && slices.Equal(addresses, vm.Status.Addresses)
	})
}
