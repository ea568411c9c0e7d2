package httpapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/example/vmoperator/src/provider"
)

func FuzzRetryAfter(f *testing.F) {
	for _, seed := range []string{
		"30", "-1", "99999999999999999999", "Sat, 31 Jan 2026 12:00:30 GMT", "soon", "", "0", " 7 ", "1e3", "0x10", "٣",
		"Sat, 31 Jan 99999 12:00:30 GMT", "Mon, 01 Jan 0001 00:00:00 GMT", "\x00", "30, 60",
	} {
		f.Add(seed)
	}
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		got := retryAfter(http.Header{"Retry-After": {text}}, now)
		if got < 0 || got > maxRetryAfter {
			t.Errorf("%q: %v", text, got)
		}
		if got%time.Second == 0 && got < maxRetryAfter {
			if again := retryAfter(http.Header{"Retry-After": {fmt.Sprint(int(got / time.Second))}}, now); again != got {
				t.Errorf("%q is %v, and that many seconds are %v", text, got, again)
			}
		}
	})
}

func FuzzShowable(f *testing.F) {
	f.Add("image web is not in the catalogue", "key")
	f.Add("k\x00ey \u202e key", "key")
	f.Add(strings.Repeat("ä", 300), "")
	f.Add("e\u0301 \U0001F600 \u05d0\u200f \xff\xfe", "")
	f.Add("the key is a-very-long-secret-key, the key is a-very-long-\u200bsecret-key", "a-very-long-secret-key")
	f.Add(strings.Repeat("x", 190)+"a-very-long-secret-key", "a-very-long-secret-key")
	f.Add(" \t\r\n\u2028\u0085\u00a0 ", "a key")
	f.Fuzz(func(t *testing.T, text, key string) {
		if !sendable(key) {
			return // No client has such a key.
		}
		got := showable(text, key)
		if !utf8.ValidString(got) || utf8.RuneCountInString(got) > maxShown ||
			strings.ContainsFunc(got, func(r rune) bool { return printable(r) != r }) {
			t.Errorf("%q", got)
		}
		if len(key) > len(hidden) && strings.Contains(got, key) {
			t.Errorf("%q shows the key %q", got, key)
		}
		if key == "" && showable(got, key) != got {
			t.Errorf("%q is not shown as it is, but as %q", got, showable(got, key))
		}
	})
}

// canned is a connection that answers everything with one answer.
type canned struct {
	response func(*http.Request) *http.Response
}

func (c canned) RoundTrip(r *http.Request) (*http.Response, error) { return c.response(r), nil }

// callsOf are all calls, by operation. Each returns the VMs in its answer.
var callsOf = []struct {
	op   provider.Operation
	make func(context.Context, *Client) ([]provider.Machine, error)
}{
	{provider.OperationCapabilities, func(ctx context.Context, c *Client) ([]provider.Machine, error) {
		_, err := c.Capabilities(ctx)
		return nil, err
	}},
	{provider.OperationCreate, func(ctx context.Context, c *Client) ([]provider.Machine, error) {
		return one(c.Create(ctx, "key/1", provider.CreateRequest{}))
	}},
	{provider.OperationGet, func(ctx context.Context, c *Client) ([]provider.Machine, error) { return one(c.Get(ctx, "vm-1")) }},
	{provider.OperationFind, func(ctx context.Context, c *Client) ([]provider.Machine, error) {
		return one(c.FindByKey(ctx, "key/1"))
	}},
	{provider.OperationList, func(ctx context.Context, c *Client) ([]provider.Machine, error) {
		page, err := c.List(ctx, "")
		return page.Items, err
	}},
	{provider.OperationResize, func(ctx context.Context, c *Client) ([]provider.Machine, error) {
		return one(c.Resize(ctx, "vm-1", provider.Size{}))
	}},
	{provider.OperationDelete, func(ctx context.Context, c *Client) ([]provider.Machine, error) { return nil, c.Delete(ctx, "vm-1") }},
}

func one(machine provider.Machine, err error) ([]provider.Machine, error) {
	if err != nil {
		return nil, err
	}
	return []provider.Machine{machine}, nil
}

