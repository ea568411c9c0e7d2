package interpose

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// target counts what arrives at it.
type target struct{ arrived atomic.Int32 }

func (s *target) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.arrived.Add(1)
	w.WriteHeader(http.StatusCreated)
	_, _ = io.Copy(w, r.Body)
}

func start(t *testing.T, next http.Handler, hook Hook) *Proxy {
	t.Helper()
	p, err := Start(t.Context(), Options{Who: "test", Next: next, Classify: Contract, Hook: hook})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

func always(verdict Verdict) Hook {
	return func(context.Context, Call) Verdict { return verdict }
}

// post sends a POST as a client that keeps connections and may repeat: twice, so
// that the second could use the first one's connection.
func post(ctx context.Context, p *Proxy) (status int, body string, err error) {
	for range 2 {
		var request *http.Request
		request, err = http.NewRequestWithContext(ctx, http.MethodPost, p.URL()+"/vms", strings.NewReader("web"))
		if err != nil {
			return 0, "", err
		}
		request.Header.Set("Idempotency-Key", "k/1")
		var response *http.Response
		response, err = http.DefaultClient.Do(request)
		if err != nil {
			continue
		}
		var content []byte
		content, err = io.ReadAll(response.Body)
		response.Body.Close()
		status, body = response.StatusCode, string(content)
	}
	return status, body, err
}

func wantEntries(t *testing.T, p *Proxy, fate Fate, status int) {
	t.Helper()
	err := p.Record().Await(t.Context(), func(all []Entry) bool {
		for _, entry := range all {
			if !entry.Done {
				return false
			}
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	entries := p.Record().Entries()
	if len(entries) != 2 {
		t.Fatalf("%d calls are recorded, want 2: %v", len(entries), entries)
	}
	for i, entry := range entries {
		if entry.Number != i+1 || entry.Fate != fate || entry.Status != status || entry.Key != "k/1" {
			t.Errorf("recorded %v, want %s with status %d", entry, fate, status)
		}
	}
}

func TestACallThatPassesArrivesAndIsAnswered(t *testing.T) {
	s := &target{}
	p := start(t, s, nil)
	if status, body, err := post(t.Context(), p); err != nil || status != http.StatusCreated || body != "web" {
		t.Errorf("got %d %q, %v", status, body, err)
	}
	wantEntries(t, p, Passed, http.StatusCreated)
}

func TestADroppedCallNeverArrives(t *testing.T) {
	s := &target{}
	p := start(t, s, always(Drop()))
	if status, _, err := post(t.Context(), p); err == nil {
		t.Errorf("the caller got status %d", status)
	}
	wantEntries(t, p, Dropped, 0)
	if got := s.arrived.Load(); got != 0 {
		t.Errorf("%d calls arrived", got)
	}
}

func TestACallWhoseAnswerIsLostArrivesOnce(t *testing.T) {
	s := &target{}
	p := start(t, s, always(LoseAnswer()))
	if status, _, err := post(t.Context(), p); err == nil {
		t.Errorf("the caller got status %d", status)
	}
	wantEntries(t, p, Lost, http.StatusCreated)
	if got := s.arrived.Load(); got != 2 {
		t.Errorf("2 calls arrived %d times", got)
	}
}

func TestARefusedCallIsAnsweredAndNeverArrives(t *testing.T) {
	s := &target{}
	p := start(t, s, always(Refuse(http.StatusServiceUnavailable)))
	if status, _, err := post(t.Context(), p); err != nil || status != http.StatusServiceUnavailable {
		t.Errorf("got %d, %v", status, err)
	}
	wantEntries(t, p, Refused, http.StatusServiceUnavailable)
	if got := s.arrived.Load(); got != 0 {
		t.Errorf("%d calls arrived", got)
	}
}

func TestAHeldCallArrivesLateThoughItsCallerHasGone(t *testing.T) {
	s, gate := &target{}, NewGate()
	p := start(t, s, func(ctx context.Context, _ Call) Verdict { return gate.Hold(ctx) })
	ctx, die := context.WithCancel(t.Context())
	gone := make(chan error)
	go func() {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.URL()+"/vms", strings.NewReader("web"))
		if err == nil {
			var response *http.Response
			if response, err = http.DefaultClient.Do(request); err == nil {
				response.Body.Close()
			}
		}
		gone <- err
	}()
	<-gate.Arrived()
	if got := s.arrived.Load(); got != 0 {
		t.Errorf("%d calls arrived while held", got)
	}
	die()
	if err := <-gone; err == nil {
		t.Error("the caller got an answer")
	}
	gate.Open(Pass())
	if err := p.Record().Await(t.Context(), func(all []Entry) bool { return all[0].Done }); err != nil {
		t.Fatal(err)
	}
	if got := s.arrived.Load(); got != 1 {
		t.Errorf("%d calls arrived, want 1", got)
	}
}

func TestTheEndOfTheProxyDropsWhatIsHeld(t *testing.T) {
	s, gate := &target{}, NewGate()
	p := start(t, s, func(ctx context.Context, _ Call) Verdict { return gate.Hold(ctx) })
	gone := make(chan error)
	go func() {
		_, _, err := post(t.Context(), p)
		gone <- err
	}()
	<-gate.Arrived()
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if err := <-gone; err == nil || s.arrived.Load() != 0 {
		t.Errorf("the caller got %v, and %d calls arrived", err, s.arrived.Load())
	}
}

func TestAWatchStreamsThrough(t *testing.T) {
	next := make(chan string)
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		flush := http.NewResponseController(w)
		for {
			select {
			case event := <-next:
				fmt.Fprintln(w, event)
				if flush.Flush() != nil {
					return
				}
			case <-r.Context().Done():
				return
			}
		}
	}))
	t.Cleanup(upstream.Close)
	handler, err := Server(upstream.URL)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Start(t.Context(), Options{Who: "test", Next: handler, Classify: Kubernetes})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.URL()+"/api/v1/secrets?watch=true", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	go func() { next <- "one" }()
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	for _, want := range []string{"one", "two"} {
		if want == "two" {
			next <- want
		}
		if !lines.Scan() || lines.Text() != want {
			t.Fatalf("got %q, want %q", lines.Text(), want)
		}
	}
	if call := p.Record().Entries()[0]; call.Verb != "watch" || call.Mutating || call.Done {
		t.Errorf("recorded %v", call)
	}
}
