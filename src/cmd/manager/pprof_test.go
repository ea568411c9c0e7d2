package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/example/vmoperator/src/test/operator"
)

// A standby is what somebody may ask as well, so its profiles do not wait for the
// lead.
func TestProfilesAreServedWhereAsked(t *testing.T) {
	place := namespace(t)
	elect := []string{"--watch-namespaces=" + place, "--leader-elect", "--leader-election-namespace=" + place, "--controllers=myapp"}
	leading := startOperator(t, plane.Config, elect...)
	leading.WantLine("Starting workers", `"myapp"`)

	standby := startOperator(t, plane.Config, append(elect, "--pprof-bind-address=127.0.0.1:0")...)
	var line struct {
		Address string `json:"addr"`
	}
	if err := json.Unmarshal([]byte(standby.WantLine("starting server", `"pprof"`)), &line); err != nil {
		t.Fatal(err)
	}
	operator.WaitFor(t, "the heap's profile", func(ctx context.Context) bool {
		return strings.Contains(page(ctx, "http://"+line.Address+"/debug/pprof/heap?debug=1"), "heap profile")
	})
	if lines := standby.Lines("Starting workers"); len(lines) > 0 {
		t.Errorf("both lead: %s", lines)
	}
	if lines := leading.Lines("starting server", `"pprof"`); len(lines) > 0 {
		t.Errorf("profiles are served unasked: %s", lines)
	}
}

// page is what an address answers; empty if it does not.
func page(ctx context.Context, url string) string {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return ""
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return ""
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return ""
	}
	return string(text)
}
