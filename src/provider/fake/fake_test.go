package fake_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/conformance/suite"
	"github.com/example/vmoperator/src/provider/fake"
)

var order = provider.CreateRequest{Name: "web", Image: "ubuntu", CPU: 1, Memory: "1Gi"}

func full() *fake.Provider {
	return fake.New(fake.Options{Capabilities: fake.Full(), Phase: provider.PhaseRunning})
}

func create(t *testing.T, p *fake.Provider, key string) string {
	t.Helper()
	made, err := p.Create(t.Context(), key, order)
	if err != nil {
		t.Fatal(err)
	}
	return made.ID
}

func TestTheFakeConforms(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]fake.Options{
		"everything":      {Capabilities: fake.Full(), Phase: provider.PhaseRunning},
		"the minimum":     {Phase: provider.PhaseRunning, ForgivingDelete: true},
		"small pages":     {Capabilities: fake.Full(), Phase: provider.PhaseRunning, PageSize: 1},
		"slow to show":    {Phase: provider.PhaseRunning, HiddenReads: 2},
		"without address": {Capabilities: fake.Full(), Phase: provider.PhaseRunning, NoAddresses: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := fake.New(options)
			suite.Run(t, p)
			if live := p.Live(); len(live) != 0 {
				t.Errorf("left: %+v", live)
			}
		})
	}
}

func TestAFaultBeforeTheEffectPreventsItAndOneAfterHidesIt(t *testing.T) {
	t.Parallel()
	for when, effect := range map[fake.When]bool{fake.Before: false, fake.After: true} {
		p := full()
		p.Inject(fake.Fault{
			Op: provider.OperationCreate, When: when, Class: provider.Ambiguous, Cause: provider.CauseTimeout, RetryAfter: time.Second,
		})
		_, err := p.Create(t.Context(), "k", order)
		failure, ok := errors.AsType[*provider.Error](err)
		if !ok || failure.Op != provider.OperationCreate || failure.Class != provider.Ambiguous ||
			failure.Cause != provider.CauseTimeout || failure.RetryAfter != time.Second {
			t.Errorf("error %#v", err)
		}
		if made := len(p.Live()) == 1; made != effect {
			t.Errorf("made a VM: %t, want %t", made, effect)
		}
		create(t, p, "k")
		first := fake.Entry{Seq: 1, Op: provider.OperationCreate, Key: "k", Class: provider.Ambiguous, Effect: effect}
		if effect {
			first.ID = "vm-1"
		}
		want := []fake.Entry{first, {Seq: 2, Op: provider.OperationCreate, Key: "k", ID: "vm-1", Effect: !effect}}
		if diff := cmp.Diff(want, p.Ledger()); diff != "" {
			t.Error(diff)
		}
		if effects := p.Effects()[provider.OperationCreate]; effects != 1 || p.Counts()[provider.OperationCreate] != 2 {
			t.Errorf("%d effects of %v", effects, p.Counts())
		}
	}
}

func TestAFaultActsOnTheCallsThatItIsMeantFor(t *testing.T) {
	t.Parallel()
	p := full()
	id, other := create(t, p, "k1"), create(t, p, "k2")
	p.Inject(fake.Fault{Op: provider.OperationGet, Match: id, Skip: 1, Count: 2, Class: provider.Transient})
	var got []bool
	for range 4 {
		_, err := p.Get(t.Context(), id)
		got = append(got, err != nil)
		if _, err := p.Get(t.Context(), other); err != nil {
			t.Error(err)
		}
	}
	if diff := cmp.Diff([]bool{false, true, true, false}, got); diff != "" {
		t.Error(diff)
	}
	p.Inject(fake.Fault{Count: fake.Forever, Class: provider.Unauthorized})
	for range 5 {
		if err := p.Delete(t.Context(), id); provider.ClassOf(err) != provider.Unauthorized {
			t.Error(err)
		}
	}
	p.ClearFaults()
	if err := p.Delete(t.Context(), id); err != nil {
		t.Error(err)
	}
}

func TestABlockedCallWaitsForItsReleaseOrItsContext(t *testing.T) {
	t.Parallel()
	p := full()
	release := make(chan struct{})
	entered := make(chan fake.Entry, 1)
	// The hook calls the provider, as a test that deletes a VM meanwhile would.
	p.Inject(fake.Fault{When: fake.After, Block: release, Hook: func(e fake.Entry) { p.Vanish(e.ID); entered <- e }})
	done := make(chan error, 1)
	go func() {
		_, err := p.Create(context.WithoutCancel(t.Context()), "k", order)
		done <- err
	}()
	if entry := <-entered; entry.ID != "vm-1" || !entry.Effect {
		t.Errorf("the hook saw %+v", entry)
	}
	if live := p.Live(); len(live) != 0 {
		t.Errorf("live: %v", live)
	}
	close(release)
	if err := <-done; err != nil {
		t.Error(err)
	}
	for op, want := range map[provider.Operation]provider.Class{
		provider.OperationCreate: provider.Ambiguous, provider.OperationGet: provider.Transient,
	} {
		ctx, cancel := context.WithCancel(t.Context())
		p.Inject(fake.Fault{Op: op, Block: make(chan struct{}), Hook: func(fake.Entry) { cancel() }})
		var err error
		if op == provider.OperationCreate {
			_, err = p.Create(ctx, "k2", order)
		} else {
			_, err = p.Get(ctx, "vm-1")
		}
		if provider.ClassOf(err) != want || !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want %s", op, err, want)
		}
	}
}

