package generated

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/provider/fake"
	"github.com/example/vmoperator/src/test/builders"
)

// settings draws ProviderConfigs that work, or that the schema accepts and nobody
// can work with.
func settings(works bool) *rapid.Generator[computev1.ProviderConfigSpec] {
	return rapid.Custom(func(t *rapid.T) computev1.ProviderConfigSpec {
		reference := func(label string) *computev1.SecretReference {
			names := []string{"", credentials}
			if !works {
				names = append(names, "missing", "../"+credentials, "Credentials")
			}
			if name := rapid.SampledFrom(names).Draw(t, label); name != "" {
				return &computev1.SecretReference{Name: name}
			}
			return nil
		}
		endpoints := []string{"https://vms.example.com", "https://VMS.example.com:8443/api/", "http://[2001:db8::1]", "http://192.0.2.1/%7Ea"}
		if !works {
			endpoints = append(endpoints, "http://a:99999", "http://a/%00", "http://\u05d0")
		}
		spec := computev1.ProviderConfigSpec{
			Endpoint:  rapid.SampledFrom(endpoints).Draw(t, "endpoint"),
			SecretRef: reference("secretRef"),
			Timeout:   span(t, "timeout", 5*time.Minute), PollInterval: span(t, "pollInterval", time.Hour),
		}
		if ca := reference("caSecretRef"); ca != nil {
			spec.TLS = &computev1.ProviderTLS{CASecretRef: ca}
		}
		if rapid.Bool().Draw(t, "limited") {
			edges := rapid.SampledFrom([]int32{1, 2, 9999, 10000})
			spec.RateLimit = &computev1.ProviderRateLimit{QPS: edges.Draw(t, "qps"), Burst: edges.Draw(t, "burst")}
		}
		return spec
	})
}

func span(t *rapid.T, label string, most time.Duration) *metav1.Duration {
	whole := rapid.Map(rapid.Int64Range(int64(time.Second/time.Millisecond), int64(most/time.Millisecond)), func(ms int64) time.Duration {
		return time.Duration(ms) * time.Millisecond
	})
	return &metav1.Duration{Duration: rapid.OneOf(rapid.SampledFrom([]time.Duration{time.Second, 1500 * time.Millisecond, most}), whole).Draw(t, label)}
}

// A ProviderConfig that VMs rely on may go through settings that do not work: once
// it is as it was, all is as if it had never changed, and no VM was made again.
func TestAProviderConfigThatIsPutRightIsAsOneThatWasNeverWrong(t *testing.T) {
	t.Parallel()
	winding, direct := newSite(t, fake.Options{Capabilities: fake.Full()}), newSite(t, fake.Options{Capabilities: fake.Full()})
	startOperator(t, winding, direct)
	good, wild := settings(true), settings(false)
	checks, settled := map[string]func(context.Context) string{}, map[string]func(context.Context) string{}
	for i := range stories {
		name := fmt.Sprintf("config-%d", i)
		for _, s := range []*site{winding, direct} {
			config := builders.ProviderConfig(s.namespace, name, "")
			config.Spec = good.Example(seed + i)
			must(t, kube.Create(t.Context(), config))
			must(t, kube.Create(t.Context(), builders.VirtualMachine(s.namespace, name, func(vm *computev1.VirtualMachine) { vm.Spec.ProviderRef = &name })))
		}
		checks[name] = func(ctx context.Context) string {
			return cmp.Diff(direct.configOutcome(ctx, name), winding.configOutcome(ctx, name))
		}
		settled[name] = func(ctx context.Context) string {
			return handled(ctx, &computev1.ProviderConfig{}, client.ObjectKey{Namespace: winding.namespace, Name: name})
		}
	}
	settle(t, checks)
	t.Logf("seed %d: %d sequences", seed, stories)
	for i := range stories {
		winding.configure(t, fmt.Sprintf("config-%d", i), wild.Example(seed+stories+i))
		if i%2 == 0 {
			winding.configure(t, fmt.Sprintf("config-%d", i), good.Example(seed+i))
		}
	}
	settle(t, settled)
	for i := range stories {
		winding.configure(t, fmt.Sprintf("config-%d", i), good.Example(seed+i))
	}
	settle(t, checks)
	if made, want := winding.provider.Effects()["create"], stories; made != want {
		t.Errorf("%d VMs were made for %d objects", made, want)
	}
}

func (s *site) configure(t *testing.T, name string, spec computev1.ProviderConfigSpec) {
	t.Helper()
	config := &computev1.ProviderConfig{}
	must(t, kube.Get(t.Context(), client.ObjectKey{Namespace: s.namespace, Name: name}, config))
	before := config.DeepCopy()
	config.Spec = spec
	must(t, kube.Patch(t.Context(), config, client.MergeFrom(before)))
}

// configOutcome is what became of a ProviderConfig and of the VM that relies on it.
type configOutcome struct {
	Status     computev1.ProviderConfigStatus
	Spec       computev1.ProviderConfigSpec
	Conditions []string
	VM         outcome
}

func (s *site) configOutcome(ctx context.Context, name string) configOutcome {
	config := &computev1.ProviderConfig{}
	if missing := handled(ctx, config, client.ObjectKey{Namespace: s.namespace, Name: name}); missing != "" {
		return configOutcome{VM: outcome{Missing: s.namespace + ": " + missing}}
	}
	vm := s.outcome(ctx, name)
	if vm.Missing != "" {
		// Two that are not there yet are not the same.
		vm.Missing = s.namespace + ": " + vm.Missing
	}
	result := configOutcome{Status: config.Status, Spec: config.Spec, Conditions: shownConditions(config.Status.Conditions), VM: vm}
	result.Status.Conditions, result.Status.ObservedGeneration = nil, 0
	return result
}
