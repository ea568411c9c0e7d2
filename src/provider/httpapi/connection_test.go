package httpapi_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/httpapi"
	"github.com/example/vmoperator/src/provider/httpapi/dial"
)

// expect makes every call and compares what is learnt: from reads, and from
// mutations.
func expect(t *testing.T, client provider.Client, read, mutation outcome) {
	t.Helper()
	for op, call := range operations {
		want := read
		if slices.Contains(mutations, op) {
			want = mutation
		}
		err := call(t.Context(), client)
		if diff := cmp.Diff(want, learn(t, op, err)); diff != "" {
			t.Errorf("%s: %v\n%s", op, err, diff)
		}
	}
}

func TestAnAddressThatThePolicyRefusesIsNotDialled(t *testing.T) {
	t.Parallel()
	refused := outcome{Class: provider.Rejected, Cause: provider.CauseEndpointRefused}
	called := false
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called = true }))
	defer server.Close()
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	// The name is what a check of the URL alone would let through.
	for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]"} {
		client := connect(t, "http://"+host+":"+port, func(o *httpapi.Options) { o.Dial = dial.Policy{} })
		_, err := client.Get(t.Context(), "vm-1")
		if diff := cmp.Diff(refused, learn(t, provider.OperationGet, err)); diff != "" {
			t.Errorf("%s: %v\n%s", host, err, diff)
		}
	}
	expect(t, connect(t, server.URL, func(o *httpapi.Options) { o.Dial = dial.Policy{} }), refused, refused)
	if called {
		t.Error("the server was reached")
	}
}

// closedPort is an address where nobody listens.
func closedPort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it is closed at once
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

func TestWithoutAConnectionNothingWasDone(t *testing.T) {
	t.Parallel()
	unreachable := outcome{Class: provider.Transient, Cause: provider.CauseUnreachable}
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = quiet(t)
	secure.StartTLS()
	t.Cleanup(secure.Close)
	for name, row := range map[string]struct{ endpoint, says string }{
		"nobody listens":                       {"http://" + closedPort(t), "refused the connection"},
		"the name does not exist":              {"http://no..host", "cannot be resolved"},
		"the certificate is not trusted":       {secure.URL, "certificate cannot be verified"},
		"the server does not speak TLS":        {strings.Replace(plain.URL, "http:", "https:", 1), "does not speak TLS"},
		"the server has no TLS version for us": {oldTLS(t), "refused the TLS handshake"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := connect(t, row.endpoint, nil)
			expect(t, client, unreachable, unreachable)
			_, err := client.Get(t.Context(), "vm-1")
			if err == nil || !strings.Contains(err.Error(), row.says) {
				t.Errorf("error %v, want it to say %q", err, row.says)
			}
		})
	}
}

// oldTLS is a server with nothing newer than TLS 1.1.
func oldTLS(t *testing.T) string {
	t.Helper()
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = quiet(t)
	server.TLS = &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11} //nolint:gosec // that is the point
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.URL
}

func TestTheGivenCertificatesAreTrusted(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(answer(http.StatusOK, "application/json", `{"id":"vm-1"}`))
	defer server.Close()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	client := connect(t, server.URL, func(o *httpapi.Options) { o.CACertificates = ca })
	if _, err := client.Get(t.Context(), "vm-1"); err != nil {
		t.Error(err)
	}
}

func TestABrokenConnectionLeavesTheOutcomeOpen(t *testing.T) {
	t.Parallel()
	read, mutation := outcome{Class: provider.Transient}, outcome{Class: provider.Ambiguous}
	for name, reply := range map[string]string{
		"without an answer":         "",
		"in the middle of a header": "HTTP/1.1 200 OK\r\nContent-",
		"with what is no HTTP":      "SSH-2.0-OpenSSH_9.9\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := serve(t, func(w http.ResponseWriter, r *http.Request) { hangUp(t, w, r, reply) })
			expect(t, client, read, mutation)
		})
	}
}

// hangUp sends text as it is and closes the connection. The request is read first:
// a connection that is closed with something unread is reset, and the text is lost.
func hangUp(t *testing.T, w http.ResponseWriter, r *http.Request, text string) {
	t.Helper()
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		t.Error(err)
	}
	connection, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		t.Error(err)
		return
	}
	defer connection.Close()
	if _, err := connection.Write([]byte(text)); err != nil {
		t.Error(err)
	}
}

