package generated

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
)

// outcome is what became of a VirtualMachine, without what differs between any
// two: UIDs, versions, times, the provider's ids and addresses.
type outcome struct {
	// Missing says why this is no outcome yet.
	Missing    string
	Spec       computev1.VirtualMachineSpec
	Status     map[string]string
	Conditions []string
	// Machines are the provider's VMs of the name; there must be one.
	Machines []string
	Secret   []string
	Service  []corev1.ServicePort
	Slices   []string
	Owners   []string
}

// outcome reads what became of an object.
func (s *site) outcome(ctx context.Context, name string) outcome {
	vm := &computev1.VirtualMachine{}
	key := client.ObjectKey{Namespace: s.namespace, Name: name}
	if missing := handled(ctx, vm, key); missing != "" {
		return outcome{Missing: missing}
	}
	result := outcome{
		Spec: vm.Spec,
		Status: map[string]string{
			"phase": vm.Status.Phase, "cpu": fmt.Sprint(vm.Status.CPU), "memory": vm.Status.Memory.String(),
			"service": vm.Status.ServiceName, "addresses": fmt.Sprint(len(vm.Status.Addresses)),
		},
		Machines: s.machines(vm), Conditions: shownConditions(vm.Status.Conditions),
	}
	secret, service := &corev1.Secret{}, &corev1.Service{}
	for name, child := range map[string]client.Object{vm.Status.ServiceName: service, secretOf(vm): secret} {
		if err := kube.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: name}, child); err != nil {
			return outcome{Missing: shortly(err)}
		}
		result.Owners = append(result.Owners, ownersOf(child)...)
	}
	if got := string(secret.Data["id"]); got != vm.Status.ID {
		return outcome{Missing: fmt.Sprintf("the Secret tells the id %q of %q", got, vm.Status.ID)}
	}
	result.Secret = append(slices.Sorted(maps.Keys(secret.Data)), "port "+string(secret.Data["port"]))
	result.Service = service.Spec.Ports
	var list discoveryv1.EndpointSliceList
	if err := kube.List(ctx, &list, client.InNamespace(s.namespace), client.MatchingLabels{discoveryv1.LabelServiceName: service.Name}); err != nil {
		return outcome{Missing: shortly(err)}
	}
	for i := range list.Items {
		result.Slices = append(result.Slices, shownSlice(&list.Items[i]))
	}
	return result
}

// secretOf is the name of the connection Secret of a name that is not too long for
// one.
func secretOf(vm *computev1.VirtualMachine) string { return vm.Name + "-connection" }

// machines are the VMs at the provider that are the object's, by what a user would
// care about.
func (s *site) machines(vm *computev1.VirtualMachine) []string {
	var found []string
	for _, machine := range s.provider.Live() {
		if machine.Name != vm.Name {
			continue
		}
		shown := fmt.Sprintf("%s cpu=%d memory=%s %s, %d addresses, %d labels",
			machine.Image, machine.CPU, machine.Memory, machine.Phase, len(machine.Addresses), len(machine.Labels))
		if machine.ID != vm.Status.ID {
			shown += ", and it is not the object's"
		}
		found = append(found, shown)
	}
	return found
}

func shownConditions(conditions []metav1.Condition) []string {
	var shown []string
	for _, c := range conditions {
		shown = append(shown, fmt.Sprintf("%s=%s %s: %s", c.Type, c.Status, c.Reason, c.Message))
	}
	slices.Sort(shown)
	return shown
}

func shownSlice(slice *discoveryv1.EndpointSlice) string {
	var shown strings.Builder
	fmt.Fprintf(&shown, "%s, %d endpoints", slice.AddressType, len(slice.Endpoints))
	for _, port := range slice.Ports {
		fmt.Fprintf(&shown, ", %s %s/%d", *port.Name, *port.Protocol, *port.Port)
	}
	return shown.String()
}

func ownersOf(child client.Object) []string {
	var owners []string
	for _, owner := range child.GetOwnerReferences() {
		owners = append(owners, owner.Kind+" "+owner.Name)
	}
	return owners
}
