package generated

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/fake"
	"github.com/example/vmoperator/src/test/builders"
)

// stories is how many sequences of each kind are tried at a provider.
const stories = 16

// size is what of a VirtualMachine can change, besides its ports.
type size struct {
	cpu    int32
	memory string
}

// change is a spec that a VirtualMachine can have, but for what is immutable.
type change struct {
	size
	ports  []computev1.VirtualMachinePort
	policy computev1.DeletionPolicy
}

func (c *change) apply(vm *computev1.VirtualMachine) {
	memory := resource.MustParse(c.memory)
	vm.Spec.CPU, vm.Spec.Memory, vm.Spec.DeletionPolicy = c.cpu, &memory, c.policy
	vm.Spec.Service = nil
	if len(c.ports) > 0 {
		vm.Spec.Service = &computev1.VirtualMachineService{Ports: slices.Clone(c.ports)}
	}
}

// changes draws specs from within the schema's bounds, their edges above all.
var changes = rapid.Custom(func(t *rapid.T) change {
	edge := func(low, high int32) *rapid.Generator[int32] {
		return rapid.OneOf(rapid.SampledFrom([]int32{low, low + 1, high - 1, high}), rapid.Int32Range(low, high))
	}
	c := change{size: size{
		cpu: edge(1, 1024).Draw(t, "cpu"),
		memory: rapid.OneOf(
			rapid.SampledFrom([]string{"1Mi", "1Pi", "1024Ki", "1.5Gi", "1048576", "1048576000m", "1048.576k", "0.5Gi", "1023.9990234375Ti"}),
			rapid.Map(rapid.Int32Range(1, 1<<20), func(n int32) string { return fmt.Sprintf("%dMi", n) }),
		).Draw(t, "memory"),
	}}
	c.policy = rapid.SampledFrom([]computev1.DeletionPolicy{computev1.DeletionPolicyDelete, computev1.DeletionPolicyRetain}).Draw(t, "policy")
	name := rapid.StringMatching(`[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?`)
	port := rapid.Custom(func(t *rapid.T) computev1.VirtualMachinePort {
		p := computev1.VirtualMachinePort{
			Name: name.Draw(t, "name"), Port: edge(1, 65535).Draw(t, "port"),
			Protocol: rapid.SampledFrom([]computev1.PortProtocol{"", "TCP", "UDP", "SCTP"}).Draw(t, "protocol"),
		}
		if rapid.Bool().Draw(t, "elsewhere") {
			p.TargetPort = edge(1, 65535).Draw(t, "targetPort")
		}
		return p
	})
	// A port number of its own for each, so that no two clash whatever their protocol.
	c.ports = rapid.SliceOfNDistinct(port, 0, 5, func(p computev1.VirtualMachinePort) string { return p.Name }).Filter(distinct).Draw(t, "ports")
	return c
})

func distinct(ports []computev1.VirtualMachinePort) bool {
	seen := map[int32]bool{}
	for _, p := range ports {
		if seen[p.Port] {
			return false
		}
		seen[p.Port] = true
	}
	return true
}

// names draws names that objects may have and Services may not.
var names = rapid.OneOf(
	rapid.StringMatching(`[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?`),
	rapid.StringMatching(`[0-9][a-z0-9]{0,20}(\.[a-z0-9]([-a-z0-9]{0,20}[a-z0-9])?){1,6}`),
	rapid.StringMatching(`[a-z]{200}\.[a-z]{52}`),
)

// story is one object's way, and how it may be disturbed on it.
type story struct {
	name   string
	s0, s1 change
	// rushed: nobody waits for what becomes of s1.
	rushed bool
}

func drawStories(first int) []story {
	drawn := make([]story, 0, stories)
	for i := range stories {
		drawn = append(drawn, story{
			name: fmt.Sprintf("%.230s-%d", names.Example(first+i), i), s0: changes.Example(first + 2*i),
			s1: changes.Example(first + 2*i + 1), rushed: i%2 == 0,
		})
	}
	return drawn
}

