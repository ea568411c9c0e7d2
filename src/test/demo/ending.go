package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
)

func resizeVM(ctx context.Context, t *tour) error {
	name := t.names[0]
	vm, err := t.vm(ctx, name)
	if err != nil {
		return err
	}
	wanted := vm.Spec.CPU + 2
	patch := fmt.Sprintf(`{"spec":{"cpu":%d}}`, wanted)
	if err := t.kubectl.show(ctx, "patch", "vm", name, "--type=merge", "-p", patch); err != nil {
		return err
	}
	if err := t.untilVM(ctx, name, fmt.Sprintf("%s to run with %d cpu", name, wanted), func(vm *computev1.VirtualMachine) bool {
		return runs(vm) && vm.Status.CPU == wanted
	}); err != nil {
		return err
	}
	var resized machine
	if _, err := t.ask(ctx, http.MethodGet, "/vms/"+vm.Status.ID, &resized); err != nil {
		return err
	}
	if resized.CPU != wanted {
		return fmt.Errorf("expected VM %s to have %d cpu at the provider, seen %d", vm.Status.ID, wanted, resized.CPU)
	}
	return t.kubectl.show(ctx, "get", "vm", name, "-o", "wide")
}

func readEvents(ctx context.Context, t *tour) error {
	name := t.names[0]
	told := []string{"Created", computev1.ReasonRunning, "Applied", computev1.ReasonVanished, "Resized"}
	if err := t.until(ctx, fmt.Sprintf("events %v", told), func(ctx context.Context) (string, bool) {
		var list eventsv1.EventList
		if err := t.client.List(ctx, &list, client.InNamespace(namespace)); err != nil {
			return err.Error(), false
		}
		var seen []string
		for i := range list.Items {
			if list.Items[i].Regarding.Kind == "VirtualMachine" && list.Items[i].Regarding.Name == name {
				seen = append(seen, list.Items[i].Reason)
			}
		}
		missing := slices.DeleteFunc(slices.Clone(told), func(reason string) bool { return slices.Contains(seen, reason) })
		return fmt.Sprintf("%v", seen), len(missing) == 0
	}); err != nil {
		return err
	}
	described, err := t.kubectl.run(ctx, "describe", "vm", name)
	if err != nil {
		return err
	}
	t.screen.say("%s$ kubectl describe vm %s", indent, name)
	// What was declared is known; what came of it is not.
	if at := strings.Index(described, "Status:"); at > 0 {
		described = "...\n" + described[at:]
	}
	t.screen.show(described)
	return nil
}

func deleteAll(ctx context.Context, t *tour) error {
	if err := deleteVMs(ctx, t); err != nil {
		return err
	}
	return deleteApps(ctx, t)
}

func deleteVMs(ctx context.Context, t *tour) error {
	ids, err := t.ids(ctx)
	if err != nil {
		return err
	}
	if err := t.kubectl.show(ctx, "delete", "vm", "--all"); err != nil {
		return err
	}
	for name, id := range ids {
		gone, err := t.isGone(ctx, id)
		if err != nil {
			return err
		}
		if !gone {
			return fmt.Errorf("expected status 404 for %s, VM %s, at the provider: it is still there", name, id)
		}
		t.screen.say("%s%s, VM %s: the provider says 404", indent, name, id)
	}
	if err := t.untilNoChildren(ctx); err != nil {
		return err
	}
	t.screen.say("%sSecrets, Services and EndpointSlices are garbage-collected", indent)
	return t.kubectl.show(ctx, "delete", "pcfg", "--all")
}

func (t *tour) untilNoChildren(ctx context.Context) error {
	return t.until(ctx, "the garbage collection of Secrets, Services and EndpointSlices", func(ctx context.Context) (string, bool) {
		var left []string
		for _, kind := range []schema.GroupVersionKind{
			corev1.SchemeGroupVersion.WithKind("SecretList"),
			corev1.SchemeGroupVersion.WithKind("ServiceList"),
			discoveryv1.SchemeGroupVersion.WithKind("EndpointSliceList"),
		} {
			list := &metav1.PartialObjectMetadataList{}
			list.SetGroupVersionKind(kind)
			if err := t.client.List(ctx, list, client.InNamespace(namespace), client.HasLabels{computev1.VirtualMachineLabel}); err != nil {
				return err.Error(), false
			}
			for i := range list.Items {
				left = append(left, strings.TrimSuffix(kind.Kind, "List")+" "+list.Items[i].Name)
			}
		}
		return strings.Join(left, ", "), len(left) == 0
	})
}
