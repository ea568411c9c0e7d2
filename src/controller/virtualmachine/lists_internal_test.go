package virtualmachine

import (
	"net/netip"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/fake"
	"github.com/example/vmoperator/src/provider/registry"
	"github.com/example/vmoperator/src/provider/snapshot"
)

// machines are VMs as a provider may show them.
func machines() *rapid.Generator[provider.Machine] {
	return rapid.Custom(func(t *rapid.T) provider.Machine {
		return provider.Machine{
			ID:     "vm-1",
			Phase:  rapid.SampledFrom(append(provider.KnownPhases(), "", "Resizing")).Draw(t, "phase"),
			CPU:    rapid.Int32Range(0, 3).Draw(t, "cpu"),
			Memory: rapid.SampledFrom([]string{"", "4Gi", "4096Mi", "8Gi", "much"}).Draw(t, "memory"),
			Addresses: rapid.SliceOfN(rapid.SampledFrom([]string{
				"192.0.2.1", "192.0.2.2", "2001:db8::1", "127.0.0.1", "host.example.com", "198.51.100.1",
			}), 0, 20).Draw(t, "addresses"),
		}
	})
}

func TestAListTellsNothingOfAVMThatIsAsItsStatusSays(t *testing.T) {
	allowed := []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("2001:db8::/32")}
	rapid.Check(t, func(t *rapid.T) {
		one, other := machines().Draw(t, "one"), machines().Draw(t, "other")
		statusOf := func(machine provider.Machine) computev1.VirtualMachineStatus {
			var status computev1.VirtualMachineStatus
			p := &pass{vm: &computev1.VirtualMachine{}, machine: machine}
			showMachine(&status, p, publishable(machine.Addresses, allowed))
			return status
		}
		shown := statusOf(one)
		if differs(&shown, one, allowed) {
			t.Fatalf("%+v is said to differ from %+v", one, shown)
		}
		otherwise := statusOf(other)
		same := shown.Phase == otherwise.Phase && shown.CPU == otherwise.CPU && sameMemory(shown, otherwise) && sameAddresses(shown, otherwise)
		if differs(&shown, other, allowed) == same {
			t.Fatalf("%+v beside %+v: same is %t", other, shown, same)
		}
	})
}

func sameMemory(a, b computev1.VirtualMachineStatus) bool {
	if a.Memory == nil || b.Memory == nil {
		return a.Memory == b.Memory
	}
	return a.Memory.Cmp(*b.Memory) == 0
}

func sameAddresses(a, b computev1.VirtualMachineStatus) bool {
	if len(a.Addresses) != len(b.Addresses) {
		return false
	}
	for i := range a.Addresses {
		if a.Addresses[i] != b.Addresses[i] {
			return false
		}
	}
	return true
}

// listed is a Reconciler whose lists are made when a test wants it.
type listed struct {
	*Reconciler

	t        *testing.T
	now      time.Time
	provider *fake.Provider
	key      types.NamespacedName
}

func newListed(t *testing.T) *listed {
	t.Helper()
	l := &listed{
		t: t, now: time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC), key: types.NamespacedName{Namespace: "team", Name: "default"},
		provider: fake.New(fake.Options{Capabilities: fake.Full(), Phase: provider.PhaseRunning}),
	}
	now := func() time.Time { return l.now }
	providers := registry.New()
	lists := snapshot.New(providers, DefaultTransitionPoll, now)
	l.Reconciler = &Reconciler{Registry: providers, Lists: lists, Now: now, Options: Options{TransitionPoll: DefaultTransitionPoll}}
	providers.Set(l.key, registry.Entry{
		State: registry.Ready, Client: l.provider, Capabilities: fake.Full(), Identities: []string{"fake"}, PollInterval: time.Minute,
	})
	return l
}

func (l *listed) list() {
	l.t.Helper()
	l.Lists.Look(l.t.Context(), l.key)
}

// pass is one over a VirtualMachine whose VM is known.
func (l *listed) pass(id string) *pass {
	vm := &computev1.VirtualMachine{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "web", UID: "uid"}}
	vm.Status.ID = id
	return &pass{vm: vm, seen: &sighting{}, provider: l.Registry.Get(l.key)}
}

