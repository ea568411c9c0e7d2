package guard

import (
	"errors"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/example/vmoperator/src/provider"
)

const (
	// parkedFor is when a parked caller comes back by itself, should its wake-up have
	// been lost.
	parkedFor = 10 * time.Minute
	// alarmLate is how much later than it was told the caller may come that the others
	// rely on while a circuit is open.
	alarmLate = 10 * time.Second
	// waitJitter spreads the callers that come back by themselves.
	waitJitter = 0.1
)

// flight is a call under way.
type flight struct {
	began time.Time
	// worker: it holds a permit.
	worker bool
	// probe: it is the ProviderConfig's, which no circuit holds back.
	probe bool
	// trial: it decides whether the circuit closes.
	trial bool
	// epoch is the circuit's when it began.
	epoch int
}

// cell is the part of a Bulkhead that one client has: its calls under way, its
// queue and its circuit. The Bulkhead's lock guards it.
type cell struct {
	bulkhead *Bulkhead
	provider string
	circuit  *Circuit

	breaker breaker
	// flights are those that hold a permit, and offered are the permits kept for
	// callers.
	flights map[*flight]struct{}
	offered int
	parked  places
	// troubled is true after a worker's call that failed or took long.
	troubled bool
	// closed is true once the client is not to be used any more.
	closed bool
	// alarm is the caller that comes back when an open circuit is to be tried, and
	// when that is: nobody here has a clock that rings.
	alarm   string
	alarmAt time.Time
}

func newCell(b *Bulkhead, provider string, circuit *Circuit) *cell {
	s := &cell{bulkhead: b, provider: provider, circuit: circuit, flights: map[*flight]struct{}{}, parked: newPlaces()}
	b.join(s)
	return s
}

// blocked reports whether workers that call this provider may not come back soon.
func (s *cell) blocked(now time.Time) bool {
	if s.breaker.open || s.troubled {
		return true
	}
	for f := range s.flights {
		if now.Sub(f.began) >= slow {
			return true
		}
	}
	return false
}

// enter lets a call through, or says why not.
func (s *cell) enter(op provider.Operation, info provider.CallInfo, now time.Time) (*flight, error) {
	b := s.bulkhead
	b.mu.Lock()
	defer b.mu.Unlock()
	b.settle(now)
	if op == provider.OperationCapabilities {
		return &flight{began: now, probe: true}, nil
	}
	if err := s.ask(op, info, now); err != nil {
		return nil, err
	}
	f := &flight{began: now, worker: info.Worker}
	s.breaker.begin(f)
	if f.worker {
		s.flights[f] = struct{}{}
		b.hold(s.provider, 1)
	}
	return f, nil
}

// reserve keeps a permit for a caller that calls soon, or says why not.
func (s *cell) reserve(op provider.Operation, info provider.CallInfo, now time.Time) error {
	b := s.bulkhead
	b.mu.Lock()
	defer b.mu.Unlock()
	b.settle(now)
	if err := s.ask(op, info, now); err != nil {
		return err
	}
	if info.Worker && info.Caller != "" {
		b.offer(s, info.Caller, now)
	}
	return nil
}

// release takes back what reserve has kept.
func (s *cell) release(caller string, now time.Time) {
	b := s.bulkhead
	b.mu.Lock()
	defer b.mu.Unlock()
	if s.takeOffer(caller) {
		b.settle(now)
	}
}

// ask says why a caller must not call now. Where it may, the permit that was kept for
// it is free, and is to be held at once.
func (s *cell) ask(op provider.Operation, info provider.CallInfo, now time.Time) error {
	kept := s.takeOffer(info.Caller)
	if s.breaker.lets(now) && (!info.Worker || kept || s.bulkhead.room(s, now)) {
		return nil
	}
	refusal := s.refuse(op, info, now)
	s.bulkhead.settle(now)
	return refusal
}

// takeOffer uses the permit that is kept for a caller here, if there is one.
func (s *cell) takeOffer(caller string) bool {
	kept := s.bulkhead.offers[caller]
	if kept == nil || kept.cell != s {
		return false
	}
	s.bulkhead.withdraw(caller)
	// It is here: to wake it would cost a pass.
	s.bulkhead.woken = slices.DeleteFunc(s.bulkhead.woken, func(woken string) bool { return woken == caller })
	return true
}

// withdraw takes back enter: the call is not made after all.
func (s *cell) withdraw(f *flight, now time.Time) {
	b := s.bulkhead
	b.mu.Lock()
	defer b.mu.Unlock()
	s.breaker.withdraw(f)
	s.land(f)
	b.settle(now)
}

// exit takes in how a call ended, and reports whether the circuit opened or closed.
func (s *cell) exit(f *flight, err error, now time.Time) bool {
	b := s.bulkhead
	b.mu.Lock()
	defer b.mu.Unlock()
	before, v := s.breaker.open, verdictOf(err)
	switch {
	case f.probe:
		s.breaker.probed(v, now)
	case s.breaker.end(f, v, now):
		s.alarm = ""
	}
	if f.worker && v != saysNothing {
		s.troubled = v == fails || now.Sub(f.began) >= slow
	}
	s.land(f)
	b.settle(now)
	s.circuit.open.Store(s.breaker.open)
	return before != s.breaker.open
}

// land gives back the permit of a call.
func (s *cell) land(f *flight) {
	if f.worker {
		delete(s.flights, f)
		s.bulkhead.hold(s.provider, -1)
		s.bulkhead.drop(s)
	}
}

var (
	errFull = errors.New("enough calls to this provider are under way")
	errOpen = errors.New("calls to this provider failed one after another: none is made for a while")
)

// refuse parks the caller of a call that is not let through, and says when to come
// back.
func (s *cell) refuse(op provider.Operation, info provider.CallInfo, now time.Time) *provider.Error {
	refusal := &provider.Error{
		Op: op, Class: provider.Throttled, Cause: provider.CauseBulkhead, Err: errFull,
		RetryAfter: wait.Jitter(slow, waitJitter),
	}
	if s.breaker.open {
		refusal.Cause, refusal.Err = provider.CauseCircuit, errOpen
		refusal.RetryAfter = wait.Jitter(s.breaker.left(now), waitJitter)
	}
	if !info.Worker || info.Caller == "" || s.closed || len(s.bulkhead.listeners) == 0 {
		return refusal
	}
	s.bulkhead.sequence++
	s.parked.add(info.Caller, s.bulkhead.sequence)
	if !s.rings(info.Caller, now, refusal.RetryAfter) {
		refusal.RetryAfter = wait.Jitter(parkedFor, waitJitter)
	}
	return refusal
}

// rings reports whether a parked caller is the one that comes back when the open
// circuit is to be tried. Its coming is what wakes the first in the queue: a
// thousand that came at that time would each cost a pass.
func (s *cell) rings(caller string, now time.Time, after time.Duration) bool {
	if !s.breaker.open || s.breaker.trying {
		return false
	}
	if s.alarm != "" && s.alarm != caller && now.Before(s.alarmAt.Add(alarmLate)) {
		return false
	}
	s.alarm, s.alarmAt = caller, now.Add(after)
	return true
}
