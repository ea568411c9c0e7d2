package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// ending is something that has ended, in the way of the error.
type ending struct{ error }

func (e ending) alive() error { return e.error }

func TestAWaitEndsWhenItSeesWhatItWaitsFor(t *testing.T) {
	t.Parallel()
	looks := 0
	var reported []string
	err := lookUntil(t.Context(), always{}, "the third look", func(seen string) { reported = append(reported, seen) },
		func(context.Context) (string, bool) {
			looks++
			return fmt.Sprint(looks), looks == 3
		})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"1", "2"}, reported); diff != "" {
		t.Error(diff)
	}
}

func TestAWaitInVainSaysWhatWasExpectedAndSeen(t *testing.T) {
	t.Parallel()
	slow := errors.New("not within 1 ms")
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Millisecond, slow)
	defer cancel()
	err := lookUntil(ctx, always{}, "my-vm to run", func(string) {}, func(ctx context.Context) (string, bool) {
		if ctx.Err() != nil {
			return "a call that was cut short", false
		}
		return "Provisioning", false
	})
	if !errors.Is(err, slow) {
		t.Fatalf("error %v", err)
	}
	if diff := cmp.Diff("waiting for my-vm to run: not within 1 ms; seen last: Provisioning", err.Error()); diff != "" {
		t.Error(diff)
	}
}

func TestNobodyWaitsForWhatHasEnded(t *testing.T) {
	t.Parallel()
	crashed := errors.New("exit status 2")
	err := lookUntil(t.Context(), ending{crashed}, "my-vm to run", func(string) {},
		func(context.Context) (string, bool) { return "Provisioning", false })
	if !errors.Is(err, crashed) {
		t.Errorf("error %v", err)
	}
}

func TestStepsAreNumberedAndTheFirstFailureEndsTheStory(t *testing.T) {
	t.Parallel()
	s := newSheet()
	broken := errors.New("the VM is gone")
	steps := []step{
		{"a VM is made", func(context.Context, *tour) error { s.clock.Step(time.Second); return nil }},
		{"it stays", func(context.Context, *tour) error { return broken }},
		{"it is deleted", func(context.Context, *tour) error { t.Error("told after the failure"); return nil }},
	}
	passed, err := tell(t.Context(), &tour{world: &world{screen: s.screen(0)}}, steps)
	if passed != 1 || !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "step 2 of 3: it stays: ") {
		t.Errorf("%d passed, error %v", passed, err)
	}
	want := "\nstep 1 of 3: a VM is made\n    ok, 1.0 s\n\nstep 2 of 3: it stays\n"
	if diff := cmp.Diff(want, s.String()); diff != "" {
		t.Error(diff)
	}
}
