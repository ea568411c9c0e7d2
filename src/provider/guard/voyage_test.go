package guard

import (
	"errors"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/example/vmoperator/src/provider"
)

// voyage is a hull over any schedule, and what must be true of it.
type voyage struct {
	*hull

	flying map[string]*flight
	// parked are the callers that wait, in their order, by provider.
	parked map[string][]string
	woken  []string
}

// asked makes a call and follows what comes of it.
func (v *voyage) asked(t *rapid.T, caller string) {
	s := v.of(caller)
	name := s.provider
	if v.flying[caller] != nil {
		return
	}
	f, refusal := v.asks(caller)
	switch {
	case f != nil:
		v.flying[caller] = f
		if held := len(s.flights) + s.offered; held > max(1, v.workers/shares) {
			t.Fatalf("%s holds %d permits of %d workers", name, held, v.workers)
		}
		if s.blocked(v.now) && v.heldByBlocked(v.now) > max(1, v.workers-1) {
			t.Fatalf("blocked providers hold %d of %d workers", v.heldByBlocked(v.now), v.workers)
		}
		if s.breaker.open && !f.trial {
			t.Fatalf("%s: a call is let through an open circuit", name)
		}
	case refusal.Class != provider.Throttled || refusal.RetryAfter <= 0:
		t.Fatalf("%+v", refusal)
	case !slices.Contains(v.parked[name], caller):
		v.parked[name] = append(v.parked[name], caller)
	}
}

// listens compares who was woken with who came first.
func (v *voyage) listens(t *rapid.T) {
	for _, caller := range v.taken() {
		name := v.of(caller).provider
		if len(v.parked[name]) == 0 || v.parked[name][0] != caller {
			t.Fatalf("%s is woken, and %v wait", caller, v.parked[name])
		}
		v.parked[name] = v.parked[name][1:]
		v.woken = append(v.woken, caller)
	}
}

// comes lets the first that was woken come, who may have nothing to ask any more.
func (v *voyage) comes(t *rapid.T, asks bool) {
	if len(v.woken) == 0 {
		return
	}
	caller := v.woken[0]
	v.woken = v.woken[1:]
	end := v.Begin(caller)
	if asks {
		v.asked(t, caller)
	}
	end()
}

func (v *voyage) lands(caller string, err error) {
	f := v.flying[caller]
	delete(v.flying, caller)
	v.ends(v.of(caller).provider, f, err)
}

// arrives ends all that is under way, and reports whether everybody had their turn.
func (v *voyage) arrives(t *rapid.T) {
	for range 10_000 {
		v.now = v.now.Add(slow / 2)
		for caller := range v.flying {
			v.lands(caller, nil)
		}
		v.listens(t)
		v.comes(t, true)
		waiting := len(v.woken) + len(v.flying)
		for name, callers := range v.parked {
			waiting += len(callers)
			if len(callers) > 0 && v.cells[name].breaker.open {
				// Whoever was told to come back does.
				v.asked(t, name+"-alarm")
			}
		}
		if waiting == 0 {
			return
		}
	}
	t.Fatalf("still parked: %v, woken %v", v.parked, v.woken)
}

// TestTheBulkheadOverAnySchedule: no provider holds more than its share, blocked
// ones leave a worker to the others, places are first in, first out, and nobody
// waits for ever.
func TestTheBulkheadOverAnySchedule(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := &voyage{
			hull:   newHull(rapid.IntRange(1, 20).Draw(t, "workers"), "a", "b", "c"),
			flying: map[string]*flight{}, parked: map[string][]string{},
		}
		errs := []error{nil, nil, errSilent, &provider.Error{Class: provider.NotFound, Err: errors.New("not there")}}
		t.Repeat(map[string]func(*rapid.T){
			"time passes": func(t *rapid.T) {
				v.now = v.now.Add(time.Duration(rapid.Int64Range(0, int64(5*time.Second)).Draw(t, "by")))
			},
			"a caller comes": func(t *rapid.T) { v.asked(t, rapid.StringMatching(`[abc]-[1-9]`).Draw(t, "caller")) },
			"a call ends": func(t *rapid.T) {
				if len(v.flying) > 0 {
					callers := slices.Sorted(func(yield func(string) bool) {
						for caller := range v.flying {
							if !yield(caller) {
								return
							}
						}
					})
					v.lands(rapid.SampledFrom(callers).Draw(t, "whose"), rapid.SampledFrom(errs).Draw(t, "error"))
				}
			},
			"a woken caller comes": func(t *rapid.T) { v.comes(t, rapid.Bool().Draw(t, "asks")) },
			"":                     func(t *rapid.T) { v.listens(t) },
		})
		v.arrives(t)
		if len(v.offers) != 0 || len(v.permits) != 0 {
			t.Fatalf("left: offers %v, permits %v", v.offers, v.permits)
		}
	})
}