func TestAnAnswerOfAListThatIsOlderThanOurLastWriteIsIgnored(t *testing.T) {
	l := newListed(t)
	id := l.provider.Put(provider.Machine{Phase: provider.PhaseRunning, CPU: 2}, "key")
	l.list()
	p := l.pass(id)
	p.seen.see(provider.Machine{ID: id, Phase: provider.PhaseRunning, CPU: 8}, p.provider.Revision, l.now, l.now.Add(time.Hour), true)
	l.takeList(p, id)
	if p.seen.machine.CPU != 8 {
		t.Error("a list that was begun before the answer to a PATCH counts more than that")
	}
	l.now = l.now.Add(2 * time.Minute)
	l.list()
	l.takeList(p, id)
	if p.seen.machine.CPU != 2 || !p.seen.shown {
		t.Errorf("a list that was begun later does not count: %+v", p.seen.machine)
	}
}

func TestAListThatCameAnotherWayIsIgnored(t *testing.T) {
	l := newListed(t)
	id := l.provider.Put(provider.Machine{Phase: provider.PhaseRunning}, "key")
	l.list()
	entry := l.Registry.Get(l.key)
	entry.Client = &struct{ *fake.Provider }{l.provider}
	l.Registry.Set(l.key, entry)
	p := l.pass(id)
	l.takeList(p, id)
	if p.seen.machine.ID != "" {
		t.Errorf("taken for seen: %+v", p.seen.machine)
	}
	if l.tried()(l.key, p.provider.Revision) {
		t.Error("the VM would be looked at by itself, though a list is on its way")
	}
}

func TestAVMThatListsHaveShownCountsAsShownThoughNobodyLookedAtIt(t *testing.T) {
	l := newListed(t)
	id := l.provider.Put(provider.Machine{Phase: provider.PhaseRunning}, "key")
	p := l.pass(id)
	p.seen.see(provider.Machine{ID: id, Phase: provider.PhaseRunning}, p.provider.Revision, l.now, l.now.Add(time.Hour), false)
	l.now = l.now.Add(2 * time.Minute)
	l.list()
	l.provider.Vanish(id)
	l.now = l.now.Add(2 * time.Minute)
	l.list()
	l.takeList(p, id)
	if !p.seen.shown || l.fresh(p, id) {
		t.Errorf("shown is %t, good enough to act on %t", p.seen.shown, l.fresh(p, id))
	}
}

func TestChildrenAreComparedAnewWhenAPassSeesTheVMChange(t *testing.T) {
	one := provider.Machine{ID: "vm-1", Phase: provider.PhaseProvisioning, Addresses: []string{"192.0.2.1"}, CPU: 2}
	for what, row := range map[string]struct {
		change func(*provider.Machine)
		same   bool
	}{
		"nothing":       {func(*provider.Machine) {}, true},
		"the size":      {func(m *provider.Machine) { m.CPU = 4 }, true},
		"the phase":     {func(m *provider.Machine) { m.Phase = provider.PhaseRunning }, false},
		"the addresses": {func(m *provider.Machine) { m.Addresses = nil }, false},
		"the VM":        {func(m *provider.Machine) { m.ID = "vm-2" }, false},
	} {
		other := one
		row.change(&other)
		if got := tellSame(one, other); got != row.same {
			t.Errorf("%s: %t, want %t", what, got, row.same)
		}
	}
}

func TestAVMThatAListDoesNotShowIsInDoubtUntilItIsSeen(t *testing.T) {
	l := newListed(t)
	l.list()
	p := l.pass("vm-9")
	p.seen.see(provider.Machine{ID: "vm-9", Phase: provider.PhaseRunning}, p.provider.Revision, l.now.Add(-time.Second), l.now.Add(time.Hour), true)
	l.takeList(p, "vm-9")
	if l.fresh(p, "vm-9") {
		t.Error("what was seen before the list is good enough")
	}
	p.seen.see(provider.Machine{ID: "vm-9", Phase: provider.PhaseRunning}, p.provider.Revision, l.now, l.now.Add(time.Hour), true)
	l.takeList(p, "vm-9")
	if !l.fresh(p, "vm-9") {
		t.Error("what was seen after the list is not good enough")
	}
}
