package generated

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/fake"
	"github.com/example/vmoperator/src/test/builders"
)

// oddities draws what a provider may say of a VM and the decoder lets through.
var oddities = rapid.Custom(func(t *rapid.T) provider.Machine {
	address := rapid.OneOf(
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 4, 4), func(b []byte) string { return netip.AddrFrom4([4]byte(b)).String() }),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 16, 16), func(b []byte) string { return netip.AddrFrom16([16]byte(b)).String() }),
		rapid.SampledFrom([]string{"127.0.0.1", "::1", "169.254.169.254", "fe80::1", "::ffff:192.0.2.1", "192.0.2.1", "0.0.0.0", "::", "::192.0.2.2", "255.255.255.255"}),
	)
	phase := rapid.OneOf(
		rapid.SampledFrom([]string{"Running", "Stopped", "Failed", "", " ", "e\u0301", "\u05d0", "\U0001F600", `"`, `{{.}}`, "%s"}),
		rapid.StringOfN(rapid.SampledFrom([]rune("aZ0 -_ä漢\U0001F600")), 64, 64, -1),
	)
	return provider.Machine{
		Phase:     provider.Phase(phase.Draw(t, "phase")),
		Memory:    rapid.SampledFrom([]string{"", "1E", ".5n", "4096Mi", "9999999999999999999999Ei", "+1Gi"}).Draw(t, "memory"),
		Addresses: rapid.SliceOfN(address, 0, 64).Draw(t, "addresses"),
	}
})

// Whatever the provider says of a VM, the apiserver takes the status and the
// children that are made of it, and they say what it said.
func TestWhateverAProviderSaysOfAVMIsStored(t *testing.T) {
	t.Parallel()
	const vms = 24
	s := newSite(t, fake.Options{Capabilities: withoutResize()})
	must(t, kube.Create(t.Context(), builders.ProviderConfig(s.namespace, computev1.DefaultProviderConfig, "https://vms.example.com", func(config *computev1.ProviderConfig) {
		config.Spec.PollInterval = &metav1.Duration{Duration: time.Second}
	})))
	startOperator(t, s)
	made, stored := map[string]func(context.Context) string{}, map[string]func(context.Context) string{}
	for i := range vms {
		name := fmt.Sprintf("%.230s-%d", names.Example(seed+i), i)
		must(t, kube.Create(t.Context(), builders.VirtualMachine(s.namespace, name)))
		made[name] = func(ctx context.Context) string { return s.outcome(ctx, name).Missing }
	}
	settle(t, made)
	t.Logf("seed %d: %d VMs", seed, vms)
	for i, name := range slices.Sorted(maps.Keys(made)) {
		vm := &computev1.VirtualMachine{}
		must(t, kube.Get(t.Context(), client.ObjectKey{Namespace: s.namespace, Name: name}, vm))
		odd := oddities.Example(seed + i)
		s.provider.Change(vm.Status.ID, func(m *provider.Machine) {
			m.Phase, m.Memory, m.Addresses = odd.Phase, odd.Memory, odd.Addresses
		})
		stored[name] = func(ctx context.Context) string { return s.says(ctx, name, odd) }
	}
	settle(t, stored)
}

// says compares what is stored of a VM with what the provider says.
func (s *site) says(ctx context.Context, name string, odd provider.Machine) string {
	const most = 16 // addresses in a status
	vm := &computev1.VirtualMachine{}
	if err := kube.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: name}, vm); err != nil {
		return shortly(err)
	}
	if vm.Status.Phase != string(odd.Phase) {
		return fmt.Sprintf("the phase is %q, want %q", vm.Status.Phase, odd.Phase)
	}
	want := leading(odd.Addresses)
	if diff := cmp.Diff(want[:min(len(want), most)], append([]string{}, vm.Status.Addresses...)); diff != "" {
		return "addresses of the status: " + diff
	}
	var list discoveryv1.EndpointSliceList
	if err := kube.List(ctx, &list, client.InNamespace(s.namespace), client.MatchingLabels{discoveryv1.LabelServiceName: vm.Status.ServiceName}); err != nil {
		return shortly(err)
	}
	got := []string{}
	for i := range list.Items {
		for _, endpoint := range list.Items[i].Endpoints {
			got = append(got, endpoint.Addresses...)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	return cmp.Diff(want, got)
}

// leading are the addresses that lead to a VM, and not to the cluster's own nodes.
func leading(addresses []string) []string {
	leading := []string{}
	for _, text := range addresses {
		address := netip.MustParseAddr(text).Unmap()
		if address.IsGlobalUnicast() && !slices.Contains(leading, address.String()) {
			leading = append(leading, address.String())
		}
	}
	return leading
}
