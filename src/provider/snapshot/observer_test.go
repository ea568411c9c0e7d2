package snapshot_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/fake"
	"github.com/example/vmoperator/src/provider/registry"
)

func TestOneListOfAllPagesShowsAllVMsOncePerInterval(t *testing.T) {
	t.Parallel()
	r := newRig(t, 7)
	if wait := r.pass(); !soon(wait, interval) {
		t.Errorf("the next list is due in %s", wait)
	}
	r.wantCalls(3)
	latest := r.observer.Latest(aws)
	if latest.Len() != 7 || latest.Pages != 3 || !latest.Begun.Equal(r.now) || latest.Revision != r.registry.Get(aws).Revision {
		t.Errorf("snapshot %+v", latest)
	}
	machine, shown := latest.Find(r.provider.Live()[6].ID)
	if !shown || machine.Phase != provider.PhaseRunning || machine.Memory != "4Gi" || machine.Labels != nil {
		t.Errorf("the last VM is %+v, shown %t", machine, shown)
	}
	if _, shown := latest.Find("vm-unknown"); shown {
		t.Error("a VM is shown that nobody made")
	}
	// Whoever wakes the observer early does not make it list.
	if wait := r.pass(); !soon(wait, interval) {
		t.Errorf("woken early, it waits %s", wait)
	}
	r.wantCalls(3)
	r.now = r.now.Add(interval * 11 / 10)
	r.pass()
	r.wantCalls(6)
	if diff := cmp.Diff([]bool{true, false}, r.told); diff != "" {
		t.Error(diff)
	}
}

func TestAListThatIsNotCompleteProvesNothing(t *testing.T) {
	t.Parallel()
	for what, fault := range map[string]func(*rig){
		"an error on the second page": func(r *rig) {
			r.provider.Inject(fake.Fault{Op: provider.OperationList, Skip: 1, Class: provider.Transient})
		},
		"a VM that is listed twice": func(r *rig) { r.entry.Client = repeating{r.provider} },
		"a cursor that leads back":  func(r *rig) { r.entry.Client = circling{r.provider} },
	} {
		r := newRig(t, 7)
		fault(r)
		r.registry.Set(aws, r.entry)
		if wait := r.pass(); !soon(wait, interval) {
			t.Errorf("%s: the next list is due in %s", what, wait)
		}
		if latest := r.observer.Latest(aws); latest != nil {
			t.Errorf("%s: it is kept: %+v", what, latest)
		}
		if !r.observer.Tried(aws, r.registry.Get(aws).Revision) {
			t.Errorf("%s: VMs would wait for ever", what)
		}
		if diff := cmp.Diff([]bool{true}, r.told); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
}

// repeating shows the first VM on each page.
type repeating struct{ *fake.Provider }

func (p repeating) List(ctx context.Context, cursor string) (provider.Page, error) {
	page, err := p.Provider.List(ctx, cursor)
	page.Items = append(page.Items, p.Live()[0])
	return page, err
}

// circling never comes to an end.
type circling struct{ *fake.Provider }

func (circling) List(context.Context, string) (provider.Page, error) {
	return provider.Page{Next: "1"}, nil
}

func TestAVMThatIsNotListedAnyMoreIsKnownToHaveBeenForAWhile(t *testing.T) {
	t.Parallel()
	r := newRig(t, 4)
	id := r.provider.Live()[1].ID
	r.pass()
	if r.observer.Latest(aws).Lost(id) {
		t.Error("a VM that is listed is lost")
	}
	r.provider.Vanish(id)
	for range 10 {
		r.now = r.now.Add(interval * 11 / 10)
		r.pass()
		if _, shown := r.observer.Latest(aws).Find(id); shown || !r.observer.Latest(aws).Lost(id) {
			t.Fatal("it is forgotten that the VM was listed before")
		}
	}
	if r.observer.Latest(aws).Lost("vm-unknown") {
		t.Error("a VM is lost that never was")
	}
	r.now = r.now.Add(10 * time.Minute)
	r.pass()
	if r.observer.Latest(aws).Lost(id) {
		t.Error("what was lost is kept for ever")
	}
}

func TestAListThatFailsLeavesTheLastOneAsItIs(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	r.pass()
	before := r.observer.Latest(aws)
	r.now = r.now.Add(2 * interval)
	r.provider.Inject(fake.Fault{Op: provider.OperationList, Class: provider.Transient})
	r.pass()
	if r.observer.Latest(aws) != before {
		t.Error("the last complete list is lost")
	}
	if diff := cmp.Diff([]bool{true}, r.told); diff != "" {
		t.Error(diff)
	}
}

func TestAListGoesOnWhereItWaitedForItsTurn(t *testing.T) {
	t.Parallel()
	r := newRig(t, 7)
	r.provider.Inject(fake.Fault{Op: provider.OperationList, Skip: 1, Class: provider.Throttled, RetryAfter: 5 * time.Second})
	if wait := r.pass(); wait != 5*time.Second {
		t.Errorf("it waits %s for its turn", wait)
	}
	r.now = r.now.Add(5 * time.Second)
	r.pass()
	// Three pages, and the call that was refused.
	r.wantCalls(4)
	if latest := r.observer.Latest(aws); latest == nil || latest.Len() != 7 || r.now.Sub(latest.Begun) != 5*time.Second {
		t.Errorf("%+v is not as old as its first page", latest)
	}
}

func TestAListBeginsAnewWhereItWaitedTooLongOrTheWayHasChanged(t *testing.T) {
	t.Parallel()
	for what, change := range map[string]func(*rig){
		"too long": func(r *rig) { r.now = r.now.Add(11 * time.Minute) },
		"the way": func(r *rig) {
			r.entry.Client = &struct{ *fake.Provider }{r.provider}
			r.registry.Set(aws, r.entry)
		},
	} {
		r := newRig(t, 7)
		r.provider.Inject(fake.Fault{Op: provider.OperationList, Skip: 1, Class: provider.Throttled, RetryAfter: time.Second})
		r.pass()
		r.now = r.now.Add(time.Second)
		change(r)
		r.pass()
		r.wantCalls(5)
		if latest := r.observer.Latest(aws); latest == nil || !latest.Begun.Equal(r.now) {
			t.Errorf("%s: %+v", what, latest)
		}
	}
}

func TestAProviderThatIsNotReadyOrHasNoListsIsNotListed(t *testing.T) {
	t.Parallel()
	for what, change := range map[string]func(*registry.Entry){
		"not ready": func(e *registry.Entry) { e.State = registry.NotReady },
		"held":      func(e *registry.Entry) { e.State = registry.Held },
		"idle":      func(e *registry.Entry) { e.State = registry.Idle },
		"minimum":   func(e *registry.Entry) { e.Capabilities = provider.Capabilities{} },
	} {
		r := newRig(t, 2)
		r.pass()
		change(&r.entry)
		r.registry.Set(aws, r.entry)
		r.now = r.now.Add(2 * interval)
		if wait := r.pass(); wait != 0 {
			t.Errorf("%s: another look in %s", what, wait)
		}
		r.wantCalls(1)
		if r.observer.Latest(aws) != nil {
			t.Errorf("%s: what was listed before is kept", what)
		}
	}
}

func TestAnotherWayToTheProviderIsListedAtOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	r.pass()
	before := r.registry.Get(aws).Revision
	r.entry.Client = &struct{ *fake.Provider }{r.provider}
	r.registry.Set(aws, r.entry)
	after := r.registry.Get(aws).Revision
	if !r.observer.Tried(aws, before) || r.observer.Tried(aws, after) {
		t.Error("what was tried is not told apart")
	}
	r.pass()
	r.wantCalls(2)
	if !r.observer.Tried(aws, after) {
		t.Error("the new way was not tried")
	}
	if diff := cmp.Diff([]bool{true, true}, r.told); diff != "" {
		t.Error(diff)
	}
}