// FuzzAnswer gives each call a whole answer: status, headers and body.
func FuzzAnswer(f *testing.F) {
	const problem = "application/problem+json"
	for _, seed := range []struct {
		status                             int
		contentType, retryAfter, body, key string
	}{
		{200, "application/json", "", `{"id":"vm-1","items":[{"id":"vm-1","key":"key/1"}],"next":"","capabilities":["list"]}`, "a-very-long-secret-key"},
		{201, "application/json; charset=utf-8", "", `{"id":"vm-1","key":"other"}`, ""},
		{204, "", "", "", ""},
		{422, problem, "", `{"detail":"image \u0000 a-very-long-secret-key\u202e"}`, "a-very-long-secret-key"},
		{422, problem, "", `{"detail":{}}`, "k"},
		{422, "application/x+json", "", `{"detail":"` + strings.Repeat("😀", 1000) + `"}`, ""},
		{429, "text/html", "Sat, 31 Jan 2099 12:00:00 GMT", "<html>", ""},
		{503, problem, "99999999999999999999", `{`, ""},
		{503, "", "soon", "", ""},
		{404, "text/html", "", "<html>", ""},
		{409, problem, "", "", ""},
		{410, problem, "", "", ""},
		{401, "", "", "", ""},
		{302, "", "", "", ""},
		{501, "", "", "", ""},
		{408, "", "", "", ""},
		{425, "", "", "", ""},
		{599, "", "", "", ""},
		{999, "", "", "", ""},
	} {
		f.Add(seed.status, seed.contentType, seed.retryAfter, seed.body, seed.key)
	}
	f.Fuzz(func(t *testing.T, status int, contentType, retryAfter, body, key string) {
		if status < 200 || status > 999 || !sendable(key) {
			return
		}
		client, err := New(Options{Endpoint: "http://provider.example.com", APIKey: APIKey(key)})
		if err != nil {
			t.Fatal(err)
		}
		client.http.Transport = canned{func(r *http.Request) *http.Response {
			return &http.Response{
				StatusCode: status, Request: r, Body: io.NopCloser(strings.NewReader(body)),
				Header: http.Header{"Content-Type": {contentType}, "Retry-After": {retryAfter}, "Location": {"/elsewhere"}},
			}
		}}
		for _, call := range callsOf {
			machines, err := call.make(t.Context(), client)
			for i := range machines {
				wantUsable(t, &machines[i])
			}
			if err != nil {
				wantSound(t, call.op, status, key, err)
			}
		}
	})
}

// wantSound fails unless an error is one that a caller may act on and anybody may
// read.
func wantSound(t *testing.T, op provider.Operation, status int, key string, err error) {
	t.Helper()
	failure, ok := errors.AsType[*provider.Error](err)
	if !ok || failure.Op != op {
		t.Fatalf("%s: %v", op, err)
	}
	mutates := uncertain(op) == provider.Ambiguous
	switch class := failure.Class; {
	case class < provider.Transient || class > provider.Conflict:
		t.Errorf("%s, status %d: class %d", op, status, class)
	case class == provider.Ambiguous && !mutates:
		t.Errorf("%s, status %d: a read is ambiguous", op, status)
	case mutates && (status < 300 || isTrouble(op, status)) && class != provider.Ambiguous:
		t.Errorf("%s, status %d: %s, though it may have had its effect", op, status, class)
	case (class == provider.Unauthorized) != slices.Contains([]int{401, 403}, status):
		t.Errorf("%s, status %d: %s", op, status, class)
	case class == provider.Throttled && failure.RetryAfter <= 0, failure.RetryAfter < 0, failure.RetryAfter > maxRetryAfter:
		t.Errorf("%s, status %d: %s, retry after %v", op, status, class, failure.RetryAfter)
	}
	const longest = 300 // characters: those of the provider, and our own before them
	if text := err.Error(); utf8.RuneCountInString(text) > longest || !utf8.ValidString(text) || strings.ContainsFunc(text, notShown) {
		t.Errorf("%s, status %d: %q", op, status, text)
	}
	// A key that our own words hold is none that could be told from them.
	if own := classify(op, status).Error(); len(key) > len(hidden) && !strings.Contains(own, key) && strings.Contains(failure.Err.Error(), key) {
		t.Errorf("%s, status %d: %q shows the key", op, status, err)
	}
	if _, leaks := errors.AsType[*url.Error](err); leaks {
		t.Errorf("%s, status %d: %q holds the URL", op, status, err)
	}
}

func notShown(r rune) bool { return printable(r) != r }
