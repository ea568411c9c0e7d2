package virtualmachine_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/fake"
)

// paged is a provider with every capability and small pages.
func paged(phase provider.Phase) fake.Options {
	return fake.Options{Capabilities: fake.Full(), Phase: phase, PageSize: 4}
}

// fleet creates VirtualMachines, and waits until their VMs run and their children
// are there.
func (w *world) fleet(n int) []string {
	w.t.Helper()
	names := make([]string, 0, n)
	for i := range n {
		names = append(names, fmt.Sprint("web-", i))
		w.vm(names[i])
	}
	for _, name := range names {
		w.awaitsRunning(name)
		w.awaitsEvent(name, "Applied")
	}
	return names
}

// awaitsLists waits until so many more pages were listed.
func (w *world) awaitsLists(more int) {
	w.t.Helper()
	begin := w.calls(provider.OperationList)
	w.eventually(func() string {
		if got := w.calls(provider.OperationList) - begin; got < more {
			return fmt.Sprintf("%d pages were listed, not %d", got, more)
		}
		return ""
	})
}

// onlyLists fails if the provider was asked for anything but lists.
func (w *world) onlyLists() {
	w.t.Helper()
	for op, count := range w.provider.Counts() {
		if op != provider.OperationList && count > 0 {
			w.t.Errorf("%d calls of %s", count, op)
		}
	}
}

func TestASettledFleetCostsListsAndNothingElse(t *testing.T) {
	w := newWorld(t, paged(provider.PhaseRunning))
	names := w.fleet(10)
	// The last list that was begun before the fleet had settled may still be compared.
	w.awaitsLists(6)
	w.provider.Reset()
	w.writes.reset()
	w.awaitsLists(12)
	w.onlyLists()
	if got := w.writes.all(); len(got) > 0 {
		t.Errorf("writes: %v", got)
	}
	if got := w.writes.passes(); len(got) > 0 {
		t.Errorf("VMs that have not changed were looked at: %v", got)
	}

	if !w.provider.SetPhase(w.get(names[3]).Status.ID, provider.PhaseStopped) {
		t.Fatal("there is no such VM")
	}
	w.awaits(names[3], computev1.ConditionReady, metav1.ConditionFalse, computev1.ReasonNotRunning)
	w.awaitsLists(6)
	w.onlyLists()
	if got := w.writes.passes(); len(got) != 1 || got[names[3]] == 0 {
		t.Errorf("more was looked at than the VM that has changed: %v", got)
	}
}

func TestANewProcessLooksAtASettledFleetByOneListAndWritesNothing(t *testing.T) {
	w := newWorld(t, paged(provider.PhaseRunning))
	names := w.fleet(10)
	w.stop()
	w.writes.reset()
	w.provider.Reset()
	w.startManager()
	w.ready("default")
	for _, name := range names {
		// The first may be made before the provider is known.
		w.awaitsPassesSince(name, 0, 1)
	}
	w.awaitsLists(6)
	counts := w.provider.Counts()
	delete(counts, provider.OperationCapabilities)
	if len(counts) != 1 || counts[provider.OperationList] == 0 {
		t.Errorf("calls of a new process: %v", counts)
	}
	if got := w.writes.all(); len(got) > 0 {
		t.Errorf("writes: %v", got)
	}
	// That it has seen all of them shows in that it is of use.
	w.delete(names[0])
	w.awaitsGone(names[0])
	if diff := w.provider.Counts(); diff[provider.OperationDelete] != 1 || diff[provider.OperationGet] != 1 {
		t.Errorf("calls of a deletion: %v", diff)
	}
}

// veiled leaves one VM out of its lists.
type veiled struct {
	*fake.Provider

	id atomic.Pointer[string]
}

func (p *veiled) List(ctx context.Context, cursor string) (provider.Page, error) {
	page, err := p.Provider.List(ctx, cursor)
	page.Items = slices.DeleteFunc(page.Items, func(m provider.Machine) bool { return p.id.Load() != nil && m.ID == *p.id.Load() })
	return page, err
}

