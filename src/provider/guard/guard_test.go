package guard_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/fake"
	"github.com/example/vmoperator/src/provider/guard"
)

// rig is a guarded fake in a time that only the test moves.
type rig struct {
	now    time.Time
	behind *fake.Provider
	client *guard.Client
}

func newRig(qps float64, burst int) *rig {
	r := &rig{now: time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC), behind: fake.New(fake.Options{})}
	r.client = guard.New(r.behind, guard.Options{QPS: qps, Burst: burst, Now: func() time.Time { return r.now }})
	return r
}

// call makes a call for a caller and returns how long it is told to wait; 0 if it
// went through.
func (r *rig) call(caller string) (time.Duration, provider.Cause) {
	ctx := provider.WithCallInfo(context.Background(), provider.CallInfo{Caller: caller})
	_, err := r.client.Capabilities(ctx)
	return provider.RetryAfterOf(err), provider.CauseOf(err)
}

func (r *rig) wants(t *testing.T, caller string, wait time.Duration) {
	t.Helper()
	if got, cause := r.call(caller); got != wait || (wait > 0 && cause != provider.CauseLocalLimit) {
		t.Errorf("%s is told to wait %v (%s), want %v", caller, got, cause, wait)
	}
}

func (r *rig) calls() int { return r.behind.Counts()[provider.OperationCapabilities] }

func TestCallersOverTheLimitGetTurnsInOrder(t *testing.T) {
	t.Parallel()
	r := newRig(1, 2)
	r.wants(t, "a", 0)
	r.wants(t, "b", 0)
	r.wants(t, "c", time.Second)
	r.wants(t, "d", 2*time.Second)
	r.wants(t, "e", 3*time.Second)
	if r.calls() != 2 {
		t.Errorf("%d calls, want 2", r.calls())
	}
}

func TestACallerThatComesEarlyKeepsItsTurn(t *testing.T) {
	t.Parallel()
	r := newRig(1, 1)
	r.wants(t, "a", 0)
	r.wants(t, "b", time.Second)
	r.wants(t, "b", time.Second)
	r.now = r.now.Add(600 * time.Millisecond)
	r.wants(t, "b", 400*time.Millisecond)
	r.wants(t, "c", 1400*time.Millisecond)
	r.now = r.now.Add(400 * time.Millisecond)
	// Others that come at the same moment do not take the turn away.
	r.wants(t, "d", 2*time.Second)
	r.wants(t, "b", 0)
}

func TestATurnIsForOneCall(t *testing.T) {
	t.Parallel()
	r := newRig(1, 1)
	r.wants(t, "a", 0)
	r.wants(t, "a", time.Second)
	r.now = r.now.Add(time.Second)
	r.wants(t, "a", 0)
	r.wants(t, "a", time.Second)
}

func TestATurnIsKeptForAMinuteOnly(t *testing.T) {
	t.Parallel()
	for late, wait := range map[time.Duration]time.Duration{time.Minute: 0, time.Minute + time.Millisecond: time.Second} {
		r := newRig(1, 1)
		r.wants(t, "a", 0)
		r.wants(t, "b", time.Second)
		r.now = r.now.Add(time.Second + late)
		// Takes the token that there is by now; only a turn gets b through.
		r.wants(t, "c", 0)
		r.wants(t, "b", wait)
	}
}

func TestACallWithoutACallerTakesNoTurn(t *testing.T) {
	t.Parallel()
	r := newRig(1, 1)
	r.wants(t, "", 0)
	for range 10 {
		r.wants(t, "", time.Second)
	}
	r.wants(t, "a", time.Second)
}

func TestWithoutQPSNothingIsHeldBack(t *testing.T) {
	t.Parallel()
	r := newRig(0, 0)
	for range 1000 {
		r.wants(t, "a", 0)
	}
}

func TestAPauseThatTheProviderAskedForHoldsEverybodyBack(t *testing.T) {
	t.Parallel()
	for _, class := range []provider.Class{provider.Throttled, provider.Ambiguous} {
		r := newRig(10, 10)
		r.behind.Inject(fake.Fault{Class: class, RetryAfter: 10 * time.Second})
		if wait, cause := r.call("a"); wait != 10*time.Second || cause != "" {
			t.Errorf("%s: the provider's own answer became %v (%s)", class, wait, cause)
		}
		r.now = r.now.Add(4 * time.Second)
		for _, caller := range []string{"a", "b", ""} {
			wait, cause := r.call(caller)
			if wait < 6*time.Second || wait > 6600*time.Millisecond || cause != provider.CausePaused {
				t.Errorf("%s: %q is told to wait %v (%s), want 6 s to 6.6 s", class, caller, wait, cause)
			}
		}
		if r.calls() != 1 {
			t.Errorf("%s: %d calls in the pause", class, r.calls()-1)
		}
		r.now = r.now.Add(6 * time.Second)
		r.wants(t, "b", 0)
	}
}

func TestAShorterPauseDoesNotEndALongerOne(t *testing.T) {
	t.Parallel()
	r := newRig(10, 10)
	// Both are under way when the provider asks for a pause.
	release, entered := make(chan struct{}), make(chan struct{})
	r.behind.Inject(fake.Fault{
		Block: release, Hook: func(fake.Entry) { close(entered) }, Class: provider.Throttled, RetryAfter: time.Second,
	})
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.call("a")
	}()
	<-entered
	r.behind.Inject(fake.Fault{Class: provider.Throttled, RetryAfter: time.Minute})
	r.call("b")
	close(release)
	<-done
	if wait, _ := r.call("c"); wait < time.Minute {
		t.Errorf("told to wait %v", wait)
	}
}

