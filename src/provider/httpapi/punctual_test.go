package httpapi

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/example/vmoperator/src/provider"
)

// A stopped process finds its connection made and its time over at once: whether
// its context's timer or its request comes first is chance, so the request must
// look at the clock itself.
func TestABodyThatComesTooLateIsNotSent(t *testing.T) {
	var arrived atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		// The header goes ahead of the body: without that, there is nothing to carry out.
		if _, err := io.ReadAll(r.Body); err == nil {
			arrived.Add(1)
		}
	}))
	t.Cleanup(server.Close)
	for name, c := range map[string]struct {
		left time.Duration
		late bool
	}{
		"in time":  {time.Hour, false},
		"too late": {-time.Nanosecond, true},
	} {
		t.Run(name, func(t *testing.T) {
			arrived.Store(0)
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			over, cancel := context.WithDeadline(t.Context(), time.Now().Add(c.left))
			defer cancel()
			var late atomic.Bool
			carry(over, request, []byte("{}"), &late)
			response, err := server.Client().Do(request)
			if err == nil {
				response.Body.Close()
			}
			if c.late != errors.Is(err, errLate) || late.Load() != c.late {
				t.Errorf("late is %v, the error %v", late.Load(), err)
			}
			if got := arrived.Load() == 0; got != c.late {
				t.Errorf("%d requests arrived", arrived.Load())
			}
		})
	}
	if failure := unsent(provider.OperationCreate); failure.Class != provider.Transient {
		t.Errorf("a call that was not sent is %s: it had no effect", failure.Class)
	}
}
