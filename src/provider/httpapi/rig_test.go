package httpapi_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/httpapi"
	"github.com/example/vmoperator/src/provider/httpapi/dial"
)

// marker is the API key of all tests here: it may appear in no error.
const marker = "marker-key-do-not-show-3f9c"

// operations are all calls, each with arguments that any provider understands.
var operations = map[provider.Operation]func(context.Context, provider.Client) error{
	provider.OperationCapabilities: func(ctx context.Context, c provider.Client) error {
		_, err := c.Capabilities(ctx)
		return err
	},
	provider.OperationCreate: func(ctx context.Context, c provider.Client) error {
		_, err := c.Create(ctx, "key/1", provider.CreateRequest{Name: "web", Image: "ubuntu", CPU: 1, Memory: "1Gi"})
		return err
	},
	provider.OperationGet: func(ctx context.Context, c provider.Client) error {
		_, err := c.Get(ctx, "vm-1")
		return err
	},
	provider.OperationFind: func(ctx context.Context, c provider.Client) error {
		_, err := c.FindByKey(ctx, "key/1")
		return err
	},
	provider.OperationList: func(ctx context.Context, c provider.Client) error {
		_, err := c.List(ctx, "")
		return err
	},
	provider.OperationResize: func(ctx context.Context, c provider.Client) error {
		_, err := c.Resize(ctx, "vm-1", provider.Size{CPU: 2, Memory: "2Gi"})
		return err
	},
	provider.OperationDelete: func(ctx context.Context, c provider.Client) error {
		return c.Delete(ctx, "vm-1")
	},
}

var (
	reads     = []provider.Operation{provider.OperationCapabilities, provider.OperationGet, provider.OperationFind, provider.OperationList}
	mutations = []provider.Operation{provider.OperationCreate, provider.OperationResize, provider.OperationDelete}
)

// outcome is what a caller can learn from an error.
type outcome struct {
	Class      provider.Class
	Cause      provider.Cause
	RetryAfter time.Duration
}

// learn checks what holds for every error, and returns its outcome.
func learn(t *testing.T, op provider.Operation, err error) outcome {
	t.Helper()
	if err == nil {
		return outcome{}
	}
	failure, ok := errors.AsType[*provider.Error](err)
	if !ok {
		t.Fatalf("%v is no provider.Error", err)
	}
	if failure.Op != op {
		t.Errorf("Op is %q, want %q", failure.Op, op)
	}
	for each := err; each != nil; each = errors.Unwrap(each) {
		if text := each.Error(); strings.Contains(text, marker) || strings.Contains(text, "<html") || len(text) > 400 {
			t.Errorf("the error shows what it must not: %s", text)
		}
	}
	return outcome{failure.Class, failure.Cause, failure.RetryAfter}
}

// loopback allows what tests listen on.
func loopback(t *testing.T) dial.Policy {
	t.Helper()
	policy, err := dial.ParsePolicy([]string{"127.0.0.0/8", "::1/128"})
	if err != nil {
		t.Fatal(err)
	}
	return policy
}

// connect returns a client of an endpoint; edit may be nil.
func connect(t *testing.T, endpoint string, edit func(*httpapi.Options)) *httpapi.Client {
	t.Helper()
	options := httpapi.Options{Endpoint: endpoint, APIKey: marker, Timeout: 30 * time.Second, Dial: loopback(t)}
	if edit != nil {
		edit(&options)
	}
	client, err := httpapi.New(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

// serve starts a server and returns its client.
func serve(t *testing.T, handler http.HandlerFunc) *httpapi.Client {
	t.Helper()
	return connect(t, newServer(t, handler).URL, nil)
}

func newServer(t *testing.T, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server
}

// answer is a handler that says the same to everything.
func answer(status int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}
