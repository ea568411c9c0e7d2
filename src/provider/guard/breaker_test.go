package guard

import (
	"context"
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/example/vmoperator/src/provider"
)

var noon = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

func TestACallSaysOfItsProviderWhetherItAnswers(t *testing.T) {
	t.Parallel()
	failure := func(class provider.Class, cause provider.Cause) error {
		return &provider.Error{Class: class, Cause: cause, Err: errors.New("it failed")}
	}
	for name, test := range map[string]struct {
		err  error
		want verdict
	}{
		"an answer":                    {nil, answers},
		"no connection":                {failure(provider.Transient, provider.CauseUnreachable), fails},
		"no answer in time":            {failure(provider.Transient, provider.CauseTimeout), fails},
		"status 500":                   {failure(provider.Transient, ""), fails},
		"a POST without a clear end":   {failure(provider.Ambiguous, provider.CauseTimeout), fails},
		"an answer that is odd":        {failure(provider.Transient, provider.CauseProtocol), saysNothing},
		"a VM that is not there":       {failure(provider.NotFound, ""), answers},
		"a request that is refused":    {failure(provider.Rejected, ""), answers},
		"a key that is refused":        {failure(provider.Unauthorized, ""), answers},
		"a create key that is known":   {failure(provider.Conflict, ""), answers},
		"an address that is forbidden": {failure(provider.Rejected, provider.CauseEndpointRefused), saysNothing},
		"a pause":                      {failure(provider.Throttled, ""), saysNothing},
		"a call that was cancelled":    {&provider.Error{Class: provider.Ambiguous, Err: context.Canceled}, saysNothing},
		"a call that panicked":         {errUnfinished, saysNothing},
		"an error of nobody's":         {errors.New("it failed"), fails},
	} {
		if got := verdictOf(test.err); got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
}

// calling begins a call that the breaker must let through.
func calling(t *testing.T, b *breaker, now time.Time) *flight {
	t.Helper()
	if !b.lets(now) {
		t.Fatal("the call is held back")
	}
	f := &flight{began: now}
	b.begin(f)
	return f
}

// opened is a breaker that has just opened.
func opened(t *testing.T, now time.Time) *breaker {
	t.Helper()
	b := &breaker{}
	for i := range failuresOpen {
		if changed := b.end(calling(t, b, now), fails, now); changed != (i == failuresOpen-1) {
			t.Fatalf("failure %d: changed %t", i+1, changed)
		}
	}
	return b
}

func TestACircuitOpensAfterFailuresInARowOnly(t *testing.T) {
	t.Parallel()
	b := &breaker{}
	for range 3 {
		for range failuresOpen - 1 {
			b.end(calling(t, b, noon), fails, noon)
		}
		b.end(calling(t, b, noon), saysNothing, noon)
		b.end(calling(t, b, noon), answers, noon)
	}
	if b.open {
		t.Error("open, though calls were answered in between")
	}
	if b = opened(t, noon); b.lets(noon) {
		t.Error("a call is let through while it is open")
	}
}

func TestATrialIsMadeAtIntervalsThatDoubleUpToAMinute(t *testing.T) {
	t.Parallel()
	now := noon
	b := opened(t, now)
	for _, length := range []int{1, 2, 4, 8, 16, 32, 60, 60} {
		now = now.Add(time.Duration(length)*time.Second - 1)
		if b.lets(now) {
			t.Fatalf("a call is let through before %d s are over", length)
		}
		now = now.Add(1)
		trial := calling(t, b, now)
		if b.lets(now) {
			t.Fatal("a second call is let through beside the trial")
		}
		b.end(trial, fails, now)
	}
	now = now.Add(time.Minute)
	b.end(calling(t, b, now), answers, now)
	if b.open {
		t.Error("the trial succeeded, and the circuit is open")
	}
	for range failuresOpen {
		b.end(calling(t, b, now), fails, now)
	}
	if left := b.left(now); left != openFirst {
		t.Errorf("open for %v when it opens anew", left)
	}
}

func TestATrialThatSaysNothingIsRepeated(t *testing.T) {
	t.Parallel()
	b := opened(t, noon)
	now := noon.Add(openFirst)
	b.end(calling(t, b, now), saysNothing, now)
	b.withdraw(calling(t, b, now))
	b.end(calling(t, b, now), answers, now)
	if b.open {
		t.Error("open after a trial that succeeded")
	}
}

func TestCallsThatBeganBeforeSayNothingOfTheTimeAfter(t *testing.T) {
	t.Parallel()
	b := &breaker{}
	slowOne, another := calling(t, b, noon), calling(t, b, noon)
	for range failuresOpen {
		b.end(calling(t, b, noon), fails, noon)
	}
	b.end(slowOne, answers, noon)
	if !b.open {
		t.Error("a call that is not the trial closed the circuit")
	}
	now := noon.Add(openFirst)
	b.end(calling(t, b, now), answers, now)
	for range failuresOpen - 1 {
		b.end(calling(t, b, now), fails, now)
	}
	b.end(another, fails, now)
	if b.open {
		t.Error("a failure from before it opened counts")
	}
}

func TestAProbeThatAnswersClosesNoCircuit(t *testing.T) {
	t.Parallel()
	b := opened(t, noon)
	for range 100 {
		b.probed(answers, noon)
	}
	if b.lets(noon) {
		t.Error("a probe has closed the circuit, or hastened the trial")
	}
}

func TestAProviderThatSpeaksAgainIsTriedAtOnce(t *testing.T) {
	t.Parallel()
	b := opened(t, noon)
	b.probed(fails, noon)
	b.probed(answers, noon)
	if !b.open || !b.due(noon) {
		t.Errorf("open %t, due %t; want both", b.open, b.due(noon))
	}
	b.end(calling(t, b, noon), fails, noon)
	b.probed(answers, noon)
	if b.due(noon) {
		t.Error("a probe that goes on answering hastens the trial again")
	}
}

func TestACircuitThatNobodyTriesDoesNotStayOpenForEver(t *testing.T) {
	t.Parallel()
	b := opened(t, noon)
	b.probed(answers, noon.Add(openFirst+unasked))
	if !b.open {
		t.Error("closed too early")
	}
	b.probed(fails, noon.Add(openFirst+2*unasked))
	if !b.open {
		t.Error("closed by a probe that failed")
	}
	b.probed(answers, noon.Add(openFirst+2*unasked))
	if b.open {
		t.Error("still open")
	}
}

// TestTheCircuitOverAnySchedule: at most one call is under way that began while the
// circuit was open, it is never open for longer than it says, and it is as the last
// answers say.
func TestTheCircuitOverAnySchedule(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b, now := &breaker{}, noon
		var flying []*flight
		inARow := 0
		t.Repeat(map[string]func(*rapid.T){
			"time passes": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.Int64Range(0, int64(70*time.Second)).Draw(t, "by")))
			},
			"a call begins": func(t *rapid.T) {
				if !b.lets(now) {
					if left := b.left(now); !b.trying && b.until.Sub(now) != left || left > openMost {
						t.Fatalf("held back for %v, until %v", left, b.until)
					}
					return
				}
				f := &flight{began: now}
				b.begin(f)
				flying = append(flying, f)
			},
			"a call ends": func(t *rapid.T) {
				if len(flying) == 0 {
					return
				}
				i := rapid.IntRange(0, len(flying)-1).Draw(t, "which")
				f, v := flying[i], verdict(rapid.IntRange(0, 2).Draw(t, "verdict"))
				flying = append(flying[:i], flying[i+1:]...)
				open, epoch := b.open, b.epoch
				changed := b.end(f, v, now)
				switch {
				case f.epoch != epoch:
				case !open && v == answers:
					inARow = 0
				case !open && v == fails:
					inARow++
				}
				closes := f.trial && f.epoch == epoch && v == answers
				wanted := !open && inARow >= failuresOpen || open && !closes
				if b.open != wanted {
					t.Fatalf("open %t, want %t after %d failures", b.open, wanted, inARow)
				}
				if open != b.open {
					inARow = 0
				}
				if open != b.open && !changed {
					t.Fatal("it opened or closed and did not say so")
				}
			},
			"": func(t *rapid.T) {
				trials := 0
				for _, f := range flying {
					if f.trial && f.epoch == b.epoch {
						trials++
					}
				}
				if trials > 1 || b.open && b.trying != (trials == 1) {
					t.Fatalf("%d trials under way, trying %t", trials, b.trying)
				}
			},
		})
	})
}