func TestListsAreBriskWhileAsManyVMsAreAwaitedAsThereArePages(t *testing.T) {
	t.Parallel()
	r := newRig(t, 7)
	r.observer.Await(aws, "too early", true)
	r.pass()
	for i, want := range []bool{false, false, true, true} {
		r.observer.Await(aws, fmt.Sprint("vm-", i), true)
		if got := r.observer.Brisk(aws); got != want {
			t.Errorf("%d VMs awaited, 3 pages: brisk is %t", i+1, got)
		}
	}
	if wait := r.pass(); wait != brisk {
		t.Errorf("the next list is due in %s", wait)
	}
	r.now = r.now.Add(brisk)
	r.pass()
	r.wantCalls(6)
	r.told = nil
	for i, want := range []bool{true, false, false, false} {
		r.observer.Await(aws, fmt.Sprint("vm-", i), false)
		if got := r.observer.Brisk(aws); got != want {
			t.Errorf("%d VMs awaited, 3 pages: brisk is %t", 3-i, got)
		}
	}
	// Told once: when those that are left must be looked at one by one.
	if diff := cmp.Diff([]bool{false}, r.told); diff != "" {
		t.Error(diff)
	}
	if wait := r.pass(); !soon(wait, interval) {
		t.Errorf("the next list is due in %s", wait)
	}
}

func TestAListIsCutOffWhenTheOperatorStops(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	ctx, cancel := context.WithCancel(t.Context())
	r.provider.Inject(fake.Fault{Op: provider.OperationList, Block: make(chan struct{}), Hook: func(fake.Entry) { cancel() }})
	r.passWith(ctx)
	if len(r.told) > 0 || r.observer.Tried(aws, r.registry.Get(aws).Revision) {
		t.Error("a list that was cut off is told of")
	}
}

func TestCredentialsThatAreRefusedAreDoubted(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	doubted := 0
	r.registry.Listen(registry.Doubted, func(types.NamespacedName) { doubted++ })
	r.provider.Inject(fake.Fault{Op: provider.OperationList, Class: provider.Unauthorized})
	r.pass()
	if doubted != 1 {
		t.Errorf("doubted %d times", doubted)
	}
}
