package httpapi_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/httpapi"
)

func TestASuccessThatCannotBeUsedLeavesTheOutcomeOpen(t *testing.T) {
	t.Parallel()
	for name, handler := range map[string]http.HandlerFunc{
		"HTML":               answer(http.StatusOK, "text/html", "<html>Sign in "+marker+"</html>"),
		"no content type":    answer(http.StatusOK, "", `{"id":"vm-1"}`),
		"text":               answer(http.StatusOK, "text/plain", `{"id":"vm-1"}`),
		"truncated JSON":     answer(http.StatusOK, "application/json", `{"id":"vm-1","x":"`+marker),
		"trailing data":      answer(http.StatusOK, "application/json", `{"id":"vm-1","items":[],"next":""} {}`),
		"an unsafe id":       answer(http.StatusOK, "application/json", `{"id":"../`+marker+`","items":[{"id":".."}],"next":"","identity":7}`),
		"another type":       answer(http.StatusOK, "application/json", `["`+marker+`"]`),
		"more than 10 MB":    oversized,
		"a VM it is not":     answer(http.StatusOK, "application/json", `{"id":"vm-2","key":"other","items":[{"id":"a","key":"other"}],"identity":1}`),
		"status 204, no VM":  answer(http.StatusNoContent, "application/json", ""),
		"several of one key": answer(http.StatusOK, "application/json", `{"items":[{"id":"a","key":"key/1"},{"id":"b","key":"key/1"}],"identity":1}`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := serve(t, handler)
			for op, call := range operations {
				if op == provider.OperationDelete {
					continue
				}
				want := outcome{Class: provider.Transient, Cause: provider.CauseProtocol}
				if op == provider.OperationCreate || op == provider.OperationResize {
					want.Class = provider.Ambiguous
				}
				err := call(t.Context(), client)
				if diff := cmp.Diff(want, learn(t, op, err)); diff != "" {
					t.Errorf("%s: %v\n%s", op, err, diff)
				}
			}
		})
	}
}

// oversized answers with more than anybody should read.
func oversized(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(w, `{"id":"vm-1","padding":"`)
	chunk := strings.Repeat("x", 1<<16)
	for range 11 << 20 >> 16 {
		if _, err := io.WriteString(w, chunk); err != nil {
			return // The client has read enough, as it should.
		}
	}
	fmt.Fprint(w, `"}`)
}

func TestADeletionIsAcceptedByItsStatus(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		status            int
		contentType, body string
		want              outcome
	}{
		{http.StatusNoContent, "text/html", "", outcome{}},
		{http.StatusAccepted, "application/json", `{"id":"vm-1","phase":"Deleting"}`, outcome{}},
		{http.StatusOK, "application/json", `{"id":`, outcome{}},
		{http.StatusOK, "", "", outcome{}},
		{http.StatusOK, "text/html", "<html>", outcome{Class: provider.Ambiguous, Cause: provider.CauseProtocol}},
	} {
		client := serve(t, answer(row.status, row.contentType, row.body))
		err := client.Delete(t.Context(), "vm-1")
		if diff := cmp.Diff(row.want, learn(t, provider.OperationDelete, err)); diff != "" {
			t.Errorf("%+v: %s", row, diff)
		}
	}
}

func TestAnIDThatIsNotSafeIsNotSent(t *testing.T) {
	t.Parallel()
	called := false
	client := serve(t, func(http.ResponseWriter, *http.Request) { called = true })
	for _, id := range []string{"", ".", "..", "a/b", "a?b", "a#b", "%2e", "a b", "-a", strings.Repeat("a", 257)} {
		_, getErr := client.Get(t.Context(), id)
		_, resizeErr := client.Resize(t.Context(), id, provider.Size{})
		for op, err := range map[provider.Operation]error{
			provider.OperationGet: getErr, provider.OperationResize: resizeErr, provider.OperationDelete: client.Delete(t.Context(), id),
		} {
			if learn(t, op, err).Class != provider.Rejected {
				t.Errorf("%s %q: %v", op, id, err)
			}
		}
	}
	if called {
		t.Error("the server was called")
	}
}

