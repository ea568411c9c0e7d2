package wire_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/conformance/suite"
	"github.com/example/vmoperator/src/provider/fake"
	"github.com/example/vmoperator/src/provider/fake/wire"
	"github.com/example/vmoperator/src/provider/httpapi"
	"github.com/example/vmoperator/src/provider/httpapi/dial"
)

var order = provider.CreateRequest{Name: "web", Image: "ubuntu", CPU: 1, Memory: "1Gi"}

func serve(t *testing.T, handler http.Handler) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

func connect(t *testing.T, endpoint, key string) *httpapi.Client {
	t.Helper()
	loopback, err := dial.ParsePolicy([]string{"127.0.0.0/8", "::1/128"})
	if err != nil {
		t.Fatal(err)
	}
	client, err := httpapi.New(httpapi.Options{
		Endpoint: endpoint, APIKey: httpapi.APIKey(key), Timeout: time.Minute, Dial: loopback,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

func TestTheFakeConformsBehindHTTP(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]fake.Options{
		"everything":        {Capabilities: fake.Full(), Phase: provider.PhaseRunning},
		"the minimum":       {Phase: provider.PhaseRunning, ForgivingDelete: true},
		"small pages":       {Capabilities: fake.Full(), Phase: provider.PhaseRunning, PageSize: 1},
		"slow to show":      {Phase: provider.PhaseRunning, HiddenReads: 2},
		"a list of no keys": {Capabilities: provider.Capabilities{Offered: []string{provider.CapabilityList}}, Phase: provider.PhaseRunning},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := fake.New(options)
			endpoint := serve(t, wire.Handler(p))
			suite.Run(t, connect(t, endpoint, ""))
			if live := p.Live(); len(live) != 0 {
				t.Errorf("left: %+v", live)
			}
		})
	}
}

func TestWhatAClientSeesIsWhatTheFakeShows(t *testing.T) {
	t.Parallel()
	p := fake.New(fake.Options{Capabilities: fake.Full(), SlowDelete: true})
	client := connect(t, serve(t, wire.Handler(p)), "")
	labelled := order
	labelled.Labels = map[string]string{"a": "b"}
	made, err := client.Create(t.Context(), "k", labelled)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(p.Live(), []provider.Machine{made}); diff != "" {
		t.Error(diff)
	}
	capabilities, err := client.Capabilities(t.Context())
	if diff := cmp.Diff(fake.Full(), capabilities); diff != "" || err != nil {
		t.Errorf("error %v\n%s", err, diff)
	}
	if err := client.Delete(t.Context(), made.ID); err != nil {
		t.Error(err)
	}
	if shown, err := client.Get(t.Context(), made.ID); err != nil || shown.Phase != provider.PhaseDeleting {
		t.Errorf("%+v, error %v", shown, err)
	}
	if _, err := client.Resize(t.Context(), made.ID, provider.Size{CPU: 2, Memory: "2Gi"}); provider.ClassOf(err) != provider.Transient {
		t.Errorf("resizing what is being deleted: %v", err)
	}
}

func TestAScriptedFaultKeepsItsMeaningOverTheWire(t *testing.T) {
	t.Parallel()
	type outcome struct {
		Class      provider.Class
		Cause      provider.Cause
		RetryAfter time.Duration
	}
	for name, row := range map[string]struct {
		fault  fake.Fault
		want   outcome
		effect bool
	}{
		"cut before the effect": {fake.Fault{Class: provider.Ambiguous}, outcome{Class: provider.Ambiguous}, false},
		"cut after the effect":  {fake.Fault{Class: provider.Ambiguous, When: fake.After}, outcome{Class: provider.Ambiguous}, true},
		"no JSON": {
			fake.Fault{Class: provider.Ambiguous, Cause: provider.CauseProtocol, When: fake.After},
			outcome{Class: provider.Ambiguous, Cause: provider.CauseProtocol},
			true,
		},
		"throttled": {
			fake.Fault{Class: provider.Throttled, RetryAfter: 7 * time.Second},
			outcome{Class: provider.Throttled, RetryAfter: 7 * time.Second},
			false,
		},
		"unavailable": {
			fake.Fault{Class: provider.Transient, RetryAfter: 7 * time.Second},
			outcome{Class: provider.Ambiguous, RetryAfter: 7 * time.Second},
			false,
		},
		"in trouble":        {fake.Fault{Class: provider.Transient}, outcome{Class: provider.Ambiguous}, false},
		"unauthorized":      {fake.Fault{Class: provider.Unauthorized}, outcome{Class: provider.Unauthorized}, false},
		"rejected":          {fake.Fault{Class: provider.Rejected}, outcome{Class: provider.Rejected}, false},
		"no such endpoint":  {fake.Fault{Class: provider.Rejected, Cause: provider.CauseProtocol}, outcome{Class: provider.Rejected, Cause: provider.CauseProtocol}, false},
		"conflict":          {fake.Fault{Class: provider.Conflict}, outcome{Class: provider.Conflict}, false},
		"the key is spent":  {fake.Fault{Class: provider.NotFound}, outcome{Class: provider.NotFound}, false},
		"the answer is 201": {fake.Fault{}, outcome{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := fake.New(fake.Options{Capabilities: fake.Full()})
			client := connect(t, serve(t, wire.Handler(p)), "")
			row.fault.Op = provider.OperationCreate
			p.Inject(row.fault)
			_, err := client.Create(t.Context(), "k", order)
			got := outcome{provider.ClassOf(err), provider.CauseOf(err), provider.RetryAfterOf(err)}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("%v\n%s", err, diff)
			}
			if made := len(p.Live()) == 1; made != row.effect {
				t.Errorf("made a VM: %t, want %t", made, row.effect)
			}
		})
	}
}

