package guard

import (
	"context"
	"testing"

	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/fake"
)

func TestOfAllProvidersWhoeverHasWaitedLongestIsFirst(t *testing.T) {
	t.Parallel()
	for _, waiting := range [][]string{{"c-1", "d-1"}, {"d-1", "c-1"}} {
		h := newHull(3, "a", "b", "c", "d")
		// Two workers are all that blocked providers may hold.
		for _, name := range []string{"a", "b", "c", "d"} {
			h.cells[name].troubled = true
		}
		first := h.mustLet(t, "a-1")
		h.mustLet(t, "b-1")
		for _, caller := range waiting {
			h.mustRefuse(t, caller, provider.CauseBulkhead)
		}
		h.ends("a", first, errSilent)
		h.mustWake(t, waiting[0])
	}
}

func TestTheEndOfACallersWorkTakesNoPermitThatItWasWokenForMeanwhile(t *testing.T) {
	t.Parallel()
	h := newHull(4, "a", "b")
	f := h.mustLet(t, "a-1")
	h.mustRefuse(t, "a-2", provider.CauseBulkhead)
	h.ends("a", f, nil)
	h.mustWake(t, "a-2")
	end := h.Begin("a-2")
	f = h.mustLet(t, "a-2")
	// Its second call in the same pass is too many, and then there is room again.
	h.mustRefuse(t, "a-2", provider.CauseBulkhead)
	h.mustRefuse(t, "a-3", provider.CauseBulkhead)
	h.ends("a", f, nil)
	h.mustWake(t, "a-2")
	end()
	h.mustWake(t)
	h.mustLet(t, "a-2")
}

func TestTheTrialIsForTheOneThatWasWokenForIt(t *testing.T) {
	t.Parallel()
	h := newHull(16, "a", "b")
	for range failuresOpen {
		h.ends("a", h.mustLet(t, "a-1"), errSilent)
	}
	h.mustRefuse(t, "a-1", provider.CauseCircuit)
	h.mustRefuse(t, "a-2", provider.CauseCircuit)
	h.now = h.now.Add(openFirst)
	h.mustRefuse(t, "a-2", provider.CauseCircuit)
	h.mustWake(t, "a-1")
	h.mustLet(t, "a-1")
}

func TestAfterATrialThatFailedAnotherCallerComesBackForAll(t *testing.T) {
	t.Parallel()
	h := newHull(4, "a", "b")
	for range failuresOpen {
		h.ends("a", h.mustLet(t, "a-1"), errSilent)
	}
	h.mustRefuse(t, "a-2", provider.CauseCircuit)
	h.now = h.now.Add(openFirst)
	h.ends("a", h.mustLet(t, "a-2"), errSilent)
	if after := h.mustRefuse(t, "a-3", provider.CauseCircuit); after < 2*openFirst || after > 3*openFirst {
		t.Errorf("told to come back after %v", after)
	}
}

func TestACallThatTheRateLimitHoldsBackHoldsNoPermit(t *testing.T) {
	t.Parallel()
	h := newHull(4, "b")
	client := New(fake.New(fake.Options{}), Options{QPS: 1, Burst: 1, Now: h.now.Local, Bulkhead: h.Bulkhead, Provider: "a"})
	ctx := func(caller string) context.Context {
		return provider.WithCallInfo(t.Context(), provider.CallInfo{Caller: caller, Worker: true})
	}
	wants := func(what string, err error, cause provider.Cause) {
		t.Helper()
		if got := provider.CauseOf(err); got != cause {
			t.Errorf("%s: %q, want %q", what, got, cause)
		}
	}
	_, err := client.Get(ctx("a-1"), "vm-1")
	wants("the first call", err, "")
	_, err = client.Get(ctx("a-2"), "vm-1")
	wants("a call over the limit", err, provider.CauseLocalLimit)
	wants("a reservation over the limit", client.Reserve(ctx("a-3"), provider.OperationCreate), provider.CauseLocalLimit)
	if len(h.permits) != 0 || len(h.offers) != 0 {
		t.Errorf("permits %v, offers %v", h.permits, h.offers)
	}
}
