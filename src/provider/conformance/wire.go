package conformance

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/example/vmoperator/src/provider/httpapi"
)

const (
	userAgent = "vmoperator-conformance"
	// maxAnswer is the most that the contract lets a provider answer with.
	maxAnswer = 8 << 20
)

// wire speaks plain HTTP to the provider.
type wire struct {
	endpoint *url.URL
	key      httpapi.APIKey
	http     *http.Client
}

// newWire expects options that httpapi has found to be usable.
func newWire(options Options) (*wire, error) {
	endpoint, err := url.Parse(options.Endpoint)
	if err != nil {
		return nil, errors.New("the endpoint is not a URL")
	}
	var roots *x509.CertPool
	if len(options.CACertificates) > 0 {
		roots = x509.NewCertPool()
		roots.AppendCertsFromPEM(options.CACertificates)
	}
	return &wire{endpoint: endpoint, key: options.APIKey, http: &http.Client{
		Timeout: options.Timeout,
		// Connections of their own: nothing that happens to one concerns another call.
		Transport: &http.Transport{
			DisableKeepAlives: true,
			TLSClientConfig:   &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// request is one call.
type request struct {
	method string
	// path begins with a slash, and is below the endpoint.
	path  string
	query url.Values
	body  []byte
	// media is that of the body; application/json if empty.
	media string
	// key is the create key; empty for none.
	key string
	// bearer is sent instead of the API key, nothing if it is empty.
	bearer *string
	// once: the answer is wanted even if it says to come later.
	once bool
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// document is a VM in an answer, as far as all VMs have it.
type document struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Image string `json:"image"`
	Phase string `json:"phase"`
	Key   string `json:"key"`
}

func (w *wire) get(ctx context.Context, path string, query url.Values) (answer, error) {
	return w.do(ctx, request{method: http.MethodGet, path: path, query: query})
}

// do makes a call, in its turn. Its error is a call without an answer.
func (w *wire) do(ctx context.Context, call request) (answer, error) {
	for turn := 1; ; turn++ {
		got, err := w.exchange(ctx, call)
		if err != nil || got.status != http.StatusTooManyRequests || call.once || turn == turns {
			return got, err
		}
		seconds, err := strconv.Atoi(got.header.Get("Retry-After"))
		if err != nil {
			seconds = 1
		}
		if err := pause(ctx, min(time.Duration(seconds)*time.Second, longestTurn)); err != nil {
			return got, err
		}
	}
}

func (w *wire) exchange(ctx context.Context, call request) (answer, error) {
	target := w.endpoint.JoinPath(call.path)
	target.RawQuery = call.query.Encode()
	outgoing, err := http.NewRequestWithContext(ctx, call.method, target.String(), bytes.NewReader(call.body))
	if err != nil {
		return answer{}, fmt.Errorf("%s %s: the endpoint makes no URL", call.method, call.path)
	}
	w.dress(outgoing, call)
	incoming, err := w.http.Do(outgoing)
	if err != nil {
		return answer{}, unanswered(ctx, call, err)
	}
	defer incoming.Body.Close()
	body, err := io.ReadAll(io.LimitReader(incoming.Body, maxAnswer+1))
	switch {
	case err != nil:
		return answer{}, unanswered(ctx, call, err)
	case len(body) > maxAnswer:
		return answer{}, fmt.Errorf("%s %s: the answer is larger than 8 MiB", call.method, call.path)
	}
	return answer{status: incoming.StatusCode, header: incoming.Header, body: body}, nil
}

// leave sends a call whole and closes the connection instead of reading the
// answer.
func (w *wire) leave(ctx context.Context, call request) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var written atomic.Bool
	_, err := w.exchange(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteRequest: func(info httptrace.WroteRequestInfo) {
			written.Store(info.Err == nil)
			cancel()
		},
	}), call)
	if err != nil && !written.Load() {
		return err
	}
	return nil
}

func (w *wire) dress(outgoing *http.Request, call request) {
	if call.body != nil {
		media := call.media
		if media == "" {
			media = "application/json"
		}
		outgoing.Header.Set("Content-Type", media)
	}
	outgoing.Header.Set("Accept", "application/json, application/problem+json")
	outgoing.Header.Set("User-Agent", userAgent)
	bearer := string(w.key)
	if call.bearer != nil {
		bearer = *call.bearer
	}
	if bearer != "" {
		outgoing.Header.Set("Authorization", "Bearer "+bearer)
	}
	if call.key != "" {
		// Spelt so, net/http does not take the request for one that it may repeat.
		outgoing.Header["idempotency-key"] = []string{call.key}
	}
}

// unanswered says in our own words that no answer came: errors of net/http quote
// the URL, and those of TLS what the other side sent.
func unanswered(ctx context.Context, call request, err error) error {
	timeout, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](err)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%s %s: %w", call.method, call.path, ctx.Err())
	case ok && timeout.Timeout():
		return fmt.Errorf("%s %s: no answer in time", call.method, call.path)
	}
	return fmt.Errorf("%s %s: the connection broke without an answer", call.method, call.path)
}

func (a answer) succeeded() bool { return a.status >= 200 && a.status <= 299 }

// vm is the VM in the answer; zero if there is none.
func (a answer) vm() document {
	var found document
	if json.Unmarshal(a.body, &found) != nil {
		return document{}
	}
	return found
}

func (a answer) media() string {
	media, _, err := mime.ParseMediaType(a.header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return media
}

// want is an error if the answer has none of the statuses.
func (a answer) want(what string, statuses ...int) error {
	if slices.Contains(statuses, a.status) {
		return nil
	}
	var texts []string
	for _, status := range statuses {
		texts = append(texts, strconv.Itoa(status))
	}
	return fmt.Errorf("%s: status %d instead of %s", what, a.status, strings.Join(texts, " or "))
}

// wantRefusal is an error if the answer is no refusal for good: a success, or a
// server in trouble.
func (a answer) wantRefusal(what string) error {
	if a.status >= 400 && a.status <= 499 {
		return nil
	}
	return fmt.Errorf("%s: status %d instead of one from 400 to 499", what, a.status)
}