func TestACallThatArrivedIsCarriedOutThoughItsClientIsGone(t *testing.T) {
	t.Parallel()
	p := fake.New(fake.Options{Capabilities: fake.Full()})
	client := connect(t, serve(t, wire.Handler(p)), "")
	release, arrived := make(chan struct{}), make(chan struct{})
	p.Inject(fake.Fault{Op: provider.OperationCreate, Block: release, Hook: func(fake.Entry) { close(arrived) }})
	done := make(chan struct{})
	p.Inject(fake.Fault{Op: provider.OperationCreate, When: fake.After, Hook: func(fake.Entry) { close(done) }})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-arrived
		cancel()
	}()
	if _, err := client.Create(ctx, "k", order); provider.ClassOf(err) != provider.Ambiguous {
		t.Error(err)
	}
	close(release)
	<-done
	if live := p.Live(); len(live) != 1 {
		t.Errorf("live: %+v", live)
	}
}

func TestTheKeyThatIsRequiredCanBeRotated(t *testing.T) {
	t.Parallel()
	var key atomic.Value
	key.Store("first")
	endpoint := serve(t, wire.RequireKey(wire.Handler(fake.New(fake.Options{Capabilities: fake.Full()})),
		func() string { return key.Load().(string) }))
	client := connect(t, endpoint, "first")
	if _, err := client.Capabilities(t.Context()); err != nil {
		t.Error(err)
	}
	key.Store("second")
	if _, err := client.Capabilities(t.Context()); provider.ClassOf(err) != provider.Unauthorized {
		t.Error(err)
	}
}

func TestWhatIsNoRequestOfTheContractIsAProblem(t *testing.T) {
	t.Parallel()
	p := fake.New(fake.Options{Capabilities: fake.Full()})
	endpoint := serve(t, wire.Handler(p))
	for name, row := range map[string]struct {
		method, path, body string
		want               int
	}{
		"a body that is no JSON":     {http.MethodPost, "/vms", "{", http.StatusBadRequest},
		"a body that is no object":   {http.MethodPost, "/vms", "null", http.StatusUnprocessableEntity},
		"a body that is an array":    {http.MethodPost, "/vms", "[]", http.StatusUnprocessableEntity},
		"a body without an image":    {http.MethodPost, "/vms", "{}", http.StatusUnprocessableEntity},
		"half a cpu":                 {http.MethodPost, "/vms", `{"image":"a","cpu":0.5}`, http.StatusUnprocessableEntity},
		"a cpu in words":             {http.MethodPost, "/vms", `{"image":"a","cpu":"one"}`, http.StatusUnprocessableEntity},
		"memory that is no quantity": {http.MethodPost, "/vms", `{"image":"a","memory":"much"}`, http.StatusUnprocessableEntity},
		"an oversize body":           {http.MethodPost, "/vms", `{"image":"` + strings.Repeat("a", 1<<20) + `"}`, http.StatusRequestEntityTooLarge},
		"a limit beyond its bound":   {http.MethodGet, "/vms?limit=501", "", http.StatusBadRequest},
		"an unknown cursor":          {http.MethodGet, "/vms?cursor=no-such-cursor", "", http.StatusBadRequest},
		"a key that is none":         {http.MethodGet, "/vms?key=", "", http.StatusBadRequest},
		"a method of another path":   {http.MethodPut, "/vms", "", http.StatusMethodNotAllowed},
		"an unknown endpoint":        {http.MethodGet, "/", "", http.StatusNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			request, err := http.NewRequestWithContext(t.Context(), row.method, endpoint+row.path, strings.NewReader(row.body))
			if err != nil {
				t.Fatal(err)
			}
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			if media := response.Header.Get("Content-Type"); response.StatusCode != row.want || media != "application/problem+json" {
				t.Errorf("status %d, %s, want %d", response.StatusCode, media, row.want)
			}
			if response.Header.Get("X-Request-ID") == "" {
				t.Error("the answer has no request ID")
			}
		})
	}
	if live := p.Live(); len(live) != 0 {
		t.Errorf("made: %+v", live)
	}
}
