package httpapi_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/conformance/suite"
	"github.com/example/vmoperator/src/provider/httpapi"
	"github.com/example/vmoperator/src/test/mockprovider"
)

func startMock(t *testing.T, options mockprovider.Options) *mockprovider.Provider {
	t.Helper()
	mock, err := mockprovider.Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := mock.Stop(); err != nil {
			t.Error(err)
		}
	})
	return mock
}

func TestTheMockProviderConforms(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"everything":         {"--provision-seconds", "0.1"},
		"slow deletion":      {"--provision-seconds", "0", "--delete-seconds", "0.2"},
		"the minimum":        {"--provision-seconds", "0.1", "--minimal"},
		"a list of no keys":  {"--provision-seconds", "0", "--capabilities", "list"},
		"slow to show a VM":  {"--provision-seconds", "0", "--visible-after-seconds", "0.1", "--settle-seconds", "0.2"},
		"nothing but resize": {"--provision-seconds", "0", "--capabilities", "resize"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mock := startMock(t, mockprovider.Options{Args: args, APIKey: marker})
			suite.Run(t, connect(t, mock.URL(), nil))
		})
	}
}

func TestTheHandbooksServerConforms(t *testing.T) {
	t.Parallel()
	mock := startMock(t, mockprovider.Options{Handbook: true, Args: []string{"--provision-seconds", "0.1"}})
	suite.Run(t, connect(t, mock.URL(), nil))
	client := connect(t, mock.URL(), nil)
	capabilities, err := client.Capabilities(t.Context())
	if diff := cmp.Diff(provider.Capabilities{}, capabilities); diff != "" || err != nil {
		t.Errorf("error %v\n%s", err, diff)
	}
	_, err = client.List(t.Context(), "")
	if got := learn(t, provider.OperationList, err); got != (outcome{Class: provider.Rejected, Cause: provider.CauseProtocol}) {
		t.Errorf("listing: %v", err)
	}
}

func TestFaultsOfTheMockProviderHaveTheirClass(t *testing.T) {
	t.Parallel()
	mock := startMock(t, mockprovider.Options{Args: []string{"--enable-faults"}, APIKey: marker})
	// Long enough for a noisy machine: only the faults with latency wait for it.
	client := connect(t, mock.URL(), func(o *httpapi.Options) { o.Timeout = 2 * time.Second })
	unusable := outcome{Class: provider.Ambiguous, Cause: provider.CauseProtocol}
	for i, row := range []struct {
		fault  mockprovider.Fault
		want   outcome
		effect bool
	}{
		{mockprovider.Fault{Drop: true}, outcome{Class: provider.Ambiguous}, false},
		{mockprovider.Fault{Drop: true, When: "after"}, outcome{Class: provider.Ambiguous}, true},
		{mockprovider.Fault{LatencySeconds: 5}, outcome{Class: provider.Ambiguous, Cause: provider.CauseTimeout}, false},
		{mockprovider.Fault{LatencySeconds: 5, When: "after"}, outcome{Class: provider.Ambiguous, Cause: provider.CauseTimeout}, true},
		{mockprovider.Fault{Body: "truncated", When: "after"}, unusable, true},
		{mockprovider.Fault{Body: "malformed", When: "after"}, unusable, true},
		{mockprovider.Fault{Body: "oversized", When: "after"}, unusable, true},
		{mockprovider.Fault{Body: "html"}, unusable, false},
		{mockprovider.Fault{Status: 429, RetryAfter: "7"}, outcome{Class: provider.Throttled, RetryAfter: 7 * time.Second}, false},
		{mockprovider.Fault{Status: 429, RetryAfter: "soon"}, outcome{Class: provider.Throttled, RetryAfter: time.Second}, false},
		{mockprovider.Fault{Status: 503, RetryAfter: "7"}, outcome{Class: provider.Ambiguous, RetryAfter: 7 * time.Second}, false},
		{mockprovider.Fault{Status: 500, When: "after"}, outcome{Class: provider.Ambiguous}, true},
		{mockprovider.Fault{Status: 401}, outcome{Class: provider.Unauthorized}, false},
		{mockprovider.Fault{Status: 422}, outcome{Class: provider.Rejected}, false},
	} {
		row.fault.Operation = "create"
		if err := mock.Fault(t.Context(), row.fault); err != nil {
			t.Fatal(err)
		}
		key := fmt.Sprintf("key/%d", i)
		_, err := client.Create(t.Context(), key, provider.CreateRequest{Name: "web", Image: "ubuntu", CPU: 1, Memory: "1Gi"})
		if diff := cmp.Diff(row.want, learn(t, provider.OperationCreate, err)); diff != "" {
			t.Errorf("%+v: %v\n%s", row.fault, err, diff)
		}
		if row.fault.LatencySeconds > 0 {
			continue // The mock provider still serves the call.
		}
		_, err = client.FindByKey(t.Context(), key)
		if made := err == nil; made != row.effect {
			t.Errorf("%+v: made a VM: %t, want %t, error %v", row.fault, made, row.effect, err)
		}
	}
}

func TestAWrongKeyIsUnauthorizedUntilItIsRight(t *testing.T) {
	t.Parallel()
	mock := startMock(t, mockprovider.Options{APIKey: "another key"})
	client := connect(t, mock.URL(), nil)
	for op, call := range operations {
		if got := learn(t, op, call(t.Context(), client)); got != (outcome{Class: provider.Unauthorized}) {
			t.Errorf("%s: %+v", op, got)
		}
	}
	if err := mock.SetAPIKey(marker); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Capabilities(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestAllPagesTogetherAreAllVMs(t *testing.T) {
	t.Parallel()
	mock := startMock(t, mockprovider.Options{})
	client := connect(t, mock.URL(), nil)
	const machines = pageSize + 3
	for i := range machines {
		request := provider.CreateRequest{Name: "web", Image: "ubuntu", CPU: 1, Memory: "1Gi"}
		if _, err := client.Create(t.Context(), fmt.Sprintf("key/%d", i), request); err != nil {
			t.Fatal(err)
		}
	}
	ids := map[string]bool{}
	pages := 0
	for cursor, more := "", true; more; more = cursor != "" {
		page, err := client.List(t.Context(), cursor)
		if err != nil {
			t.Fatal(err)
		}
		for _, machine := range page.Items {
			ids[machine.ID] = true
		}
		cursor = page.Next
		pages++
	}
	if len(ids) != machines || pages != 2 {
		t.Errorf("%d VMs on %d pages, want %d on 2", len(ids), pages, machines)
	}
}

// pageSize is the most that the contract allows.
const pageSize = 500

func TestAMovedProviderWithItsDataIsTheSame(t *testing.T) {
	t.Parallel()
	mock := startMock(t, mockprovider.Options{Args: []string{"--data", filepath.Join(t.TempDir(), "vms.db")}})
	before := connect(t, mock.URL(), nil)
	made, err := before.Create(t.Context(), "key/1", provider.CreateRequest{Name: "web", Image: "ubuntu", CPU: 1, Memory: "1Gi"})
	if err != nil {
		t.Fatal(err)
	}
	first, err := before.Capabilities(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := mock.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	after := connect(t, mock.URL(), nil)
	second, err := after.Capabilities(t.Context())
	if diff := cmp.Diff(first, second); diff != "" || err != nil {
		t.Errorf("error %v\n%s", err, diff)
	}
	if shown, err := after.Get(t.Context(), made.ID); err != nil || shown.ID != made.ID {
		t.Errorf("%+v, error %v", shown, err)
	}
}
