package orphan_test

import (
	"fmt"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/orphan"
	"github.com/example/vmoperator/src/controller/owner"
	"github.com/example/vmoperator/src/metrics"
	"github.com/example/vmoperator/src/provider"
)

func TestAnOrphanIsToldOnceAndLeftAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, first, newProvider())
	w.vm("kept")
	lost := w.orphan("lost")
	w.look()
	w.shows("")
	w.look()
	w.says(w.shows(computev1.ReasonOrphansReported), "1 VM was made for VirtualMachines that do not exist ("+lost+")", "spec.orphans.policy")
	w.looks()
	w.says(w.told(orphan.EventOrphanFound, 1)[0], lost, "VirtualMachine lost", "UID")
	w.wantDeleted()
	if status := w.config().Status.Orphans; status != nil {
		t.Errorf("status.orphans is written for nothing: %v", status)
	}
	if shown := gauge(t, w.namespace, "orphan"); shown != 1 {
		t.Errorf("the gauge shows %v", shown)
	}

	// Somebody cleans up.
	w.provider.Vanish(lost)
	w.look()
	w.shows("")
	if shown := gauge(t, w.namespace, "orphan"); shown != 0 {
		t.Errorf("the gauge shows %v", shown)
	}
}

// gauge is what the gauge of orphans shows of a namespace.
func gauge(t *testing.T, namespace, kind string) float64 {
	t.Helper()
	registry := prometheus.NewRegistry()
	if err := metrics.Register(registry); err != nil {
		t.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() != "vmoperator_providerconfig_orphans" {
			continue
		}
		for _, metric := range family.GetMetric() {
			labels := map[string]string{}
			for _, pair := range metric.GetLabel() {
				labels[pair.GetName()] = pair.GetValue()
			}
			if labels["namespace"] == namespace && labels["kind"] == kind {
				return metric.GetGauge().GetValue()
			}
		}
	}
	return -1
}

func TestWhatOthersHaveMadeIsNeverCountedNorTouched(t *testing.T) {
	t.Parallel()
	w := newWorld(t, first, newProvider(), deletes)
	w.vm("kept")
	w.provider.Put(provider.Machine{Phase: provider.PhaseRunning}, "")
	w.stray("another-cluster", func(o *owner.Owner) { o.ProviderConfig = "another" })
	w.stray("another-namespace", func(o *owner.Owner) { o.Object.Namespace = "another" })
	w.stray("no-uid", func(o *owner.Owner) { o.UID = "" })
	w.stray("No Name Of Ours")
	before := w.provider.Live()
	w.looks()
	w.shows("")
	w.told(orphan.EventOrphanFound, 0)
	if after := w.provider.Live(); len(after) != len(before) {
		t.Errorf("%d VMs of %d are left", len(after), len(before))
	}
}

func TestTheSteadyStateCostsAPageCallForEachPageAndNothingElse(t *testing.T) {
	t.Parallel()
	w := newWorld(t, first, newProvider())
	for _, vm := range []string{"a", "b", "c"} {
		w.vm(vm)
	}
	w.eventually("all VMs to be counted", func() string {
		if got := w.config().Status.VirtualMachines; got != 3 {
			return fmt.Sprintf("%d VMs", got)
		}
		return ""
	})
	w.look()
	lists, before := w.lists.Load(), w.provider.Counts()[provider.OperationList]
	version := w.config().ResourceVersion
	for range 3 {
		w.look()
	}
	if after := w.provider.Counts()[provider.OperationList]; after != before+3*2 {
		t.Errorf("%d page calls for three lists of two pages", after-before)
	}
	if w.lists.Load() != lists {
		t.Error("the apiserver was asked though every VM has an object")
	}
	if after := w.config().ResourceVersion; after != version {
		t.Error("the ProviderConfig was written though there is nothing to tell")
	}
}

func TestASecondVMOfAnObjectIsToldAndNeverDeleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, first, newProvider(), deletes)
	vm := w.vm("web")
	second := w.stray("web", func(o *owner.Owner) { o.UID = vm.UID })
	w.looks()
	w.says(w.shows(computev1.ReasonDuplicates), "1 VM is a second one", second)
	w.says(w.told(orphan.EventDuplicateFound, 1)[0], second, "left alone")
	w.wantDeleted()
	if shown := gauge(t, w.namespace, "duplicate"); shown != 1 {
		t.Errorf("the gauge shows %v", shown)
	}
}

// The provider is listed first: an object that is deleted between the list and the
// look at the cluster, with its VM, leaves nothing behind.
func TestAVMWhoseDeletionEndsDuringTheLookIsNoOrphan(t *testing.T) {
	t.Parallel()
	w := newWorld(t, first, newProvider())
	vm := w.vm("web")
	w.hookList(func(page provider.Page, err error) (provider.Page, error) {
		w.hookList(nil)
		w.delete(vm)
		return page, err
	})
	w.look()
	w.look()
	w.look()
	w.shows("")
	w.told(orphan.EventOrphanFound, 0)
}

// A VM that is made after the list, and one that is made before the objects are
// read, belong to objects that are seen.
func TestAVMThatIsMadeDuringTheLookIsNoOrphan(t *testing.T) {
	t.Parallel()
	w := newWorld(t, first, newProvider())
	w.vm("a")
	w.hookList(func(page provider.Page, err error) (provider.Page, error) {
		w.hookList(nil)
		w.vm("b")
		return page, err
	})
	w.look()
	w.look()
	w.shows("")
	w.told(orphan.EventOrphanFound, 0)
}

func TestDeletionsAreCounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, first, newProvider(), deletes)
	w.vm("kept")
	w.stray("lost")
	before := testutil.ToFloat64(metrics.OrphansDeleted)
	w.looks()
	// Other tests count as well.
	if after := testutil.ToFloat64(metrics.OrphansDeleted); after < before+1 {
		t.Errorf("%v deletions, %v before", after, before)
	}
}
