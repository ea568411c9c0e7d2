package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/example/vmoperator/src/provider"
)

// How much of an answer is read. The first two are those of the contract.
const (
	maxMachineBytes = 1 << 20
	maxPageBytes    = 4 << 20
	maxProblemBytes = 64 << 10
)

// maxRequestID is the longest request ID that the contract takes.
const maxRequestID = 128

// call is one request, and what is expected of its answer.
type call struct {
	op     provider.Operation
	method string
	// path is below the endpoint; its parts are safe in a URL.
	path  []string
	query url.Values
	// body is sent as JSON; nil for none.
	body any
	// key is the create key; empty for none.
	key string
	// limit of the answer in bytes; 0 means that of one VM.
	limit int64
	// anyBody: a success needs no body.
	anyBody bool
}

// do makes a call and returns the body of a success.
func (c *Client) do(ctx context.Context, call call) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	var sent, late atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		// A further connection is asked for only if nothing was written to the one
		// before.
		GetConn: func(string) { sent.Store(false) },
		GotConn: func(httptrace.GotConnInfo) { sent.Store(true) },
	})
	request, err := c.request(ctx, call, &late)
	if err != nil {
		return nil, err
	}
	response, err := c.http.Do(request)
	if err != nil {
		if late.Load() {
			return nil, unsent(call.op)
		}
		return nil, broken(ctx, call.op, err, sent.Load())
	}
	defer response.Body.Close()
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return nil, c.failure(call.op, response)
	}
	return read(ctx, call, response)
}

// request builds a call's request. Two of its peculiarities keep net/http from
// repeating a mutation behind our back: it takes a request with the header
// Idempotency-Key, if spelt exactly so, for repeatable, which it is not at a
// provider that ignores the header; and it repeats one of which nothing was
// written only if the request can give its body again, which this one can. late is
// set when the body came too late to be sent.
func (c *Client) request(ctx context.Context, call call, late *atomic.Bool) (*http.Request, error) {
	target := c.endpoint.JoinPath(call.path...)
	target.RawQuery = call.query.Encode()
	request, err := http.NewRequestWithContext(ctx, call.method, target.String(), http.NoBody)
	if err != nil {
		return nil, refuse(call.op, errors.New("the endpoint and the request make no URL"))
	}
	if call.body != nil {
		text, err := json.Marshal(call.body)
		if err != nil {
			return nil, refuse(call.op, fmt.Errorf("the request cannot be written as JSON: %w", err))
		}
		carry(ctx, request, text, late)
	}
	request.Header.Set("Accept", "application/json, application/problem+json")
	request.Header.Set("User-Agent", c.userAgent)
	request.Header.Set("X-Request-ID", requestID(ctx))
	if *c.key != "" {
		request.Header.Set("Authorization", "Bearer "+string(*c.key))
	}
	if call.key != "" {
		request.Header["idempotency-key"] = []string{call.key}
	}
	return request, nil
}

// requestID is the context's, or a new one if that cannot be sent.
func requestID(ctx context.Context) string {
	ctx, id := provider.WithRequestID(ctx)
	if len(id) <= maxRequestID && sendable(id) {
		return id
	}
	_, id = provider.WithRequestID(provider.WithCallInfo(ctx, provider.CallInfo{}))
	return id
}

// read returns the body of a success, if it is one that the contract allows.
func read(ctx context.Context, call call, response *http.Response) ([]byte, error) {
	limit := call.limit
	if limit == 0 {
		limit = maxMachineBytes
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, limit+1))
	switch {
	case call.anyBody:
		// What was accepted stays accepted if the rest breaks off. But a page for
		// people comes from something that stands before the provider.
		if len(body) > 0 && mediaType(response) == "text/html" {
			return nil, useless(call.op, errors.New("the answer is a web page"))
		}
		return nil, nil
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, useless(call.op, errors.New("the answer is truncated"))
	case err != nil:
		return nil, broken(ctx, call.op, err, true)
	case int64(len(body)) > limit:
		return nil, useless(call.op, fmt.Errorf("the answer is larger than %d bytes", limit))
	case !isJSON(mediaType(response)):
		return nil, useless(call.op, fmt.Errorf("the answer to status %d is not JSON", response.StatusCode))
	}
	return body, nil
}

func mediaType(response *http.Response) string {
	media, _, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return media
}

func isJSON(media string) bool {
	return media == "application/json" || (strings.HasPrefix(media, "application/") && strings.HasSuffix(media, "+json"))
}
