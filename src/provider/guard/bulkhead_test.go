package guard

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/example/vmoperator/src/provider"
)

// hull is a Bulkhead with cells, in a time that only the test moves.
type hull struct {
	*Bulkhead

	now   time.Time
	cells map[string]*cell
	// heard are the callers that were woken, and not taken off since.
	heard []string
}

func newHull(workers int, providers ...string) *hull {
	h := &hull{now: noon, cells: map[string]*cell{}}
	h.Bulkhead = NewBulkhead(workers, func() time.Time { return h.now })
	h.Listen(func(caller string) { h.heard = append(h.heard, caller) })
	for _, name := range providers {
		h.cells[name] = newCell(h.Bulkhead, name, NewCircuit(nil))
	}
	return h
}

// asks makes a call for a caller whose name begins with its provider's; nil if it is
// refused.
func (h *hull) asks(caller string) (*flight, *provider.Error) {
	defer h.tell()
	info := provider.CallInfo{Caller: caller, Worker: true}
	f, err := h.of(caller).enter(provider.OperationGet, info, h.now)
	refusal, _ := errors.AsType[*provider.Error](err)
	return f, refusal
}

func (h *hull) of(caller string) *cell {
	name, _, _ := strings.Cut(caller, "-")
	return h.cells[name]
}

// ends ends a call of a provider.
func (h *hull) ends(name string, f *flight, err error) {
	h.cells[name].exit(f, err, h.now)
	h.tell()
}

// taken are the callers that were woken since it was last asked.
func (h *hull) taken() []string {
	heard := h.heard
	h.heard = nil
	return heard
}

func (h *hull) mustLet(t *testing.T, caller string) *flight {
	t.Helper()
	f, refusal := h.asks(caller)
	if f == nil {
		t.Fatalf("%s is refused: %v", caller, refusal)
	}
	return f
}

func (h *hull) mustRefuse(t *testing.T, caller string, cause provider.Cause) time.Duration {
	t.Helper()
	f, refusal := h.asks(caller)
	if f != nil || refusal.Class != provider.Throttled || refusal.Cause != cause || refusal.RetryAfter <= 0 {
		t.Fatalf("%s: let through %t, refused %+v", caller, f != nil, refusal)
	}
	return refusal.RetryAfter
}

func (h *hull) mustWake(t *testing.T, callers ...string) {
	t.Helper()
	if diff := cmp.Diff(callers, h.taken()); diff != "" {
		t.Fatalf("woken:\n%s", diff)
	}
}

var errSilent = &provider.Error{Class: provider.Transient, Cause: provider.CauseTimeout, Err: errors.New("no answer")}

func TestAProviderGetsItsShareOfTheWorkers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ workers, providers, share int }{
		{1, 1, 1}, {5, 1, 5}, {1, 2, 1}, {3, 2, 1}, {5, 2, 1}, {8, 2, 2}, {16, 3, 4},
	} {
		names := []string{"a", "b", "c"}[:test.providers]
		h := newHull(test.workers, names...)
		for number := range test.share {
			h.mustLet(t, fmt.Sprintf("a-%d", number))
		}
		if after := h.mustRefuse(t, "a-late", provider.CauseBulkhead); after < parkedFor {
			t.Errorf("%+v: a parked caller is told to come back after %v", test, after)
		}
	}
}

func TestOneWorkerIsLeftToProvidersThatAreNotBlocked(t *testing.T) {
	t.Parallel()
	names := []string{"a", "b", "c", "d", "e", "f"}
	h := newHull(4, names...)
	for _, name := range names[:3] {
		h.mustLet(t, name+"-1")
	}
	d := h.mustLet(t, "d-1")
	h.now = h.now.Add(slow)
	// d's call fails: it is blocked as the others are, and the last worker is not for it.
	h.ends("d", d, errSilent)
	h.mustRefuse(t, "d-1", provider.CauseBulkhead)
	h.ends("e", h.mustLet(t, "e-1"), nil)
	h.mustWake(t)
	// One of the blocked ones gives its worker back.
	a := slices.Collect(func(yield func(*flight) bool) {
		for f := range h.cells["a"].flights {
			yield(f)
		}
	})
	h.ends("a", a[0], errSilent)
	h.mustWake(t, "d-1")
	h.mustLet(t, "d-1")
}

