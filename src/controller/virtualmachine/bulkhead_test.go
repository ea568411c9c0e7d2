package virtualmachine_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/virtualmachine/intent"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/fake"
	"github.com/example/vmoperator/src/provider/guard"
	"github.com/example/vmoperator/src/provider/registry"
)

// divided is a world whose workers its providers share.
func divided(t *testing.T) *world {
	t.Helper()
	return newWorld(t, full(), polled, func(w *world) {
		w.bulkhead = guard.NewBulkhead(w.options.MaxConcurrentReconciles, time.Now)
	})
}

// guarded is a ProviderConfig with a provider of its own, whose VMs are looked at
// seldom and whose calls may take for ever.
func (w *world) guarded(name string) (*fake.Provider, *guard.Client) {
	w.t.Helper()
	behind := fake.New(full())
	client := guard.New(behind, guard.Options{Bulkhead: w.bulkhead, Provider: name})
	w.providerConfig(name)
	w.set(name, w.entryOf(client))
	return behind, client
}

func (w *world) entryOf(client *guard.Client) registry.Entry {
	entry := slow(w)
	entry.Client, entry.Timeout = client, time.Hour
	return entry
}

// at leads a VirtualMachine to a ProviderConfig.
func at(name string) func(*computev1.VirtualMachine) {
	return func(vm *computev1.VirtualMachine) { vm.Spec.ProviderRef = &name }
}

// crowdAt creates VirtualMachines of a ProviderConfig, a few at a time.
func (w *world) crowdAt(name string, count int) {
	w.t.Helper()
	var creators sync.WaitGroup
	for creator := range crowd {
		creators.Go(func() {
			for number := creator; number < count; number += crowd {
				w.vm(fmt.Sprintf("%s-%d", name, number), at(name))
			}
		})
	}
	creators.Wait()
}

// life is a VM's until it runs and its children are there: the calls that it took.
func (w *world) life(name, at string, behind *fake.Provider) map[provider.Operation]int {
	w.t.Helper()
	behind.Reset()
	w.vm(name, func(vm *computev1.VirtualMachine) { vm.Spec.ProviderRef = &at })
	w.awaitsRunning(name)
	w.awaitsEvent(name, "Applied")
	return behind.Counts()
}

func TestAProviderThatHangsWithAThousandVMsHoldsUpNoOther(t *testing.T) {
	w := divided(t)
	hanging, _ := w.guarded("hanging")
	well, _ := w.guarded("well")
	before := w.life("before", "well", well)

	release := make(chan struct{})
	// Before the manager is stopped, which waits for calls under way.
	t.Cleanup(sync.OnceFunc(func() { close(release) }))
	hanging.Inject(fake.Fault{Block: release, Count: fake.Forever})
	w.crowdAt("hanging", 1000)
	w.eventually(func() string {
		if got := len(hanging.Ledger()); got != 1 {
			return fmt.Sprintf("%d calls hang", got)
		}
		return ""
	})

	beside := w.life("beside", "well", well)
	if fmt.Sprint(before) != fmt.Sprint(beside) {
		t.Errorf("calls %v beside a provider that hangs, %v without", beside, before)
	}
	if before, beside := w.writes.passes()["before"], w.writes.passes()["beside"]; beside > before+1 {
		// One more where the cache was late.
		t.Errorf("%d passes beside a provider that hangs, %d without", beside, before)
	}
	if got := len(hanging.Ledger()); got != 1 {
		t.Errorf("%d calls hang, more than the provider's share", got)
	}
}

func TestCallersThatWereParkedAreMadeOneAfterTheOther(t *testing.T) {
	w := divided(t)
	hanging, _ := w.guarded("hanging")
	w.guarded("well")
	release := make(chan struct{})
	hanging.Inject(fake.Fault{Block: release})
	w.crowdAt("hanging", crowd)
	for number := range crowd {
		w.eventually(func() string {
			vm := w.get(fmt.Sprintf("hanging-%d", number))
			synced := findCondition(vm, computev1.ConditionSynced)
			hangs := len(hanging.Ledger()) == 1 && hanging.Ledger()[0].Key == intent.Key(vm.UID, 1)
			if hangs || synced.Reason == computev1.ReasonThrottled {
				return ""
			}
			return vm.Name + " does not say that it waits"
		})
	}
	close(release)
	for number := range crowd {
		w.awaitsRunning(fmt.Sprintf("hanging-%d", number))
	}
	if got := len(hanging.Live()); got != crowd {
		t.Errorf("%d VMs, want %d", got, crowd)
	}
	if got := hanging.Counts()[provider.OperationCreate]; got != crowd {
		t.Errorf("%d POSTs for %d VMs", got, crowd)
	}
}

func TestWhileAProviderFailsNewVMsSayWhyTheyWaitAndOthersStayAsTheyAre(t *testing.T) {
	w := divided(t)
	failing, client := w.guarded("failing")
	w.vm("old", at("failing"))
	w.awaitsRunning("old")
	w.awaitsEvent("old", "Applied")
	failing.Inject(fake.Fault{Class: provider.Transient, Cause: provider.CauseUnreachable, Count: fake.Forever})
	for cause := provider.Cause(""); cause != provider.CauseCircuit; {
		_, err := client.Get(t.Context(), "vm-1")
		cause = provider.CauseOf(err)
	}
	w.vm("new", at("failing"))
	vm := w.awaits("new", computev1.ConditionSynced, metav1.ConditionFalse, computev1.ReasonThrottled)
	const why = "calls to the provider failed one after another: this one waits until one succeeds"
	if got := findCondition(vm, computev1.ConditionSynced).Message; got != why {
		t.Errorf("it says %q", got)
	}
	old := w.get("old")
	// It is looked at, in vain: another way makes what was seen stale.
	w.set("failing", registry.Entry{State: registry.Unprobed})
	w.set("failing", w.entryOf(client))
	w.awaitsPasses("old", 1)
	w.crowdAt("failing", crowd)
	for number := range crowd {
		w.awaits(fmt.Sprintf("failing-%d", number), computev1.ConditionSynced, metav1.ConditionFalse, computev1.ReasonThrottled)
	}
	if diff := cmp.Diff(old.Status, w.get("old").Status); diff != "" {
		t.Errorf("the status of a VM that is known changed:\n%s", diff)
	}
	failing.ClearFaults()
	w.awaitsRunning("new")
	for number := range crowd {
		w.awaitsRunning(fmt.Sprintf("failing-%d", number))
	}
}
