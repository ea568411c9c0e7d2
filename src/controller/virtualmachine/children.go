package virtualmachine

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/provider"
)

const (
	secretSuffix      = "-connection"
	maxNameLength     = 253
	maxServiceName    = 63
	maxLabelValue     = 63
	hashLength        = 8
	sliceManager      = "vmoperator.compute.example.com"
	managedByLabel    = "app.kubernetes.io/managed-by"
	connectionID      = "id"
	connectionHost    = "host"
	connectionPort    = "port"
	unnamedHashSuffix = hashLength + 1
)

// children are the objects that a VirtualMachine owns, as they should be. A
// slice that should not exist is nil.
type children struct {
	secret  *corev1.Secret
	service *corev1.Service
	slices  map[discoveryv1.AddressType]*discoveryv1.EndpointSlice
}

// desiredChildren are the children of an object whose VM is machine. Only
// addresses that may be published are.
func desiredChildren(vm *computev1.VirtualMachine, machine provider.Machine, addresses []netip.Addr) children {
	wanted := children{
		secret:  desiredSecret(vm, machine.ID, addresses),
		service: desiredService(vm),
		slices:  map[discoveryv1.AddressType]*discoveryv1.EndpointSlice{},
	}
	for _, family := range []discoveryv1.AddressType{discoveryv1.AddressTypeIPv4, discoveryv1.AddressTypeIPv6} {
		wanted.slices[family] = desiredSlice(vm, machine, family, addresses)
	}
	return wanted
}

func desiredSecret(vm *computev1.VirtualMachine, id string, addresses []netip.Addr) *corev1.Secret {
	data := map[string][]byte{connectionID: []byte(id)}
	if len(addresses) > 0 {
		data[connectionHost] = []byte(addresses[0].String())
		data[connectionPort] = []byte(strconv.Itoa(int(targetPort(servicePorts(vm)[0]))))
	}
	return &corev1.Secret{ObjectMeta: childMeta(vm, secretName(vm.Name)), Type: corev1.SecretTypeOpaque, Data: data}
}

// desiredService has no selector: the EndpointSlices say where it leads.
func desiredService(vm *computev1.VirtualMachine) *corev1.Service {
	service := &corev1.Service{ObjectMeta: childMeta(vm, serviceName(vm.Name))}
	for _, port := range servicePorts(vm) {
		service.Spec.Ports = append(service.Spec.Ports, corev1.ServicePort{
			Name:       port.Name,
			Port:       port.Port,
			Protocol:   corev1.Protocol(port.Protocol),
			TargetPort: intstr.FromInt32(targetPort(port)),
		})
	}
	return service
}

// desiredSlice is the slice of one address family; nil if there is no address of it.
func desiredSlice(vm *computev1.VirtualMachine, machine provider.Machine, family discoveryv1.AddressType, addresses []netip.Addr) *discoveryv1.EndpointSlice {
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta:  childMeta(vm, sliceName(vm, family)),
		AddressType: family,
	}
	slice.Labels[discoveryv1.LabelServiceName] = serviceName(vm.Name)
	slice.Labels[discoveryv1.LabelManagedBy] = sliceManager
	for _, address := range addresses {
		if familyOf(address) == family {
			slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{
				Addresses:  []string{address.String()},
				Conditions: discoveryv1.EndpointConditions{Ready: new(machine.Phase == provider.PhaseRunning)},
			})
		}
	}
	if len(slice.Endpoints) == 0 {
		return nil
	}
	for _, port := range servicePorts(vm) {
		slice.Ports = append(slice.Ports, discoveryv1.EndpointPort{
			Name:     new(port.Name),
			Port:     new(targetPort(port)),
			Protocol: new(corev1.Protocol(port.Protocol)),
		})
	}
	return slice
}

func familyOf(address netip.Addr) discoveryv1.AddressType {
	if address.Is4() {
		return discoveryv1.AddressTypeIPv4
	}
	return discoveryv1.AddressTypeIPv6
}

