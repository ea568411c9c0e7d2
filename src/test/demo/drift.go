package main

import (
	"context"
	"fmt"
	"maps"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
)

// misplacedPort is one that no sample has.
const misplacedPort = 2222

func deleteSecret(ctx context.Context, t *tour) error {
	vm, err := t.vm(ctx, t.names[0])
	if err != nil {
		return err
	}
	old := &corev1.Secret{}
	if err := t.client.Get(ctx, key(secretName(vm.Name)), old); err != nil {
		return err
	}
	if err := t.kubectl.show(ctx, "delete", "secret", old.Name); err != nil {
		return err
	}
	again := &corev1.Secret{}
	if err := t.untilObject(ctx, again, old.Name, "Secret "+old.Name+" to be made again", func() (string, bool) {
		return "uid " + string(again.UID), again.UID != old.UID && string(again.Data["id"]) == vm.Status.ID
	}); err != nil {
		return err
	}
	return t.kubectl.show(ctx, "get", "secret", old.Name)
}

func editService(ctx context.Context, t *tour) error {
	vm, err := t.vm(ctx, t.names[0])
	if err != nil {
		return err
	}
	name := vm.Status.ServiceName
	service := &corev1.Service{}
	if err := t.client.Get(ctx, key(name), service); err != nil {
		return err
	}
	declared := service.Spec.Ports[0].Port
	patch := fmt.Sprintf(`[{"op":"replace","path":"/spec/ports/0/port","value":%d}]`, misplacedPort)
	if err := t.kubectl.show(ctx, "patch", "service", name, "--type=json", "-p", patch); err != nil {
		return err
	}
	if err := t.untilObject(ctx, service, name, fmt.Sprintf("Service %s to have port %d again", name, declared), func() (string, bool) {
		port := service.Spec.Ports[0].Port
		return fmt.Sprintf("port %d", port), port == declared
	}); err != nil {
		return err
	}
	return t.kubectl.show(ctx, "get", "service", name)
}

func deleteAtProvider(ctx context.Context, t *tour) error {
	before, err := t.ids(ctx)
	if err != nil {
		return err
	}
	name := t.names[0]
	old := before[name]
	madeBefore, err := t.made(ctx)
	if err != nil {
		return err
	}
	t.screen.say("%s$ curl -X DELETE %s/vms/%s", indent, t.provider.URL(), old)
	status, err := t.ask(ctx, http.MethodDelete, "/vms/"+old, nil)
	if err != nil {
		return err
	}
	if status > 299 {
		return fmt.Errorf("expected the provider to delete VM %s, seen status %d", old, status)
	}
	if err := t.untilVM(ctx, name, name+" to run as another VM", func(vm *computev1.VirtualMachine) bool {
		return runs(vm) && vm.Status.ID != "" && vm.Status.ID != old
	}); err != nil {
		return err
	}
	if err := t.kubectl.show(ctx, "get", "vm"); err != nil {
		return err
	}
	after, err := t.ids(ctx)
	if err != nil {
		return err
	}
	madeAfter, err := t.made(ctx)
	if err != nil {
		return err
	}
	if madeAfter != madeBefore+1 {
		return fmt.Errorf("the provider made %d VMs in place of one", madeAfter-madeBefore)
	}
	before[name] = after[name]
	if !maps.Equal(before, after) {
		return fmt.Errorf("other VMs have other ids as well: expected %v, seen %v", before, after)
	}
	return t.untilSecretTells(ctx, name, after[name])
}

func moveProvider(ctx context.Context, t *tour) error {
	before, err := t.ids(ctx)
	if err != nil {
		return err
	}
	from := t.provider.URL()
	if err := t.provider.Restart(ctx); err != nil {
		return err
	}
	to := t.provider.URL()
	t.screen.say("%sthe provider, with its data, moves from %s to %s", indent, from, to)
	patch := fmt.Sprintf(`{"spec":{"endpoint":%q}}`, to)
	if err := t.kubectl.show(ctx, "patch", "pcfg", computev1.DefaultProviderConfig, "--type=merge", "-p", patch); err != nil {
		return err
	}
	config := &computev1.ProviderConfig{}
	if err := t.untilObject(ctx, config, computev1.DefaultProviderConfig, "the ProviderConfig to be Ready at "+to, func() (string, bool) {
		return config.Status.Endpoint + ": " + conditions(config.Status.Conditions),
			config.Status.Endpoint == to && meta.IsStatusConditionTrue(config.Status.Conditions, computev1.ConditionReady)
	}); err != nil {
		return err
	}
	if err := t.untilAllLookedAt(ctx, before); err != nil {
		return err
	}
	if err := t.untilVMs(ctx, "the VMs to run through the new endpoint"); err != nil {
		return err
	}
	if err := t.nothingMadeAgain(ctx, before); err != nil {
		return err
	}
	return t.kubectl.show(ctx, "get", "vm,pcfg")
}

// untilAllLookedAt waits until the provider, since its start, was asked about
// every VM.
func (t *tour) untilAllLookedAt(ctx context.Context, ids map[string]string) error {
	return t.until(ctx, "every VM to be looked at through the new endpoint", func(ctx context.Context) (string, bool) {
		requests, err := t.provider.Requests(ctx)
		if err != nil {
			return err.Error(), false
		}
		looked := 0
		for _, id := range ids {
			if lookedAt(id, requests) {
				looked++
			}
		}
		return fmt.Sprintf("%d of %d", looked, len(ids)), looked == len(ids)
	})
}

func (t *tour) nothingMadeAgain(ctx context.Context, before map[string]string) error {
	requests, err := t.provider.Requests(ctx)
	if err != nil {
		return err
	}
	for i := range requests {
		if requests[i].Operation == "create" {
			return fmt.Errorf("the provider was asked to make a VM, with key %s, although nothing was missing", requests[i].Key)
		}
	}
	after, err := t.ids(ctx)
	if err != nil {
		return err
	}
	if !maps.Equal(before, after) {
		return fmt.Errorf("ids changed: expected %v, seen %v", before, after)
	}
	return nil
}