func TestAnAnswerThatBreaksOffIsOfNoUse(t *testing.T) {
	t.Parallel()
	const reply = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"id\":\"vm-1\""
	client := serve(t, func(w http.ResponseWriter, r *http.Request) { hangUp(t, w, r, reply) })
	for op, call := range operations {
		want := outcome{Class: provider.Transient, Cause: provider.CauseProtocol}
		switch op {
		case provider.OperationDelete:
			// That it was accepted stands in the status.
			want = outcome{}
		case provider.OperationCreate, provider.OperationResize:
			want.Class = provider.Ambiguous
		default:
		}
		if diff := cmp.Diff(want, learn(t, op, call(t.Context(), client))); diff != "" {
			t.Errorf("%s: %s", op, diff)
		}
	}
}

func TestWithoutAnAnswerInTimeTheOutcomeIsOpen(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Request-ID") == "header first" {
			w.Header().Set("Content-Type", "application/json")
			_ = http.NewResponseController(w).Flush()
		}
		<-release
	}))
	defer server.Close()
	defer close(release)
	client := connect(t, server.URL, func(o *httpapi.Options) { o.Timeout = 50 * time.Millisecond })
	for _, id := range []string{"nothing", "header first"} {
		ctx := provider.WithCallInfo(t.Context(), provider.CallInfo{RequestID: id})
		for _, op := range []provider.Operation{provider.OperationGet, provider.OperationCreate, provider.OperationResize} {
			want := outcome{Class: provider.Transient, Cause: provider.CauseTimeout}
			if op != provider.OperationGet {
				want.Class = provider.Ambiguous
			}
			err := operations[op](ctx, client)
			if diff := cmp.Diff(want, learn(t, op, err)); diff != "" {
				t.Errorf("%s, %s: %v\n%s", id, op, err, diff)
			}
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%v does not wrap DeadlineExceeded", err)
			}
		}
	}
}

func TestACancelledCallIsOpenOnlyIfItWasSent(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	release := make(chan struct{})
	client := serve(t, func(http.ResponseWriter, *http.Request) {
		cancel()
		<-release
	})
	t.Cleanup(func() { close(release) })
	err := operations[provider.OperationCreate](ctx, client)
	if diff := cmp.Diff(outcome{Class: provider.Ambiguous}, learn(t, provider.OperationCreate, err)); diff != "" {
		t.Errorf("under way: %s", diff)
	}
	err = operations[provider.OperationCreate](ctx, client)
	if diff := cmp.Diff(outcome{Class: provider.Transient}, learn(t, provider.OperationCreate, err)); diff != "" {
		t.Errorf("before it: %s", diff)
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v does not wrap Canceled", err)
	}
}

// TestAMutationIsNeverRepeated has a server that serves one call on each
// connection and hangs up on the second without an answer, having read it: net/http
// takes that for a connection that timed out, and repeats what it thinks may be.
func TestAMutationIsNeverRepeated(t *testing.T) {
	t.Parallel()
	for _, op := range mutations {
		var calls atomic.Int32
		client := connect(t, second(t, func() { calls.Add(1) }), nil)
		if err := operations[provider.OperationGet](t.Context(), client); err != nil {
			t.Fatal(err)
		}
		calls.Store(0)
		err := operations[op](t.Context(), client)
		if diff := cmp.Diff(outcome{Class: provider.Ambiguous}, learn(t, op, err)); diff != "" {
			t.Errorf("%s: %v\n%s", op, err, diff)
		}
		if calls.Load() != 1 {
			t.Errorf("%s arrived %d times", op, calls.Load())
		}
	}
}

// second serves VMs, and hangs up on the second call of a connection.
func second(t *testing.T, called func()) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it is closed with the test
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go serveOnce(connection, called)
		}
	}()
	return "http://" + listener.Addr().String()
}

func serveOnce(connection net.Conn, called func()) {
	defer connection.Close()
	reader := bufio.NewReader(connection)
	for i := range 2 {
		request, err := http.ReadRequest(reader)
		if err != nil {
			return
		}
		called()
		if _, err := io.Copy(io.Discard, request.Body); err != nil {
			return
		}
		if i == 0 {
			const vm = `{"id":"vm-1"}`
			fmt.Fprintf(connection, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(vm), vm)
		}
	}
}