// There and back again: s0, s1, s0, and refused edits in between, lead to what a
// direct creation of s0 leads to, at the provider and in the cluster.
func TestAVirtualMachineThatIsChangedBackIsAsOneThatNeverChanged(t *testing.T) {
	t.Parallel()
	for what, options := range map[string]fake.Options{
		"at a provider of everything":                       {Capabilities: fake.Full()},
		"at a provider that cannot resize, where s1 stalls": {Capabilities: withoutResize()},
		"at a provider of the minimum":                      {},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			winding, direct := newSite(t, options), newSite(t, options)
			for _, s := range []*site{winding, direct} {
				s.providerConfig(t, computev1.DefaultProviderConfig)
			}
			startOperator(t, winding, direct)
			all := drawStories(seed)
			t.Logf("seed %d: %d sequences", seed, len(all))
			for _, each := range all {
				for _, s := range []*site{winding, direct} {
					must(t, kube.Create(t.Context(), builders.VirtualMachine(s.namespace, each.name, each.s0.apply)))
				}
			}
			settle(t, checksOf(all, winding, func(*story) bool { return true }))
			walk(t, winding, all)
			compare(t, all, winding, direct)
		})
	}
}

func withoutResize() provider.Capabilities {
	c := fake.Full()
	c.Offered = slices.DeleteFunc(c.Offered, func(name string) bool { return name == provider.CapabilityResize })
	return c
}

// checksOf wait until the controllers have handled the present specs of those
// that are meant.
func checksOf(all []story, s *site, meant func(*story) bool) map[string]func(context.Context) string {
	checks := map[string]func(context.Context) string{}
	for i := range all {
		if !meant(&all[i]) {
			continue
		}
		key := client.ObjectKey{Namespace: s.namespace, Name: all[i].name}
		checks[key.Name] = func(ctx context.Context) string { return handled(ctx, &computev1.VirtualMachine{}, key) }
	}
	return checks
}

// walk leads all objects to s1 and back to s0, side by side.
func walk(t *testing.T, s *site, all []story) {
	t.Helper()
	for i := range all {
		refuseEdits(t, s, all[i].name, i)
		edit(t, s, all[i].name, all[i].s1.apply)
		if all[i].rushed {
			edit(t, s, all[i].name, all[i].s0.apply)
		}
	}
	settle(t, checksOf(all, s, func(each *story) bool { return !each.rushed }))
	for i := range all {
		if !all[i].rushed {
			edit(t, s, all[i].name, all[i].s0.apply)
		}
	}
}

func edit(t *testing.T, s *site, name string, change func(*computev1.VirtualMachine)) {
	t.Helper()
	vm := &computev1.VirtualMachine{}
	must(t, kube.Get(t.Context(), client.ObjectKey{Namespace: s.namespace, Name: name}, vm))
	before := vm.DeepCopy()
	change(vm)
	must(t, kube.Patch(t.Context(), vm, client.MergeFrom(before)))
}

// refuseEdits tries a few generated values that the apiserver refuses: the object
// must be what it was.
func refuseEdits(t *testing.T, s *site, name string, number int) {
	t.Helper()
	const tries = 3
	before := &computev1.VirtualMachine{}
	key := client.ObjectKey{Namespace: s.namespace, Name: name}
	must(t, kube.Get(t.Context(), key, before))
	fields := virtualMachine.fields()
	for i := range tries {
		f := fields[(number*tries+i)%len(fields)]
		all := candidatesOf(&f.schema, seed)
		body := virtualMachine.patch(t, f.path, all[(number+i)%len(all)].json)
		dry := before.DeepCopy()
		if err := kube.Patch(t.Context(), dry, client.RawPatch(types.MergePatchType, body), client.DryRunAll); err == nil {
			continue
		}
		if err := kube.Patch(t.Context(), dry, client.RawPatch(types.MergePatchType, body)); err == nil {
			t.Errorf("%s: refused when it was only tried, and accepted: %s", name, body)
		}
	}
	after := &computev1.VirtualMachine{}
	must(t, kube.Get(t.Context(), key, after))
	if diff := cmp.Diff(before.Spec, after.Spec); diff != "" || before.Generation != after.Generation {
		t.Errorf("%s: refused edits have changed it: %s", name, diff)
	}
}

// compare waits until each object is as its twin.
func compare(t *testing.T, all []story, winding, direct *site) {
	t.Helper()
	checks := map[string]func(context.Context) string{}
	for i := range all {
		name := all[i].name
		checks[name] = func(ctx context.Context) string {
			want, got := direct.outcome(ctx, name), winding.outcome(ctx, name)
			if want.Missing != "" {
				return "its twin: " + want.Missing
			}
			return cmp.Diff(want, got)
		}
	}
	settle(t, checks)
	// Once more: what was reached must last.
	for name, check := range checks {
		if complaint := check(t.Context()); complaint != "" {
			t.Errorf("%s: it did not last: %s", name, complaint)
		}
	}
}