// childMeta is the metadata of a child. blockOwnerDeletion is false: a child
// must never hold up its owner, and setting it would need more rights.
func childMeta(vm *computev1.VirtualMachine, name string) metav1.ObjectMeta {
	labels := map[string]string{
		computev1.WatchedLabel: computev1.WatchedLabelValue,
		managedByLabel:         computev1.FieldOwner,
	}
	if len(vm.Name) <= maxLabelValue {
		labels[computev1.VirtualMachineLabel] = vm.Name
	}
	return metav1.ObjectMeta{
		Namespace: vm.Namespace,
		Name:      name,
		Labels:    labels,
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion:         computev1.GroupVersion.String(),
			Kind:               "VirtualMachine",
			Name:               vm.Name,
			UID:                vm.UID,
			Controller:         new(true),
			BlockOwnerDeletion: new(false),
		}},
	}
}

// servicePorts are the ports with their defaults, also for an object that was
// stored before its schema had them.
func servicePorts(vm *computev1.VirtualMachine) []computev1.VirtualMachinePort {
	ports := []computev1.VirtualMachinePort{{Name: "ssh", Port: 22}}
	if vm.Spec.Service != nil && len(vm.Spec.Service.Ports) > 0 {
		ports = slices.Clone(vm.Spec.Service.Ports)
	}
	for i := range ports {
		if ports[i].Protocol == "" {
			ports[i].Protocol = computev1.PortProtocol(corev1.ProtocolTCP)
		}
	}
	return ports
}

func targetPort(port computev1.VirtualMachinePort) int32 {
	if port.TargetPort != 0 {
		return port.TargetPort
	}
	return port.Port
}

func secretName(vm string) string {
	if len(vm)+len(secretSuffix) <= maxNameLength {
		return vm + secretSuffix
	}
	return shortened(vm, maxNameLength-len(secretSuffix)) + secretSuffix
}

var (
	dns1035      = regexp.MustCompile(`^[a-z]([-a-z0-9]*[a-z0-9])?$`)
	notInService = regexp.MustCompile(`[^-a-z0-9]`)
)

// serviceName is the VM's name if a Service can have it, else a name that begins
// like it and ends in a hash of it.
func serviceName(vm string) string {
	if len(vm) <= maxServiceName && dns1035.MatchString(vm) {
		return vm
	}
	return shortened("vm-"+notInService.ReplaceAllString(vm, "-"), maxServiceName)
}

func sliceName(vm *computev1.VirtualMachine, family discoveryv1.AddressType) string {
	if family == discoveryv1.AddressTypeIPv4 {
		return serviceName(vm.Name) + "-ipv4"
	}
	return serviceName(vm.Name) + "-ipv6"
}

// shortened is a name of at most limit characters that is unique to name.
func shortened(name string, limit int) string {
	sum := sha256.Sum256([]byte(name))
	// A name may be cut at a dot, after which no hyphen may follow.
	prefix := strings.TrimRight(name[:min(len(name), limit-unnamedHashSuffix)], ".-")
	return prefix + "-" + hex.EncodeToString(sum[:])[:hashLength]
}

// publishable are the addresses that may be published, IPv4 and IPv6 in the
// provider's order. Whoever controls an EndpointSlice decides where the cluster
// sends traffic (CVE-2021-25740), so loopback, link-local, unspecified and
// multicast addresses never are, and others only if allowed names them; an
// empty allowed means all.
func publishable(reported []string, allowed []netip.Prefix) []netip.Addr {
	var addresses []netip.Addr
	for _, text := range reported {
		address, err := netip.ParseAddr(text)
		if err != nil || address.Zone() != "" {
			continue
		}
		address = address.Unmap()
		if !address.IsGlobalUnicast() || !named(address, allowed) || slices.Contains(addresses, address) {
			continue
		}
		addresses = append(addresses, address)
	}
	return addresses
}

func named(address netip.Addr, allowed []netip.Prefix) bool {
	return len(allowed) == 0 || slices.ContainsFunc(allowed, func(prefix netip.Prefix) bool { return prefix.Contains(address) })
}

// carries reports whether an object has all of these labels.
func carries(object, wanted map[string]string) bool {
	for name, value := range wanted {
		if object[name] != value {
			return false
		}
	}
	return true
}

// withLabels is the object's labels with ours set.
func withLabels(object, wanted map[string]string) map[string]string {
	merged := maps.Clone(object)
	if merged == nil {
		merged = map[string]string{}
	}
	maps.Copy(merged, wanted)
	return merged
}
