package crash

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/example/vmoperator/src/test/interpose"
)

// saboteur decides what becomes of the operator's calls: it numbers the effects of
// a scenario's story, and disturbs the one of its point.
type saboteur struct {
	namespace string
	ownerOf   func(id string) string
	// point is nil in an undisturbed run.
	point *Point
	// gate holds the effect that the operator is killed at.
	gate *interpose.Gate
	// unreachable cuts every call to the provider.
	unreachable atomic.Bool

	mu        sync.Mutex
	telling   bool
	numbering Numbering
	effects   []Effect
	disturbed *interpose.Call
}

func newSaboteur(namespace string, ownerOf func(string) string, point *Point) *saboteur {
	return &saboteur{namespace: namespace, ownerOf: ownerOf, point: point, gate: interpose.NewGate()}
}

// decide is the hook of both proxies.
func (s *saboteur) decide(ctx context.Context, call interpose.Call) interpose.Verdict {
	if s.disturbs(call) {
		switch s.point.Mode {
		case AnswerLost:
			return interpose.LoseAnswer()
		case Refused:
			return interpose.Refuse(http.StatusInternalServerError)
		case KilledBefore, Late:
			return s.gate.Hold(ctx)
		}
	}
	if call.Kind == interpose.Provider && s.unreachable.Load() {
		return interpose.Drop()
	}
	return interpose.Pass()
}

// disturbs numbers a call, and reports whether it is the point's.
func (s *saboteur) disturbs(call interpose.Call) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.telling {
		return false
	}
	effect, is := s.numbering.Of(call, s.namespace, s.ownerOf)
	if !is {
		return false
	}
	s.effects = append(s.effects, effect)
	if s.point == nil || s.disturbed != nil || effect != s.point.Effect {
		return false
	}
	s.disturbed = &call
	return true
}

// begin numbers the effects from now on.
func (s *saboteur) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.telling = true
}

// end disturbs nothing any more.
func (s *saboteur) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.telling = false
}

// recorded are the effects so far.
func (s *saboteur) recorded() []Effect {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Effect(nil), s.effects...)
}

// reached is the call that was disturbed; nil if none was yet.
func (s *saboteur) reached() *interpose.Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.disturbed
}

// held reports whether the point's effect waits for the operator to be killed.
func (s *saboteur) held() bool {
	select {
	case <-s.gate.Arrived():
		return true
	default:
		return false
	}
}
