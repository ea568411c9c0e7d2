package guard

import (
	"slices"
	"time"

	"golang.org/x/time/rate"
)

// turn is a caller's place in the queue.
type turn struct {
	caller      string
	at          time.Time
	reservation *rate.Reservation
}

// turns are the turns that callers have not used yet: by caller, and in the order
// in which they come. A used turn leaves the queue when its time to be kept is
// over, so the memory is that of the callers that wait and of a minute's calls.
type turns struct {
	byCaller map[string]*turn
	queue    []*turn
}

// of returns a caller's turn; nil if it has none.
func (t *turns) of(caller string) *turn { return t.byCaller[caller] }

func (t *turns) keep(caller string, at time.Time, reservation *rate.Reservation) {
	kept := &turn{caller: caller, at: at, reservation: reservation}
	t.byCaller[caller] = kept
	t.queue = append(t.queue, kept)
}

// use takes a caller's turn, if it has one.
func (t *turns) use(caller string) { delete(t.byCaller, caller) }

// forget drops turns that came too long ago.
func (t *turns) forget(now time.Time) {
	over := 0
	for over < len(t.queue) && now.Sub(t.queue[over].at) > turnKept {
		t.drop(t.queue[over])
		over++
	}
	t.queue = slices.Delete(t.queue, 0, over)
}

// cancel drops all turns, and gives what is not due yet back to the limiter; the
// last one first, for only the last reservation can be given back whole.
func (t *turns) cancel(now time.Time) {
	for _, kept := range slices.Backward(t.queue) {
		if t.of(kept.caller) == kept {
			kept.reservation.CancelAt(now)
			t.drop(kept)
		}
	}
	t.queue = nil
}

func (t *turns) drop(kept *turn) {
	// The caller may have another one since.
	if t.of(kept.caller) == kept {
		delete(t.byCaller, kept.caller)
	}
}
