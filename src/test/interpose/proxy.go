package interpose

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"time"

	"k8s.io/client-go/rest"
)

// headerTimeout is what a server of net/http needs to be given; on loopback it
// never matters.
const headerTimeout = time.Minute

// Options say what a proxy stands in front of.
type Options struct {
	// Who is the name of the proxy's callers in the record.
	Who string
	// Next is what the calls are for: see Apiserver and Server, or any handler.
	Next http.Handler
	// Classify says what a request is.
	Classify Classify
	// Record gets the calls. Several proxies may share one. Nil means a new one.
	Record *Record
	// Hook decides about each call. Nil means that all pass. SetHook changes it.
	Hook Hook
}

// Proxy listens on loopback, by HTTP without TLS.
type Proxy struct {
	options Options
	server  *http.Server
	address string
	life    context.Context //nolint:containedctx // the hooks' context is the proxy's own life, not a call's
	end     context.CancelFunc

	mu   sync.Mutex
	hook Hook
}

// Start starts a proxy. Close ends it; the end of ctx does not.
func Start(ctx context.Context, options Options) (*Proxy, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("starting the proxy of %s: %w", options.Who, err)
	}
	if options.Record == nil {
		options.Record = NewRecord()
	}
	p := &Proxy{options: options, address: listener.Addr().String(), hook: options.Hook}
	p.life, p.end = context.WithCancel(context.WithoutCancel(ctx))
	p.server = &http.Server{Handler: http.HandlerFunc(p.serve), ReadHeaderTimeout: headerTimeout}
	p.server.SetKeepAlivesEnabled(false)
	go func() { _ = p.server.Serve(listener) }() // ends with ErrServerClosed
	return p, nil
}

// URL is where the proxy listens.
func (p *Proxy) URL() string { return "http://" + p.address }

// Config leads a client of Kubernetes through the proxy, with the rights of the
// proxy's own config.
func (p *Proxy) Config() *rest.Config { return &rest.Config{Host: p.URL(), QPS: -1} }

// Record is where the calls are kept.
func (p *Proxy) Record() *Record { return p.options.Record }

// SetHook changes who decides about the calls that come from now on. Nil lets all
// pass.
func (p *Proxy) SetHook(hook Hook) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hook = hook
}

// Close drops what is held and ends the proxy.
func (p *Proxy) Close() error {
	p.end()
	return p.server.Close()
}

func (p *Proxy) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		// The caller was gone before it had said what it wants.
		panic(http.ErrAbortHandler)
	}
	call := p.options.Classify(r, body)
	call.Who = p.options.Who
	call = p.options.Record.add(call)
	defer p.options.Record.change(call.Number, func(e *Entry) { e.Done = true })
	verdict := p.decide(call)
	p.options.Record.change(call.Number, func(e *Entry) { e.Fate = verdict.fate })
	p.carryOut(w, p.onward(r, call), call, verdict)
}

func (p *Proxy) decide(call Call) Verdict {
	p.mu.Lock()
	hook := p.hook
	p.mu.Unlock()
	if hook == nil {
		return Pass()
	}
	return hook(p.life, call)
}

// onward is the request as it is sent on. What changes something arrives whatever
// became of its caller: that a caller's death calls it back would be an order of
// events that no network promises.
func (p *Proxy) onward(r *http.Request, call Call) *http.Request {
	ctx := r.Context()
	if call.Mutating {
		ctx = context.WithoutCancel(ctx)
	}
	onward := r.Clone(context.WithValue(ctx, callKey{}, call))
	onward.Body = io.NopCloser(bytes.NewReader(call.Body))
	return onward
}

func (p *Proxy) carryOut(w http.ResponseWriter, r *http.Request, call Call, verdict Verdict) {
	noteStatus := func(status int) {
		p.options.Record.change(call.Number, func(e *Entry) { e.Status = status })
	}
	switch verdict.fate {
	case Dropped:
		panic(http.ErrAbortHandler)
	case Refused:
		noteStatus(verdict.status)
		http.Error(w, http.StatusText(verdict.status), verdict.status)
	case Lost:
		p.options.Next.ServeHTTP(&noted{ResponseWriter: &unheard{header: http.Header{}}, note: noteStatus}, r)
		panic(http.ErrAbortHandler)
	default:
		p.options.Next.ServeHTTP(&noted{ResponseWriter: w, note: noteStatus}, r)
	}
}

type callKey struct{}

// CallOf returns the call that a request, as Next sees it, is.
func CallOf(r *http.Request) Call {
	call, _ := r.Context().Value(callKey{}).(Call)
	return call
}

// Apiserver sends requests on with the rights of config. Answer may change what
// comes back, such as the events of a watch; nil leaves all as it is.
func Apiserver(config *rest.Config, answer func(Call, *http.Response) error) (http.Handler, error) {
	target, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("finding the apiserver: %w", err)
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, fmt.Errorf("connecting to the apiserver: %w", err)
	}
	handler := reverse(target, transport)
	if answer != nil {
		handler.ModifyResponse = func(response *http.Response) error {
			return answer(CallOf(response.Request), response)
		}
	}
	return handler, nil
}

// Server sends requests on to the server at a URL.
func Server(address string) (http.Handler, error) {
	target, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("parsing the server's URL: %w", err)
	}
	// A connection for each request, as to the proxy.
	return reverse(target, &http.Transport{DisableKeepAlives: true}), nil
}

func reverse(target *url.URL, transport http.RoundTripper) *httputil.ReverseProxy {
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			// The caller's wish is for the caller's connection.
			r.Out.Header.Del("Connection")
		},
		Transport:     transport,
		FlushInterval: -1, // a watch's events go through at once
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			if errors.Is(err, context.Canceled) {
				panic(http.ErrAbortHandler)
			}
			http.Error(w, err.Error(), http.StatusBadGateway)
		},
	}
}
