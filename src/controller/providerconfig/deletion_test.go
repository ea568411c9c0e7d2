package providerconfig_test

import (
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/providerconfig"
	"github.com/example/vmoperator/src/provider/registry"
)

// gone waits until a ProviderConfig does not exist any more.
func (r *rig) gone(name string) {
	r.t.Helper()
	r.eventually(name, func() string {
		err := kube.Get(r.t.Context(), r.key(name), &computev1.ProviderConfig{})
		return unless(apierrors.IsNotFound(err), "still exists")
	})
}

func (r *rig) hasSeries(name string) bool {
	r.t.Helper()
	families, err := gather.Gather()
	must(r.t, err)
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			labels := map[string]string{}
			for _, pair := range metric.GetLabel() {
				labels[pair.GetName()] = pair.GetValue()
			}
			if labels["namespace"] == r.namespace && labels["name"] == name {
				return true
			}
		}
	}
	return false
}

func TestADeletedProviderConfigGoesWithItsLastVM(t *testing.T) {
	t.Parallel()
	r := started(t)
	r.secret("key", marker)
	config := r.config("aws", withSecret("key"))
	vms := r.vms("aws", 2)
	r.shown("aws", showsReady)
	r.marks("key", true)
	if !r.hasSeries("aws") {
		t.Error("no metrics tell of it")
	}

	must(t, kube.Delete(t.Context(), config))
	inUse := r.shown("aws", showsReady+" Reconciling/InUse")
	message := meta.FindStatusCondition(inUse.Status.Conditions, computev1.ConditionReconciling).Message
	if !strings.Contains(message, "2 VirtualMachines") {
		t.Errorf("the condition does not say how many: %s", message)
	}
	r.told(computev1.ReasonInUse)
	r.entered(registry.Ready)
	r.restart()
	r.entered(registry.Ready)

	must(t, kube.Delete(t.Context(), vms[0]))
	r.eventually("the count", func() string { return unless(r.read("aws").Status.VirtualMachines == 1, "is not 1") })
	must(t, kube.Delete(t.Context(), vms[1]))
	r.gone("aws")
	r.marks("key", false)
	r.entered(registry.Unprobed)
	r.eventually("clients", func() string { return unless(r.openClients() <= 1, "are left open") })
	r.eventually("metrics", func() string { return unless(!r.hasSeries("aws"), "still tell of it") })
}

func TestAnUnusedProviderConfigGoesAtOnce(t *testing.T) {
	t.Parallel()
	r := started(t)
	config := r.config("aws")
	r.shown("aws", showsReady)
	must(t, kube.Delete(t.Context(), config))
	r.gone("aws")
	r.entered(registry.Unprobed)
}

func TestAProviderConfigThatNeverWorkedCanBeDeleted(t *testing.T) {
	t.Parallel()
	r := started(t)
	config := r.config("aws", withSecret("missing"))
	r.shown("aws", showsStalled(computev1.ReasonSecretNotFound))
	must(t, kube.Delete(t.Context(), config))
	r.gone("aws")
}

func TestAnEmptyProviderRefKeepsTheDefault(t *testing.T) {
	t.Parallel()
	r := started(t)
	config := r.config(computev1.DefaultProviderConfig)
	r.shown("default", showsReady)
	memory := quantity("1Gi")
	vm := &computev1.VirtualMachine{Spec: computev1.VirtualMachineSpec{Image: "debian", CPU: 1, Memory: &memory, ProviderRef: new("")}}
	vm.Namespace, vm.Name = r.namespace, "empty"
	must(t, kube.Create(t.Context(), vm))
	r.eventually("the finalizer", func() string { return unless(r.kept("default"), "is not there") })
	must(t, kube.Delete(t.Context(), config))
	r.shown("default", showsReady+" Reconciling/InUse")
	must(t, kube.Delete(t.Context(), vm))
	r.gone("default")
}

func TestVMsThatComeInAStormAreCountedTogether(t *testing.T) {
	t.Parallel()
	r := started(t)
	r.config("aws")
	r.config("azure")
	r.shown("aws", showsReady)
	r.shown("azure", showsReady)
	probes := len(r.provider(endpoint).Ledger())
	passes, writes := r.passes.Load(), r.writes.Load()
	began := time.Now()
	r.vms("aws", 50)
	r.vms("azure", 100)
	r.eventually("the counts", func() string {
		return unless(r.read("aws").Status.VirtualMachines == 50 && r.read("azure").Status.VirtualMachines == 100, "are others")
	})
	r.stop()
	// Two ProviderConfigs, a pass and at most a write of each for every second that
	// it took, and one more at each end; and a finalizer for each.
	most := 2 * (int64(time.Since(began)/time.Second) + 2)
	if made := r.passes.Load() - passes; made > most {
		t.Errorf("%d passes for 150 VMs, want at most %d", made, most)
	}
	if made := r.writes.Load() - writes; made > most+2 {
		t.Errorf("%d writes for 150 VMs, want at most %d", made, most+2)
	}
	if made := len(r.provider(endpoint).Ledger()) - probes; made != 0 {
		t.Errorf("%d probes for 150 VMs, want none", made)
	}
}

func TestTheDefaultIsCreatedWhereThereIsNone(t *testing.T) {
	t.Parallel()
	first, second := newRig(t), newRig(t)
	second.config(computev1.DefaultProviderConfig, at(elsewhere))
	ensure := &providerconfig.EnsureDefault{
		Client: kube, Endpoint: endpoint, Namespaces: []string{first.namespace, second.namespace},
	}
	if !ensure.NeedLeaderElection() {
		t.Error("two managers would do it at once")
	}
	must(t, ensure.Start(t.Context()))
	if got := first.read("default").Spec.Endpoint; got != endpoint {
		t.Errorf("the new one leads to %s", got)
	}
	if got := second.read("default").Spec.Endpoint; got != elsewhere {
		t.Errorf("the one that was there leads to %s", got)
	}
}
