package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clocktesting "k8s.io/utils/clock/testing"
)

// sheet is a screen that keeps what is shown, and a clock that is set by hand.
type sheet struct {
	strings.Builder
	clock *clocktesting.FakeClock
}

func newSheet() *sheet {
	return &sheet{clock: clocktesting.NewFakeClock(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))}
}

func (s *sheet) screen(width int) *screen {
	return &screen{out: s, width: width, now: s.clock.Now}
}

func TestAWaitIsToldOfEveryFewSecondsWhereLinesCannotBeRewritten(t *testing.T) {
	t.Parallel()
	s := newSheet()
	p := s.screen(0).progress("the VMs to run")
	for range 25 {
		p.tick("Provisioning")
		s.clock.Step(500 * time.Millisecond)
	}
	p.end()
	want := `    waiting for the VMs to run... 5 s: Provisioning
    waiting for the VMs to run... 10 s: Provisioning
`
	if diff := cmp.Diff(want, s.String()); diff != "" {
		t.Error(diff)
	}
}

func TestAShortWaitIsNotToldOf(t *testing.T) {
	t.Parallel()
	s := newSheet()
	p := s.screen(0).progress("the VMs to run")
	p.tick("Provisioning")
	s.clock.Step(lineInterval - time.Millisecond)
	p.tick("Provisioning")
	p.end()
	if s.String() != "" {
		t.Errorf("it says %q", s.String())
	}
}

func TestOnATerminalOneLineIsRewrittenAndClearedAtTheEnd(t *testing.T) {
	t.Parallel()
	s := newSheet()
	p := s.screen(80).progress("the VMs to run")
	p.tick("")
	s.clock.Step(1900 * time.Millisecond)
	p.tick("Provisioning")
	p.end()
	want := "\r\x1b[K    waiting for the VMs to run... 0 s" +
		"\r\x1b[K    waiting for the VMs to run... 1 s: Provisioning" +
		"\r\x1b[K"
	if diff := cmp.Diff(want, s.String()); diff != "" {
		t.Error(diff)
	}
}

func TestALineNeverWrapsOnATerminal(t *testing.T) {
	t.Parallel()
	s := newSheet()
	p := s.screen(40).progress(strings.Repeat("é", 100))
	p.tick("")
	line := strings.TrimPrefix(s.String(), "\r\x1b[K")
	if count := len([]rune(line)); count != 39 || !strings.HasSuffix(line, "…") {
		t.Errorf("%d characters: %q", count, line)
	}
}

func TestWhatACommandPrintsIsSetOff(t *testing.T) {
	t.Parallel()
	s := newSheet()
	s.screen(0).show("NAME   PHASE\nmy-vm  Running\n\n")
	if diff := cmp.Diff("    NAME   PHASE\n    my-vm  Running\n", s.String()); diff != "" {
		t.Error(diff)
	}
}

func TestACommandThatPrintsNothingIsNotShown(t *testing.T) {
	t.Parallel()
	s := newSheet()
	s.screen(0).show("\n")
	if s.String() != "" {
		t.Errorf("it shows %q", s.String())
	}
}

func TestWhatTakesAWhileIsTimed(t *testing.T) {
	t.Parallel()
	s := newSheet()
	err := s.screen(0).during(t.Context(), "the operator", func(context.Context) error {
		s.clock.Step(1500 * time.Millisecond)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff("the operator: 1.5 s\n", s.String()); diff != "" {
		t.Error(diff)
	}
}

func TestAFailureIsNotTimed(t *testing.T) {
	t.Parallel()
	s := newSheet()
	broken := errors.New("broken")
	err := s.screen(0).during(t.Context(), "the operator", func(context.Context) error { return broken })
	if !errors.Is(err, broken) || s.String() != "" {
		t.Errorf("error %v, shown %q", err, s.String())
	}
}

func TestCommandsAreShownAsTheyAreTyped(t *testing.T) {
	t.Parallel()
	got := quoted([]string{"patch", "vm", "-p", `{"spec":{"cpu":4}}`, "it's here"})
	if diff := cmp.Diff(`patch vm -p '{"spec":{"cpu":4}}' 'it'\''s here'`, got); diff != "" {
		t.Error(diff)
	}
}
