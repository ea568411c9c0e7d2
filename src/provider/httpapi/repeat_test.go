package httpapi

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/httpapi/dial"
)

// deadConn is a connection that takes nothing any more once it is told so.
type deadConn struct {
	net.Conn

	dead *atomic.Bool
}

func (c deadConn) Write(text []byte) (int, error) {
	if c.dead.Swap(false) {
		return 0, syscall.EPIPE
	}
	return c.Conn.Write(text)
}

func TestAMutationThatAnIdleConnectionTookNothingOfIsSentOnANewOne(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"id":"vm-1"}`))
	}))
	defer server.Close()
	policy, err := dial.ParsePolicy([]string{"127.0.0.0/8"})
	if err != nil {
		t.Fatal(err)
	}
	client, err := New(Options{Endpoint: server.URL, Timeout: 30 * time.Second, Dial: policy})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	var dead atomic.Bool
	transport := client.http.Transport.(*http.Transport)
	dialContext := transport.DialContext
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		connection, err := dialContext(ctx, network, address)
		return deadConn{connection, &dead}, err
	}
	for name, mutate := range map[string]func() error{
		"create": func() error {
			_, err := client.Create(t.Context(), "key/1", provider.CreateRequest{Image: "ubuntu"})
			return err
		},
		"resize": func() error {
			_, err := client.Resize(t.Context(), "vm-1", provider.Size{CPU: 1})
			return err
		},
		"delete": func() error { return client.Delete(t.Context(), "vm-1") },
	} {
		if _, err := client.Get(t.Context(), "vm-1"); err != nil {
			t.Fatal(err)
		}
		calls.Store(0)
		dead.Store(true)
		if err := mutate(); err != nil || calls.Load() != 1 {
			t.Errorf("%s: arrived %d times, error %v", name, calls.Load(), err)
		}
	}
}
