package main

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestAnotherOperatorLearnsWhereItWorks(t *testing.T) {
	t.Parallel()
	command := other(" operator --verbose ").command(place{
		namespace: "team", provider: "http://127.0.0.1:1", kubeconfig: "file", health: "127.0.0.1:2", metrics: "127.0.0.1:3",
	})
	if diff := cmp.Diff([]string{"/bin/sh", "-c", "exec operator --verbose"}, command.Args); diff != "" {
		t.Error(diff)
	}
	for _, want := range []string{
		"KUBECONFIG=file", "NAMESPACE=team", "PROVIDER_URL=http://127.0.0.1:1", "HEALTH_ADDRESS=127.0.0.1:2", "METRICS_ADDRESS=127.0.0.1:3",
	} {
		if !slices.Contains(command.Env, want) {
			t.Errorf("its environment has no %s", want)
		}
	}
}

func TestEachOperatorIsSomebodyElseToTheApiserver(t *testing.T) {
	t.Parallel()
	users := map[string]string{}
	for _, c := range []*contender{ours(), handbook(1), handbook(vmWorkers), other("x")} {
		if earlier, taken := users[c.user]; taken {
			t.Errorf("%s and %s are both %s", earlier, c.name, c.user)
		}
		users[c.user] = c.name
	}
}

func TestOurOperatorRunsWithItsDefaultsButForThePlace(t *testing.T) {
	t.Parallel()
	got := autoscaling(20 * time.Second).command(place{namespace: "team", kubeconfig: "file", health: "a", metrics: "b"}).Args[1:]
	want := []string{
		"--kubeconfig=file", "--watch-namespaces=team", "--allow-endpoint-cidrs=127.0.0.0/8",
		"--health-probe-bind-address=a", "--metrics-bind-address=b", "--resync-interval=20s",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestTheProviderTellsItsCalls(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/stats" {
			_, _ = w.Write([]byte(`{"calls":{"create":2,"list":1},"total":3,"vms":2}`)) // who asked has gone, and fails the test itself
		}
	}))
	defer server.Close()
	got, err := (&site{url: server.URL}).calls(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(counts{"create": 2, "list": 1}, got); diff != "" {
		t.Error(diff)
	}
}

func TestAProviderThatDoesNotTellItsCallsIsAnError(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	if got, err := (&site{url: server.URL}).calls(t.Context()); err == nil {
		t.Errorf("got %v", got)
	}
}
