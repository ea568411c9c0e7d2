package scene

import (
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"

	"github.com/example/vmoperator/src/test/interpose"
)

// Switchboard holds, for each namespace, the first call of some kind.
type Switchboard struct {
	mu    sync.Mutex
	rules []*rule
}

type rule struct {
	matches func(interpose.Call) bool
	gate    *interpose.Gate
	used    bool
}

// Hold makes the first call that matches wait until its gate is opened.
func (s *Switchboard) Hold(matches func(interpose.Call) bool) *interpose.Gate {
	s.mu.Lock()
	defer s.mu.Unlock()
	gate := interpose.NewGate()
	s.rules = append(s.rules, &rule{matches: matches, gate: gate})
	return gate
}

// Decide is an interpose.Hook.
func (s *Switchboard) Decide(ctx context.Context, call interpose.Call) interpose.Verdict {
	if gate := s.gateFor(call); gate != nil {
		return gate.Hold(ctx)
	}
	return interpose.Pass()
}

func (s *Switchboard) gateFor(call interpose.Call) *interpose.Gate {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, rule := range s.rules {
		if !rule.used && rule.matches(call) {
			rule.used = true
			return rule.gate
		}
	}
	return nil
}

// AnsweringLate holds answers, whatever the verdict on them: the call has had its
// effect.
func AnsweringLate(next http.Handler, answers *Switchboard) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		gate := answers.gateFor(interpose.CallOf(r))
		if gate == nil {
			next.ServeHTTP(w, r)
			return
		}
		answer := httptest.NewRecorder()
		next.ServeHTTP(answer, r)
		gate.Hold(r.Context())
		maps.Copy(w.Header(), answer.Header())
		w.WriteHeader(answer.Code)
		// Nobody may be there any more to get it.
		_, _ = w.Write(answer.Body.Bytes())
	})
}