func TestAProviderThatAnswersInTimeIsNotBlockedAnyMore(t *testing.T) {
	t.Parallel()
	h := newHull(8, "a", "b")
	f := h.mustLet(t, "a-1")
	h.now = h.now.Add(slow)
	h.ends("a", f, nil)
	if !h.cells["a"].blocked(h.now) {
		t.Error("an answer that took long is taken for a provider that is well")
	}
	h.ends("a", h.mustLet(t, "a-1"), nil)
	if h.cells["a"].blocked(h.now) {
		t.Error("blocked though it answers")
	}
}

func TestAFreedPermitLetsExactlyOneInAndTheFirstThatCame(t *testing.T) {
	t.Parallel()
	h := newHull(4, "a", "b")
	f := h.mustLet(t, "a-1")
	for _, caller := range []string{"a-2", "a-3", "a-2", "a-4"} {
		h.mustRefuse(t, caller, provider.CauseBulkhead)
	}
	h.mustWake(t)
	for _, next := range []string{"a-2", "a-3", "a-4"} {
		h.ends("a", f, nil)
		h.mustWake(t, next)
		// The permit is kept for whoever was woken.
		h.mustRefuse(t, "a-new-"+next, provider.CauseBulkhead)
		f = h.mustLet(t, next)
	}
}

func TestAPermitThatIsNotUsedGoesToTheNext(t *testing.T) {
	t.Parallel()
	for name, leaves := range map[string]func(*hull){
		"for its caller has nothing to ask": func(h *hull) { h.Begin("a-2")() },
		"for its caller does not come":      func(h *hull) { h.now = h.now.Add(offerKept + 1); h.ends("b", h.mustLetAny("b-1"), nil) },
	} {
		h := newHull(4, "a", "b")
		f := h.mustLet(t, "a-1")
		h.mustRefuse(t, "a-2", provider.CauseBulkhead)
		h.mustRefuse(t, "a-3", provider.CauseBulkhead)
		h.ends("a", f, nil)
		h.mustWake(t, "a-2")
		leaves(h)
		if diff := cmp.Diff([]string{"a-3"}, h.taken()); diff != "" {
			t.Errorf("%s: woken:\n%s", name, diff)
		}
		h.mustRefuse(t, "a-2", provider.CauseBulkhead)
		h.mustLet(t, "a-3")
	}
}

// mustLetAny is mustLet for where there is no test at hand.
func (h *hull) mustLetAny(caller string) *flight {
	f, refusal := h.asks(caller)
	if f == nil {
		panic(refusal)
	}
	return f
}

func TestAReservedPermitIsForItsCallerAndIsGivenBackIfItIsNotUsed(t *testing.T) {
	t.Parallel()
	h := newHull(4, "a", "b")
	reserve := func(caller string) error {
		defer h.tell()
		return h.of(caller).reserve(provider.OperationCreate, provider.CallInfo{Caller: caller, Worker: true}, h.now)
	}
	if err := reserve("a-1"); err != nil {
		t.Fatal(err)
	}
	if err := reserve("a-2"); provider.CauseOf(err) != provider.CauseBulkhead {
		t.Fatalf("a second permit: %v", err)
	}
	f := h.mustLet(t, "a-1")
	h.ends("a", f, nil)
	h.mustWake(t, "a-2")
	if err := reserve("a-2"); err != nil {
		t.Fatalf("the permit that it was woken for: %v", err)
	}
	h.mustRefuse(t, "a-3", provider.CauseBulkhead)
	h.Begin("a-2")()
	h.mustWake(t, "a-3")
}

func TestAPermitThatIsFreedWhileItsCallerIsAtWorkIsKept(t *testing.T) {
	t.Parallel()
	h := newHull(4, "a", "b")
	f := h.mustLet(t, "a-1")
	end := h.Begin("a-2")
	h.mustRefuse(t, "a-2", provider.CauseBulkhead)
	h.ends("a", f, nil)
	h.mustWake(t, "a-2")
	end()
	h.mustWake(t)
	h.mustLet(t, "a-2")
}

