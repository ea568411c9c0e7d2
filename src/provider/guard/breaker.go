package guard

import (
	"context"
	"errors"
	"time"

	"github.com/example/vmoperator/src/provider"
)

const (
	// failuresOpen is how many calls in a row must fail to open a circuit.
	failuresOpen = 5
	// openFirst is how long a circuit is open before the first call is tried; each
	// one that fails doubles it, up to openMost.
	openFirst = time.Second
	openMost  = time.Minute
	// unasked is how long after the time for the trial a circuit stays open where
	// nobody makes a call.
	unasked = 5 * time.Minute
)

// verdict is what the end of a call says of the provider.
type verdict int

const (
	// saysNothing: the call was cancelled, or not made.
	saysNothing verdict = iota
	// answers: the provider is there, whatever it said.
	answers
	// fails: there is no telling whether it is.
	fails
)

// errUnfinished is the error of a call until it returns, and of one that panics.
var errUnfinished = errors.New("the call has not returned")

func verdictOf(err error) verdict {
	if errors.Is(err, context.Canceled) || errors.Is(err, errUnfinished) {
		return saysNothing
	}
	switch provider.ClassOf(err) {
	case provider.Ambiguous:
		return fails
	case provider.Transient:
		if provider.CauseOf(err) == provider.CauseProtocol {
			// Somebody answers, and what is odd may be a single VM.
			return saysNothing
		}
		return fails
	case provider.Throttled:
		return saysNothing
	case provider.Rejected, provider.Unauthorized, provider.NotFound, provider.Conflict:
		if provider.CauseOf(err) == provider.CauseEndpointRefused {
			return saysNothing
		}
	}
	return answers
}

// breaker is a circuit. Closed, it lets all calls through and counts failures in a
// row. Open, it lets none through until its time is over, and then a single one,
// the trial, whose end decides. The zero value is closed.
type breaker struct {
	open bool
	// trying is true while the trial is under way.
	trying bool
	// failures are those in a row while it is closed.
	failures int
	// epoch grows whenever it opens or closes: a call that began before says nothing
	// of the time after.
	epoch int
	// length is how long it is open this time, and until when.
	length time.Duration
	until  time.Time
	// silent is true while the last probe of the ProviderConfig has failed.
	silent bool
}

// due reports whether it is time for the trial.
func (b *breaker) due(now time.Time) bool {
	return b.open && !b.trying && !now.Before(b.until)
}

func (b *breaker) lets(now time.Time) bool { return !b.open || b.due(now) }

// left is how long it stays open yet; while the trial is under way, nobody knows.
func (b *breaker) left(now time.Time) time.Duration {
	if left := b.until.Sub(now); left > 0 {
		return left
	}
	return openFirst
}

// begin takes in that a call begins, which it lets through.
func (b *breaker) begin(f *flight) {
	f.epoch, f.trial = b.epoch, b.open
	b.trying = b.trying || f.trial
}

// withdraw takes back begin: the call is not made after all.
func (b *breaker) withdraw(f *flight) {
	if f.trial && f.epoch == b.epoch {
		b.trying = false
	}
}

// end takes in how a call ended, and reports whether the circuit opened or closed,
// or is to stay open for longer.
func (b *breaker) end(f *flight, v verdict, now time.Time) bool {
	switch {
	case f.epoch != b.epoch || b.open && !f.trial:
		return false
	case b.open:
		return b.tried(v, now)
	case v == answers:
		b.failures = 0
	case v == fails:
		b.failures++
		if b.failures >= failuresOpen {
			b.turn(true)
			b.stay(openFirst, now)
			return true
		}
	}
	return false
}

// tried takes in the end of the trial.
func (b *breaker) tried(v verdict, now time.Time) bool {
	b.trying = false
	switch v {
	case answers:
		b.turn(false)
	case fails:
		b.stay(min(2*b.length, openMost), now)
	case saysNothing:
		return false
	}
	return true
}

// probed takes in how a probe of the ProviderConfig ended. It closes no circuit that
// others wait for, because it says nothing of other calls. But a provider that was
// silent and speaks again need not be waited for.
func (b *breaker) probed(v verdict, now time.Time) {
	switch {
	case v == fails:
		b.silent = true
	case v != answers:
	case b.due(now) && now.Sub(b.until) > unasked:
		b.turn(false)
	case b.silent:
		b.silent = false
		if b.open && now.Before(b.until) {
			b.until = now
		}
	}
}

func (b *breaker) turn(open bool) {
	b.open, b.failures, b.trying = open, 0, false
	b.epoch++
}

func (b *breaker) stay(length time.Duration, now time.Time) {
	b.length, b.until = length, now.Add(length)
}
