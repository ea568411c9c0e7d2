package httpapi_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/example/vmoperator/src/provider"
)

// TestEveryStatusHasItsClass is the table of the package comment.
func TestEveryStatusHasItsClass(t *testing.T) {
	t.Parallel()
	all := slices.Concat(reads, mutations)
	except := func(ops []provider.Operation, not ...provider.Operation) []provider.Operation {
		return slices.DeleteFunc(slices.Clone(ops), func(op provider.Operation) bool { return slices.Contains(not, op) })
	}
	only := func(ops ...provider.Operation) []provider.Operation { return ops }
	const (
		capabilities, create, get = provider.OperationCapabilities, provider.OperationCreate, provider.OperationGet
		find, list                = provider.OperationFind, provider.OperationList
		resize, remove            = provider.OperationResize, provider.OperationDelete
	)
	for _, row := range []struct {
		statuses   []int
		retryAfter string
		ops        []provider.Operation
		want       outcome
	}{
		{[]int{400, 413, 422}, "", all, outcome{Class: provider.Rejected}},
		{[]int{401, 403}, "", all, outcome{Class: provider.Unauthorized}},
		{[]int{404}, "", only(get, resize, remove), outcome{Class: provider.NotFound}},
		{[]int{404}, "", only(list, find, create), outcome{Class: provider.Rejected, Cause: provider.CauseProtocol}},
		{[]int{404}, "", only(capabilities), outcome{}},
		{[]int{409}, "", only(create), outcome{Class: provider.Conflict}},
		{[]int{409}, "", except(all, create), outcome{Class: provider.Transient}},
		{[]int{410}, "", only(create), outcome{Class: provider.NotFound}},
		{[]int{410}, "", except(all, create), outcome{Class: provider.Rejected, Cause: provider.CauseProtocol}},
		{[]int{429}, "7", all, outcome{Class: provider.Throttled, RetryAfter: 7 * time.Second}},
		{[]int{429}, "", all, outcome{Class: provider.Throttled, RetryAfter: time.Second}},
		{[]int{429}, "-3", all, outcome{Class: provider.Throttled, RetryAfter: time.Second}},
		{[]int{429}, "soon", all, outcome{Class: provider.Throttled, RetryAfter: time.Second}},
		{[]int{429}, "31536000", all, outcome{Class: provider.Throttled, RetryAfter: 5 * time.Minute}},
		{[]int{503}, "7", reads, outcome{Class: provider.Throttled, RetryAfter: 7 * time.Second}},
		{[]int{503}, "7", mutations, outcome{Class: provider.Ambiguous, RetryAfter: 7 * time.Second}},
		{[]int{503}, "", reads, outcome{Class: provider.Transient}},
		{[]int{503}, "", mutations, outcome{Class: provider.Ambiguous}},
		{[]int{501}, "", only(capabilities, list, find, resize), outcome{Class: provider.Rejected, Cause: provider.CauseProtocol}},
		{[]int{501}, "", only(create, remove), outcome{Class: provider.Ambiguous}},
		{[]int{501}, "", only(get), outcome{Class: provider.Transient}},
		{[]int{408, 425, 500, 502, 504, 507, 599}, "", reads, outcome{Class: provider.Transient}},
		{[]int{408, 425, 500, 502, 504, 507, 599}, "", mutations, outcome{Class: provider.Ambiguous}},
		{[]int{300, 301, 302, 307, 308, 402, 405, 418, 451}, "", all, outcome{Class: provider.Rejected, Cause: provider.CauseProtocol}},
	} {
		for _, status := range row.statuses {
			for _, op := range row.ops {
				t.Run(fmt.Sprintf("%d %s %s", status, row.retryAfter, op), func(t *testing.T) {
					t.Parallel()
					client := serve(t, func(w http.ResponseWriter, _ *http.Request) {
						if row.retryAfter != "" {
							w.Header().Set("Retry-After", row.retryAfter)
						}
						w.Header().Set("Location", "/elsewhere?key="+marker)
						w.Header().Set("Content-Type", "text/html")
						w.WriteHeader(status)
						fmt.Fprint(w, "<html>"+marker)
					})
					got := learn(t, op, operations[op](t.Context(), client))
					if diff := cmp.Diff(row.want, got); diff != "" {
						t.Error(diff)
					}
				})
			}
		}
	}
}

func TestARedirectIsNotFollowedAndTheErrorSaysSo(t *testing.T) {
	t.Parallel()
	calls := 0
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		calls++
		http.Redirect(w, r, "/vms/vm-2", http.StatusTemporaryRedirect)
	})
	_, err := client.Get(t.Context(), "vm-1")
	if learn(t, provider.OperationGet, err); !strings.Contains(err.Error(), "redirects are not followed") {
		t.Error(err)
	}
	if calls != 1 {
		t.Errorf("%d calls, want 1", calls)
	}
}

func TestTheReasonOfARefusalIsShownCleaned(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ contentType, body, want, not string }{
		"the user learns why": {
			"application/problem+json", `{"detail":"image web is not in the catalogue"}`,
			"image web is not in the catalogue", "",
		},
		"control characters and line breaks go": {
			"application/problem+json", `{"detail":"no\u0000 \u001b[31msuch\r\nimage\u202e"}`, "no [31msuch image", "\x1b",
		},
		"the key goes":                       {"application/json", `{"detail":"key ` + marker + ` is odd"}`, "key [redacted] is odd", marker},
		"an interrupted key goes":            {"application/json", `{"detail":"` + marker[:9] + `\u0000` + marker[9:] + `"}`, "[redacted]", marker},
		"a long detail is cut":               {"application/json", `{"detail":"` + strings.Repeat("x", 500) + `"}`, strings.Repeat("x", 199) + "…", strings.Repeat("x", 200)},
		"the title is not shown":             {"application/problem+json", `{"title":"Ouch"}`, "status 422", "Ouch"},
		"what is no JSON is not shown":       {"text/plain", `{"detail":"Ouch"}`, "status 422", "Ouch"},
		"what is broken JSON is not shown":   {"application/json", `{"detail":"Ouch"`, "status 422", "Ouch"},
		"a detail that is no text is hidden": {"application/json", `{"detail":["Ouch"]}`, "status 422", "Ouch"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := serve(t, answer(http.StatusUnprocessableEntity, row.contentType, row.body))
			err := operations[provider.OperationCreate](t.Context(), client)
			learn(t, provider.OperationCreate, err)
			if !strings.Contains(err.Error(), row.want) || (row.not != "" && strings.Contains(err.Error(), row.not)) {
				t.Errorf("error %q, want it to have %q and not %q", err, row.want, row.not)
			}
		})
	}
}

func TestOnlyA422ShowsTheProvidersWords(t *testing.T) {
	t.Parallel()
	for _, status := range []int{400, 401, 404, 409, 413, 429, 500, 503} {
		client := serve(t, answer(status, "application/problem+json", `{"title":"Ouch","detail":"Ouch"}`))
		err := operations[provider.OperationGet](t.Context(), client)
		if learn(t, provider.OperationGet, err); strings.Contains(err.Error(), "Ouch") {
			t.Errorf("status %d: %v", status, err)
		}
	}
}