func TestWhoeverIsParkedIsWokenWhenTheClientIsClosed(t *testing.T) {
	t.Parallel()
	h := newHull(4, "a", "b", "c")
	f := h.mustLet(t, "a-1")
	h.mustRefuse(t, "a-2", provider.CauseBulkhead)
	h.mustRefuse(t, "a-3", provider.CauseBulkhead)
	h.leave(h.cells["a"])
	h.mustWake(t, "a-2", "a-3")
	// Nobody would wake who is parked there now.
	if after := h.mustRefuse(t, "a-2", provider.CauseBulkhead); after > 2*slow {
		t.Errorf("told to come back after %v", after)
	}
	h.leave(h.cells["a"])
	h.ends("a", f, nil)
	if len(h.Bulkhead.cells) != 2 || len(h.clients) != 2 || len(h.permits) != 0 {
		t.Errorf("left: %d cells, %v, %v", len(h.Bulkhead.cells), h.clients, h.permits)
	}
}

func TestClientsThatReplaceEachOtherAreOneProvider(t *testing.T) {
	t.Parallel()
	h := newHull(5, "a")
	f := h.mustLet(t, "a-1")
	old := h.cells["a"]
	h.cells["a"] = newCell(h.Bulkhead, "a", NewCircuit(nil))
	for _, caller := range []string{"a-2", "a-3", "a-4", "a-5"} {
		h.mustLet(t, caller)
	}
	// The old one's call holds a worker as well.
	h.mustRefuse(t, "a-6", provider.CauseBulkhead)
	h.leave(old)
	old.exit(f, nil, h.now)
	h.tell()
	h.mustWake(t, "a-6")
}

func TestWhileTheCircuitIsOpenOneCallerComesBackForAll(t *testing.T) {
	t.Parallel()
	h := newHull(4, "a", "b")
	for range failuresOpen {
		h.ends("a", h.mustLet(t, "a-1"), errSilent)
	}
	if after := h.mustRefuse(t, "a-2", provider.CauseCircuit); after < openFirst || after > 2*openFirst {
		t.Errorf("the first is told to come back after %v", after)
	}
	for _, caller := range []string{"a-3", "a-4"} {
		if after := h.mustRefuse(t, caller, provider.CauseCircuit); after < parkedFor {
			t.Errorf("%s is told to come back after %v", caller, after)
		}
	}
	h.mustWake(t)
	h.now = h.now.Add(openFirst)
	trial := h.mustLet(t, "a-2")
	h.mustRefuse(t, "a-5", provider.CauseCircuit)
	h.ends("a", trial, nil)
	h.mustWake(t, "a-3")
	h.ends("a", h.mustLet(t, "a-3"), nil)
	h.mustWake(t, "a-4")
}

func TestCallsOfNoWorkerTakeNoShareAndMeetTheCircuit(t *testing.T) {
	t.Parallel()
	h := newHull(4, "a", "b")
	for range 10 {
		if _, err := h.cells["a"].enter(provider.OperationList, provider.CallInfo{}, h.now); err != nil {
			t.Fatal(err)
		}
	}
	h.mustLet(t, "a-1")
	f, err := h.cells["b"].enter(provider.OperationList, provider.CallInfo{}, h.now)
	for range failuresOpen {
		if err != nil {
			t.Fatal(err)
		}
		h.cells["b"].exit(f, errSilent, h.now)
		f, err = h.cells["b"].enter(provider.OperationList, provider.CallInfo{}, h.now)
	}
	if provider.CauseOf(err) != provider.CauseCircuit || provider.RetryAfterOf(err) > 2*openFirst {
		t.Errorf("error %v", err)
	}
	if _, err := h.cells["b"].enter(provider.OperationCapabilities, provider.CallInfo{}, h.now); err != nil {
		t.Errorf("the probe is held back: %v", err)
	}
}