func TestTheTestMovesAVMThroughItsLife(t *testing.T) {
	t.Parallel()
	p := fake.New(fake.Options{Capabilities: fake.Full(), SlowDelete: true})
	id := create(t, p, "k")
	phase := func() provider.Phase {
		shown, err := p.Get(t.Context(), id)
		if err != nil {
			return provider.Phase(provider.ClassOf(err).String())
		}
		return shown.Phase
	}
	steps := []provider.Phase{phase()}
	p.Provision()
	steps = append(steps, phase())
	p.SetPhase(id, "Migrating")
	steps = append(steps, phase())
	if err := p.Delete(t.Context(), id); err != nil {
		t.Error(err)
	}
	steps = append(steps, phase())
	if err := p.Delete(t.Context(), id); err != nil {
		t.Error(err)
	}
	p.Finish()
	steps = append(steps, phase())
	want := []provider.Phase{provider.PhaseProvisioning, provider.PhaseRunning, "Migrating", provider.PhaseDeleting, "not_found"}
	if diff := cmp.Diff(want, steps); diff != "" {
		t.Error(diff)
	}
	if p.SetPhase(id, provider.PhaseRunning) || p.Vanish(id) || p.Effects()[provider.OperationDelete] != 1 {
		t.Error("what is gone can still be changed")
	}
}

func TestAVMJustMadeIsHiddenFromItsFirstReads(t *testing.T) {
	t.Parallel()
	p := full()
	p.SetHiddenReads(3)
	id := create(t, p, "k")
	_, getErr := p.Get(t.Context(), id)
	_, findErr := p.FindByKey(t.Context(), "k")
	page, listErr := p.List(t.Context(), "")
	if provider.ClassOf(getErr) != provider.NotFound || provider.ClassOf(findErr) != provider.NotFound ||
		listErr != nil || len(page.Items) != 0 || len(p.Live()) != 1 {
		t.Errorf("%v, %v, %v %v", getErr, findErr, page, listErr)
	}
	if _, err := p.Get(t.Context(), id); err != nil {
		t.Error(err)
	}
}

func TestWithoutACapabilityItsCallsAreRefused(t *testing.T) {
	t.Parallel()
	p := full()
	id := create(t, p, "k")
	p.SetCapabilities(provider.Capabilities{})
	_, findErr := p.FindByKey(t.Context(), "k")
	_, listErr := p.List(t.Context(), "")
	_, resizeErr := p.Resize(t.Context(), id, provider.Size{CPU: 2})
	for _, err := range []error{findErr, listErr, resizeErr} {
		if provider.ClassOf(err) != provider.Rejected || provider.CauseOf(err) != provider.CauseProtocol {
			t.Error(err)
		}
	}
	if again := create(t, p, "k"); again == id {
		t.Error("the key made one VM without idempotency")
	}
}

func TestWhatIsReturnedCannotChangeWhatIsKept(t *testing.T) {
	t.Parallel()
	p := full()
	labelled := order
	labelled.Labels = map[string]string{"a": "b"}
	made, err := p.Create(t.Context(), "k", labelled)
	if err != nil {
		t.Fatal(err)
	}
	made.Labels["a"], made.Addresses[0], labelled.Labels["a"] = "x", "x", "x"
	p.Live()[0].Labels["a"] = "x"
	if shown, err := p.Get(t.Context(), made.ID); err != nil || shown.Labels["a"] != "b" || shown.Addresses[0] == "x" {
		t.Errorf("%+v, error %v", shown, err)
	}
}

func TestAVMThatWasThereBeforeIsFoundByItsKey(t *testing.T) {
	t.Parallel()
	p := full()
	id := p.Put(provider.Machine{Name: order.Name, Image: order.Image, CPU: order.CPU, Memory: order.Memory}, "k")
	if again := create(t, p, "k"); again != id {
		t.Errorf("%s, want %s", again, id)
	}
	p.Reset()
	create(t, p, "k2")
	if ledger := p.Ledger(); len(ledger) != 1 || ledger[0].Seq != 2 {
		t.Errorf("%+v", ledger)
	}
}

func TestManyCallersOfOneKeyMakeOneVM(t *testing.T) {
	t.Parallel()
	p := full()
	var callers sync.WaitGroup
	for range 50 {
		callers.Go(func() {
			if _, err := p.Create(context.Background(), "k", order); err != nil {
				t.Error(err)
			}
		})
	}
	callers.Wait()
	if len(p.Live()) != 1 || p.Effects()[provider.OperationCreate] != 1 || p.Counts()[provider.OperationCreate] != 50 {
		t.Errorf("%d VMs, effects %v", len(p.Live()), p.Effects())
	}
}

func TestWhatIsThereIsFoundByIDAndByKeyAndWhatIsGoneIsNot(t *testing.T) {
	t.Parallel()
	// Without idempotency, one key makes many VMs.
	p := fake.New(fake.Options{Capabilities: provider.Capabilities{Offered: []string{provider.CapabilityList}}})
	first, second, keyless := create(t, p, "k"), create(t, p, "k"), create(t, p, "")
	for _, gone := range []string{first, second} {
		if found, err := p.FindByKey(t.Context(), "k"); err != nil || found.ID != gone {
			t.Errorf("found %q, error %v, want %q", found.ID, err, gone)
		}
		if err := p.Delete(t.Context(), gone); err != nil {
			t.Error(err)
		}
		if _, there := p.Find(gone); there {
			t.Errorf("%s is still there", gone)
		}
	}
	if _, err := p.FindByKey(t.Context(), "k"); provider.ClassOf(err) != provider.NotFound {
		t.Errorf("found what is gone: %v", err)
	}
	if found, there := p.Find(keyless); !there || found.ID != keyless {
		t.Errorf("%+v", found)
	}
	if live := p.Live(); len(live) != 1 || live[0].ID != keyless {
		t.Errorf("%+v", live)
	}
}
