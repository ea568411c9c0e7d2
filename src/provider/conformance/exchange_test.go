package conformance_test

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"

	"github.com/example/vmoperator/src/provider/fake"
)

// exchange is a call to a wrong server, and its answer once it has one. Faults
// change both.
type exchange struct {
	*http.Request

	provider *fake.Provider
	body     []byte
	answer   *httptest.ResponseRecorder
	serve    http.Handler
}

// fault is what a wrong server does with a call. It calls pass, or answers itself.
// It runs for one call at a time.
type fault func(*exchange)

// before is a server with the fault.
func (f fault) before(p *fake.Provider, next http.Handler) http.Handler {
	var mu sync.Mutex
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			// The client is gone.
			panic(http.ErrAbortHandler)
		}
		e := &exchange{Request: r, provider: p, body: body, answer: httptest.NewRecorder(), serve: next}
		mu.Lock()
		f(e)
		mu.Unlock()
		maps.Copy(w.Header(), e.answer.Header())
		w.WriteHeader(e.answer.Code)
		_, _ = w.Write(e.answer.Body.Bytes())
	})
}

// pass lets the call through to the right server.
func (e *exchange) pass() {
	e.Body = io.NopCloser(bytes.NewReader(e.body))
	e.ContentLength = int64(len(e.body))
	e.serve.ServeHTTP(e.answer, e.Request)
}

// refuse answers with a problem.
func (e *exchange) refuse(status int) {
	e.answer = httptest.NewRecorder()
	e.answer.Header().Set("Content-Type", "application/problem+json")
	e.answer.WriteHeader(status)
	document := map[string]any{"type": "about:blank", "title": http.StatusText(status), "status": status, "detail": "wrong"}
	if err := json.NewEncoder(e.answer).Encode(document); err != nil {
		panic(err)
	}
}

// edit changes the JSON of an answer.
func (e *exchange) edit(change func(map[string]any)) {
	var document map[string]any
	if json.Unmarshal(e.answer.Body.Bytes(), &document) != nil {
		return
	}
	change(document)
	text, err := json.Marshal(document)
	if err != nil {
		panic(err)
	}
	e.answer.Body = bytes.NewBuffer(text)
}

// items changes the VMs of a page.
func (e *exchange) items(change func([]any) []any) {
	e.edit(func(page map[string]any) {
		if items, isPage := page["items"].([]any); isPage {
			page["items"] = change(items)
		}
	})
}

// ask changes the JSON of the call.
func (e *exchange) ask(change func(map[string]any)) {
	var document map[string]any
	if json.Unmarshal(e.body, &document) != nil {
		return
	}
	change(document)
	text, err := json.Marshal(document)
	if err != nil {
		panic(err)
	}
	e.body = text
}

// query changes a parameter of the call; an empty one is taken away.
func (e *exchange) query(name, value string) {
	query := e.URL.Query()
	query.Set(name, value)
	if value == "" {
		query.Del(name)
	}
	e.URL.RawQuery = query.Encode()
}

func (e *exchange) creates() bool { return e.Method == http.MethodPost }

func (e *exchange) lists() bool {
	return e.Method == http.MethodGet && e.URL.Path == "/vms" && !e.URL.Query().Has("key")
}

func (e *exchange) reads() bool {
	return e.Method == http.MethodGet && strings.HasPrefix(e.URL.Path, "/vms/")
}

// of reports whether the call is about a VM of the check with this last name, or
// one of its keys.
func (e *exchange) of(check string) bool {
	name := "-" + check + "-"
	return bytes.Contains(e.body, []byte(name)) || strings.Contains(e.URL.Path, name) ||
		strings.Contains(e.URL.Query().Get("key"), name)
}