func TestAfterAPauseTurnsDoNotComeAllAtOnce(t *testing.T) {
	t.Parallel()
	r := newRig(1, 1)
	r.behind.Inject(fake.Fault{Class: provider.Throttled, RetryAfter: 30 * time.Second, When: fake.After})
	release, entered := make(chan struct{}), make(chan struct{})
	r.behind.Inject(fake.Fault{Block: release, Hook: func(fake.Entry) { close(entered) }})
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.call("first")
	}()
	<-entered
	for i := range 20 {
		r.call(fmt.Sprint(i))
	}
	close(release)
	<-done
	r.now = r.now.Add(31 * time.Second)
	for i := range 20 {
		r.call(fmt.Sprint(i))
	}
	if let := r.calls() - 1; let != 1 {
		t.Errorf("%d calls at once after the pause, want the burst of 1", let)
	}
}

func TestWhatIsReservedIsForItsCallersNextCall(t *testing.T) {
	t.Parallel()
	r := newRig(1, 1)
	reserve := func(caller string) time.Duration {
		ctx := provider.WithCallInfo(context.Background(), provider.CallInfo{Caller: caller})
		return provider.RetryAfterOf(provider.Reserve(ctx, r.client, provider.OperationCreate))
	}
	if wait := reserve("a"); wait != 0 {
		t.Errorf("told to wait %v for the first turn", wait)
	}
	r.wants(t, "b", time.Second)
	if wait := reserve("a"); wait != 0 {
		t.Errorf("told to wait %v for a turn that it has", wait)
	}
	r.wants(t, "a", 0)
	if wait := reserve("a"); wait != 2*time.Second {
		t.Errorf("told to wait %v for the turn after b's", wait)
	}
	r.now = r.now.Add(2 * time.Second)
	r.wants(t, "a", 0)
	if r.calls() != 2 {
		t.Errorf("%d calls, want 2: a reservation makes none", r.calls())
	}
}

func TestErrorsAndAnswersComeThroughUnchanged(t *testing.T) {
	t.Parallel()
	r := newRig(100, 100)
	made, err := r.client.Create(t.Context(), "k", provider.CreateRequest{Image: "ubuntu"})
	if err != nil || made.Image != "ubuntu" {
		t.Errorf("%+v, error %v", made, err)
	}
	if _, err := r.client.Get(t.Context(), made.ID); err != nil {
		t.Error(err)
	}
	if _, err := r.client.List(t.Context(), ""); provider.ClassOf(err) != provider.Rejected {
		t.Error(err)
	}
	if _, err := r.client.FindByKey(t.Context(), "k"); provider.ClassOf(err) != provider.Rejected {
		t.Error(err)
	}
	if _, err := r.client.Resize(t.Context(), made.ID, provider.Size{}); provider.ClassOf(err) != provider.Rejected {
		t.Error(err)
	}
	if err := r.client.Delete(t.Context(), made.ID); err != nil {
		t.Error(err)
	}
	err = r.client.Delete(t.Context(), made.ID)
	failure, ok := errors.AsType[*provider.Error](err)
	if !ok || failure.Op != provider.OperationDelete || failure.Class != provider.NotFound {
		t.Error(err)
	}
}

// TestOverAnySchedule: the calls let through never exceed burst + qps*t, and a
// caller that comes back when it is told to goes through.
func TestOverAnySchedule(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		qps := rapid.Float64Range(0.5, 50).Draw(t, "qps")
		burst := rapid.IntRange(1, 10).Draw(t, "burst")
		r := newRig(qps, burst)
		start, let := r.now, 0
		due := map[string]time.Time{}
		t.Repeat(map[string]func(*rapid.T){
			"time passes": func(t *rapid.T) {
				r.now = r.now.Add(time.Duration(rapid.Int64Range(0, int64(5*time.Second)).Draw(t, "by")))
			},
			"a caller comes": func(t *rapid.T) {
				caller := rapid.StringMatching(`[a-h]?`).Draw(t, "caller")
				wait, _ := r.call(caller)
				turn, told := due[caller]
				onTime := told && caller != "" && !r.now.Before(turn) && r.now.Sub(turn) <= time.Minute
				switch {
				case wait == 0:
					let++
					delete(due, caller)
				case onTime:
					t.Fatalf("%s came at its turn and is told to wait %v", caller, wait)
				case told && caller != "" && r.now.Before(turn) && !r.now.Add(wait).Equal(turn):
					t.Fatalf("%s came early and its turn moved from %v to %v", caller, turn, r.now.Add(wait))
				default:
					due[caller] = r.now.Add(wait)
				}
			},
			"": func(t *rapid.T) {
				// A nanosecond's worth of rounding in the limiter's floats.
				if bound := float64(burst) + qps*r.now.Sub(start).Seconds() + 1e-6; float64(let) > bound {
					t.Fatalf("%d calls, more than %f", let, bound)
				}
				if let != r.calls() {
					t.Fatalf("%d calls arrived, %d were let through", r.calls(), let)
				}
			},
		})
	})
}
