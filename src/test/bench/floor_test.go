package main

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// record is who got which writes.
type record struct {
	mu    sync.Mutex
	begun map[int]bool
	made  counts
	// done are the objects that got their last write of a kind.
	done map[string]int
	bad  []string
}

func (r *record) phase() phase {
	do := func(call string) write {
		return write{call: call, aside: call == createEvent, do: func(_ context.Context, i int, last bool) error {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.made[call]++
			if !r.begun[i] {
				r.bad = append(r.bad, call+" before its object was there")
			}
			if last {
				r.done[call]++
			}
			return nil
		}}
	}
	return phase{
		begin: func(_ context.Context, i int) error {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.begun[i] = true
			return nil
		},
		writes: []write{do(createDeployment), do(patchStatus), do(createEvent)},
	}
}

func TestTheFloorMakesAllWritesThatTheOperatorMade(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "objects")
		made := counts{}
		for _, call := range []string{createDeployment, patchStatus, createEvent} {
			made[call] = rapid.IntRange(n, 4*n).Draw(t, call)
		}
		r := &record{begun: map[int]bool{}, made: counts{}, done: map[string]int{}}
		if err := floor(context.Background(), r.phase(), n, 3, made); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(made, r.made); diff != "" {
			t.Error(diff)
		}
		for call := range made {
			if r.done[call] != n {
				t.Errorf("%d objects of %d got their last %s", r.done[call], n, call)
			}
		}
		for _, problem := range r.bad {
			t.Error(problem)
		}
	})
}

func TestAWriteThatFailsEndsTheFloor(t *testing.T) {
	t.Parallel()
	refused := errors.New("refused")
	for name, p := range map[string]phase{
		"what the user does":  {begin: func(context.Context, int) error { return refused }},
		"a write":             {begin: nothing, writes: []write{{call: "x", do: func(context.Context, int, bool) error { return refused }}}},
		"a write beside them": {begin: nothing, writes: []write{{call: "x", aside: true, do: func(context.Context, int, bool) error { return refused }}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := floor(t.Context(), p, 100, 2, counts{"x": 100}); !errors.Is(err, refused) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func nothing(context.Context, int) error { return nil }