func TestAVMThatIsNotListedIsConfirmedByALookBeforeItCountsAsGone(t *testing.T) {
	w := newWorld(t, full())
	veil := &veiled{Provider: w.provider}
	entry := w.entry(fake.Full())
	entry.Client = veil
	w.set("default", entry)
	names := w.fleet(2)
	id := w.get(names[0]).Status.ID
	w.provider.Reset()
	veil.id.Store(&id)
	w.eventually(func() string {
		if got := w.calls(provider.OperationGet); got < 2 {
			return fmt.Sprintf("%d looks at the VM that is not listed", got)
		}
		return ""
	})
	w.awaitsLists(2)
	vm := w.awaitsRunning(names[0])
	w.live(2)
	if vm.Status.ID != id || w.calls(provider.OperationCreate) > 0 {
		t.Errorf("a VM that exists was made again: %s, then %s", id, vm.Status.ID)
	}
	for _, entry := range w.provider.Ledger() {
		if entry.Op == provider.OperationGet && entry.ID != id {
			t.Errorf("a look at %s, which is listed", entry.ID)
		}
	}

	w.provider.Vanish(id)
	w.awaitsEvent(names[0], computev1.ReasonVanished)
	w.eventually(func() string {
		if vm := w.get(names[0]); vm.Status.ID == id || vm.Status.ID == "" {
			return "the VM that is gone is not made again"
		}
		return ""
	})
	w.live(2)
}

func TestManyVMsInTransitionAreSeenByListsAndFewOneByOne(t *testing.T) {
	w := newWorld(t, paged(provider.PhaseProvisioning), func(w *world) { w.options.MaxConcurrentReconciles = 20 })
	entry := slow(w)
	w.set("default", entry)
	const many = 10
	for i := range many {
		w.vm(fmt.Sprint("web-", i))
	}
	for i := range many {
		w.awaits(fmt.Sprint("web-", i), computev1.ConditionReconciling, metav1.ConditionTrue, computev1.ReasonProvisioning)
		w.awaitsEvent(fmt.Sprint("web-", i), "Applied")
	}
	// Though the poll interval is an hour.
	w.awaitsLists(6)
	w.provider.Reset()
	w.awaitsLists(12)
	w.onlyLists()

	last := w.get("web-7").Status.ID
	for _, machine := range w.provider.Live() {
		if machine.ID != last {
			w.provider.SetPhase(machine.ID, provider.PhaseRunning)
		}
	}
	for i := range many {
		if i != 7 {
			w.awaitsRunning(fmt.Sprint("web-", i))
		}
	}
	// One VM is fewer than three pages.
	w.eventually(func() string {
		if got := w.calls(provider.OperationGet); got < 3 {
			return fmt.Sprintf("%d looks at the VM that is left", got)
		}
		return ""
	})
	for _, entry := range w.provider.Ledger() {
		if entry.Op == provider.OperationGet && entry.ID != last {
			t.Errorf("a look at %s, which has been made", entry.ID)
		}
	}
	w.provider.SetPhase(last, provider.PhaseRunning)
	w.awaitsRunning("web-7")
}

func TestAFleetThatIsDeletedIsFollowedByListsAndConfirmedOnce(t *testing.T) {
	options := paged(provider.PhaseRunning)
	options.SlowDelete = true
	w := newWorld(t, options, func(w *world) { w.options.MaxConcurrentReconciles = 20 })
	w.set("default", slow(w))
	names := w.fleet(10)
	w.provider.Reset()
	for _, name := range names {
		w.delete(name)
	}
	for _, name := range names {
		w.awaits(name, computev1.ConditionReconciling, metav1.ConditionTrue, computev1.ReasonDeleting)
	}
	w.awaitsLists(6)
	looks := w.calls(provider.OperationGet)
	w.awaitsLists(12)
	if got := w.calls(provider.OperationGet); got != looks {
		t.Errorf("%d looks at VMs that are being deleted", got-looks)
	}
	w.provider.Finish()
	for _, name := range names {
		w.awaitsGone(name)
	}
	// One to see that each is gone.
	if got := w.calls(provider.OperationGet) - looks; got != len(names) {
		t.Errorf("%d looks at VMs that are gone, want %d", got, len(names))
	}
	if got := w.calls(provider.OperationDelete); got != len(names) {
		t.Errorf("%d DELETEs, want %d", got, len(names))
	}
}
