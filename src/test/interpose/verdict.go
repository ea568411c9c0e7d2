package interpose

import (
	"context"
	"sync"
)

// Hook decides what becomes of a call. It may take its time: the call has no
// effect before it returns, even if the caller has died meanwhile. The context
// ends with the proxy, not with the caller.
type Hook func(ctx context.Context, call Call) Verdict

// Fate is what became of a call.
type Fate string

// The fates.
const (
	// Undecided is a call that its hook holds.
	Undecided Fate = "held"
	// Passed is a call that was sent on, and its answer sent back.
	Passed Fate = "passed"
	// Dropped is a call that never arrived: the caller sees its connection cut.
	Dropped Fate = "dropped"
	// Lost is a call that was sent on, and whose caller sees its connection cut
	// instead of the answer.
	Lost Fate = "answer lost"
	// Refused is a call that was answered here and never arrived.
	Refused Fate = "refused"
)

// Verdict is a Hook's decision.
type Verdict struct {
	fate   Fate
	status int
}

// Pass sends the call on. A call that changes something is sent on even if its
// caller has died.
func Pass() Verdict { return Verdict{fate: Passed} }

// Drop cuts the caller's connection and sends nothing on.
func Drop() Verdict { return Verdict{fate: Dropped} }

// LoseAnswer sends the call on, waits for the answer and cuts the caller's
// connection.
func LoseAnswer() Verdict { return Verdict{fate: Lost} }

// Refuse answers with an HTTP status and sends nothing on.
func Refuse(status int) Verdict { return Verdict{fate: Refused, status: status} }

// Gate holds calls until it is opened.
type Gate struct {
	arrived, opened chan struct{}
	arrive, open    sync.Once
	verdict         Verdict
}

// NewGate returns a gate that is closed.
func NewGate() *Gate {
	return &Gate{arrived: make(chan struct{}), opened: make(chan struct{})}
}

// Hold waits until the gate is open and returns its verdict: what a Hook returns
// for a call to be held. At the end of ctx the call is dropped.
func (g *Gate) Hold(ctx context.Context) Verdict {
	g.arrive.Do(func() { close(g.arrived) })
	select {
	case <-g.opened:
		return g.verdict
	case <-ctx.Done():
		return Drop()
	}
}

// Arrived is closed once a call has arrived.
func (g *Gate) Arrived() <-chan struct{} { return g.arrived }

// Open gives the verdict on what is held, and on all that comes. Only the first
// Open counts.
func (g *Gate) Open(verdict Verdict) {
	g.open.Do(func() {
		g.verdict = verdict
		close(g.opened)
	})
}