func TestRequestsAreWhatTheContractSays(t *testing.T) {
	t.Parallel()
	var seen *http.Request
	var body []byte
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		seen = r
		body, _ = io.ReadAll(r.Body)
		answer(http.StatusOK, "application/json", `{"id":"vm-1","items":[],"next":"c2"}`)(w, r)
	})
	ctx := provider.WithCallInfo(t.Context(), provider.CallInfo{RequestID: "request-1"})
	request := provider.CreateRequest{Name: "web", Image: "ubuntu", CPU: 2, Memory: "4Gi", Labels: map[string]string{"a": "b"}}
	if _, err := client.Create(ctx, "uid/1", request); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"Authorization": "Bearer " + marker, "Idempotency-Key": "uid/1", "X-Request-Id": "request-1",
		"Content-Type": "application/json", "Accept": "application/json, application/problem+json", "User-Agent": "vmoperator",
	}
	for name, value := range want {
		if got := seen.Header.Get(name); got != value {
			t.Errorf("%s: %q, want %q", name, got, value)
		}
	}
	var sent provider.CreateRequest
	if err := json.Unmarshal(body, &sent); err != nil || !cmp.Equal(request, sent) {
		t.Errorf("body %s, error %v", body, err)
	}
	if _, err := client.List(ctx, "c1"); err != nil || seen.URL.RequestURI() != "/vms?cursor=c1&limit=500" {
		t.Errorf("%s, error %v", seen.URL, err)
	}
	_, err := client.FindByKey(ctx, "uid/1")
	if learn(t, provider.OperationFind, err).Class != provider.NotFound || seen.URL.RequestURI() != "/vms?key=uid%2F1" {
		t.Errorf("%s, error %v", seen.URL, err)
	}
	if _, err := client.Resize(ctx, "vm-1", provider.Size{CPU: 4, Memory: "8Gi"}); err != nil ||
		seen.Method != http.MethodPatch || string(body) != `{"cpu":4,"memory":"8Gi"}` {
		t.Errorf("%s %s, error %v", seen.Method, body, err)
	}
}

func TestARequestIDIsMadeWhereNoneCanBeSent(t *testing.T) {
	t.Parallel()
	var seen string
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		seen = r.Header.Get("X-Request-ID")
		answer(http.StatusOK, "application/json", `{"id":"vm-1"}`)(w, r)
	})
	for _, id := range []string{"", "a\nb", strings.Repeat("a", 129), "ä"} {
		ctx := provider.WithCallInfo(t.Context(), provider.CallInfo{RequestID: id})
		if _, err := client.Get(ctx, "vm-1"); err != nil || seen == "" || seen == id {
			t.Errorf("%q became %q, error %v", id, seen, err)
		}
	}
}

func TestAnEndpointMayHaveAPath(t *testing.T) {
	t.Parallel()
	var path string
	handler := func(w http.ResponseWriter, r *http.Request) {
		path = r.URL.Path
		answer(http.StatusOK, "application/json", `{"id":"vm-1"}`)(w, r)
	}
	server := newServer(t, handler)
	for _, base := range []string{"/api", "/api/"} {
		client := connect(t, server.URL+base, func(o *httpapi.Options) { o.APIKey = "" })
		if _, err := client.Get(t.Context(), "vm-1"); err != nil || path != "/api/vms/vm-1" {
			t.Errorf("%s: %s, error %v", base, path, err)
		}
	}
}

func TestWithoutAKeyNoAuthorizationIsSent(t *testing.T) {
	t.Parallel()
	var sent []string
	server := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		sent = r.Header["Authorization"]
		answer(http.StatusOK, "application/json", `{"id":"vm-1"}`)(w, r)
	})
	client := connect(t, server.URL, func(o *httpapi.Options) { o.APIKey = "" })
	if _, err := client.Get(t.Context(), "vm-1"); err != nil || sent != nil {
		t.Errorf("sent %q, error %v", sent, err)
	}
}

func TestAPageThatLeadsToItselfIsRefused(t *testing.T) {
	t.Parallel()
	client := serve(t, answer(http.StatusOK, "application/json", `{"items":[],"next":"c1"}`))
	if page, err := client.List(t.Context(), ""); err != nil || page.Next != "c1" {
		t.Errorf("%+v, error %v", page, err)
	}
	_, err := client.List(t.Context(), "c1")
	if diff := cmp.Diff(outcome{Class: provider.Transient, Cause: provider.CauseProtocol}, learn(t, provider.OperationList, err)); diff != "" {
		t.Error(diff)
	}
}
