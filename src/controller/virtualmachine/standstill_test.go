package virtualmachine

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/virtualmachine/decide"
	"github.com/example/vmoperator/src/controller/virtualmachine/intent"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/fake"
	"github.com/example/vmoperator/src/provider/registry"
)

const lease = 15 * time.Second

// attempt is a pass that has stored its intent, at a provider that counts calls,
// and a controller whose clock has gone on since.
func attempt(gone time.Duration) (*Reconciler, *pass, *fake.Provider) {
	stored := time.Now()
	vm := &computev1.VirtualMachine{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "web", UID: "u"}}
	p := &pass{
		vm: vm, began: stored, seen: &sighting{}, fresh: true, before: decide.MachineNone,
		record: intent.New(vm, 1, "", provider.CreateRequest{}).Attempted(stored, time.Minute),
	}
	at := fake.New(fake.Options{Phase: provider.PhaseRunning})
	p.provider = registry.Entry{State: registry.Ready, Client: at, Timeout: time.Minute}
	r := &Reconciler{
		Options: Options{LeaseDuration: lease}, Registry: registry.New(), memory: newMemory(),
		Now: func() time.Time { return stored.Add(gone) },
	}
	return r, p, at
}

func TestAPOSTIsSentOnlyWhileItsAttemptIsFresh(t *testing.T) {
	for name, c := range map[string]struct {
		gone  time.Duration
		made  int
		class provider.Class
	}{
		"at once":                          {0, 1, 0},
		"just before half a lease is over": {lease/2 - time.Millisecond, 1, 0},
		"not after half a lease":           {lease / 2, 0, provider.Throttled},
		"not once its absence counts":      {time.Hour, 0, provider.Throttled},
	} {
		t.Run(name, func(t *testing.T) {
			r, p, at := attempt(c.gone)
			r.create(t.Context(), p, decide.State{Machine: decide.MachineNone})
			if got := len(at.Live()); got != c.made {
				t.Errorf("%d VMs were made, want %d", got, c.made)
			}
			if got := provider.ClassOf(p.fault); got != c.class {
				t.Errorf("the fault is %v, want %v", got, c.class)
			}
		})
	}
}

func TestAnAttemptSettlesOnlyAfterItsPOSTCanHaveItsEffect(t *testing.T) {
	stored := time.Now().Truncate(time.Microsecond)
	for name, c := range map[string]struct {
		attempted, present, provider, want time.Duration
	}{
		"by the call's timeout":                             {10 * time.Second, 10 * time.Second, 0, 25 * time.Second},
		"by the timeout of its attempt, if that was longer": {time.Minute, time.Second, 0, 75 * time.Second},
		"by the present timeout, if that is longer":         {time.Second, time.Minute, 0, 75 * time.Second},
		"by what the provider asks for":                     {time.Second, time.Second, time.Hour, time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			record := (&intent.Record{}).Attempted(stored, c.attempted)
			settled := record.SettledAt(lease, c.present, c.provider)
			if got := settled.Sub(stored); got != c.want {
				t.Errorf("settled after %s, want %s", got, c.want)
			}
			if latest := record.SendBefore(lease).Add(c.attempted); !latest.Before(settled) {
				t.Errorf("a POST may take until %s after absence counts", latest.Sub(settled))
			}
		})
	}
}

func TestAVMIsNotChangedByAPassThatStoodStill(t *testing.T) {
	for gone, want := range map[time.Duration]bool{0: false, lease/2 - 1: false, lease / 2: true, time.Hour: true} {
		r, p, _ := attempt(gone)
		if got := r.stoodStill(p); got != want {
			t.Errorf("after %s: %v", gone, got)
		}
	}
	for _, action := range []decide.Action{decide.Delete, decide.Update} {
		if !changesVM(decide.Decision{Action: action}) {
			t.Errorf("%s does not change the VM", action)
		}
	}
}

func TestAStatusFollowsOnlyWhatItWasMadeFrom(t *testing.T) {
	record := func(key string) map[string]string {
		r := intent.Record{Key: key, UID: "u", Object: "a/web"}
		return map[string]string{computev1.CreateIntentAnnotation: r.String()}
	}
	read := &computev1.VirtualMachine{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "web", UID: "u", Annotations: record("u/1")}}
	for name, c := range map[string]struct {
		live func(*computev1.VirtualMachine)
		id   string
		want bool
	}{
		"over a label edit":                           {func(vm *computev1.VirtualMachine) { vm.Labels = map[string]string{"team": "a"} }, "", true},
		"with a new id, over a label edit":            {func(vm *computev1.VirtualMachine) { vm.Labels = map[string]string{"team": "a"} }, "vm-1", true},
		"not over another object's":                   {func(vm *computev1.VirtualMachine) { vm.UID = "v" }, "vm-1", false},
		"not over another status":                     {func(vm *computev1.VirtualMachine) { vm.Status.Phase = "Running" }, "", false},
		"not over another record":                     {func(vm *computev1.VirtualMachine) { vm.Annotations = record("u/2") }, "", false},
		"with a new id, over a question":              {func(vm *computev1.VirtualMachine) { vm.Status.ObservedGeneration = 7 }, "vm-1", true},
		"with a new id, over a lost record":           {func(vm *computev1.VirtualMachine) { vm.Annotations = nil }, "vm-1", true},
		"not with the id of a VM that was replaced":   {func(vm *computev1.VirtualMachine) { vm.Annotations = record("u/2") }, "vm-1", false},
		"not with an id where another is stored":      {func(vm *computev1.VirtualMachine) { vm.Status.ID = "vm-2" }, "vm-1", false},
		"not with an id that another has stored also": {func(vm *computev1.VirtualMachine) { vm.Status.ID = "vm-1" }, "vm-1", false},
	} {
		t.Run(name, func(t *testing.T) {
			live := read.DeepCopy()
			c.live(live)
			if got := mayFollow(read, live, computev1.VirtualMachineStatus{ID: c.id}); got != c.want {
				t.Errorf("it may follow: %v", got)
			}
		})
	}
}

func TestTheIDOfAVMInQuestionIsNoticed(t *testing.T) {
	asked := &computev1.VirtualMachine{Status: computev1.VirtualMachineStatus{Conditions: []metav1.Condition{
		{Type: computev1.ConditionStalled, Status: metav1.ConditionTrue, Reason: computev1.ReasonCreateAmbiguous},
	}}}
	known := asked.DeepCopy()
	known.Status.ID = "vm-1"
	for name, c := range map[string]struct {
		before, after *computev1.VirtualMachine
		want          bool
	}{
		"when it is stored":              {asked, known, true},
		"not while nothing changes":      {known, known, false},
		"not where no question was open": {&computev1.VirtualMachine{}, known, false},
		"not while the question is open": {asked, asked, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := idLearned().Update(event.UpdateEvent{ObjectOld: c.before, ObjectNew: c.after}); got != c.want {
				t.Errorf("noticed: %v", got)
			}
		})
	}
}
