package httpapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/example/vmoperator/src/provider"
)

func TestRetryAfterIsReadAsTheContractSays(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"":                                 0,
		"0":                                0,
		"30":                               30 * time.Second,
		" 30 ":                             30 * time.Second,
		"300":                              maxRetryAfter,
		"301":                              maxRetryAfter,
		"99999999999999999999999":          maxRetryAfter,
		"-1":                               0,
		"+1":                               0,
		"1.5":                              0,
		"1h":                               0,
		"soon":                             0,
		"Sat, 31 Jan 2026 12:00:30 GMT":    30 * time.Second,
		"Sat, 31 Jan 2026 11:59:30 GMT":    0,
		"Sat, 31 Jan 2099 12:00:00 GMT":    maxRetryAfter,
		"Saturday, 31-Jan-26 12:00:30 GMT": 30 * time.Second,
		"Sat Jan 31 12:00:30 2026":         30 * time.Second,
	} {
		if got := retryAfter(http.Header{"Retry-After": {text}}, now); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestAnAPIKeyIsNeverPrinted(t *testing.T) {
	t.Parallel()
	const secret = "marker-key-do-not-show-3f9c"
	client, err := New(Options{Endpoint: "http://192.0.2.1", APIKey: secret})
	if err != nil {
		t.Fatal(err)
	}
	options := Options{APIKey: secret}
	text, err := json.Marshal(options) //nolint:gosec,musttag // that it shows nothing is what is tested
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("hello", "key", options.APIKey, "options", options)
	shown := []string{string(text), log.String(), options.APIKey.String()}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%10v", "%T"} {
		shown = append(shown, fmt.Sprintf(verb+verb+verb+verb, options.APIKey, options, &options, client))
	}
	for _, each := range shown {
		if strings.Contains(each, secret) || strings.Contains(each, fmt.Sprintf("%x", secret)) || strings.Contains(each, fmt.Sprintf("%X", secret)) {
			t.Errorf("%s", each)
		}
	}
	if APIKey("").String() != "" {
		t.Error("no key looks like one")
	}
}

func TestOptionsThatNeverWorkAreRejectedWithoutBeingShown(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]Options{
		"no endpoint":                 {},
		"no host":                     {Endpoint: "http://"},
		"no scheme":                   {Endpoint: "vms.example.com"},
		"another scheme":              {Endpoint: "ftp://secret.example.com"},
		"a broken URL":                {Endpoint: "http://secret.example.com:port"},
		"a user":                      {Endpoint: "http://user:secret@vms.example.com"}, //nolint:gosec // it opens nothing
		"a query":                     {Endpoint: "http://vms.example.com?key=secret"},
		"an empty query":              {Endpoint: "http://vms.example.com?"},
		"a fragment":                  {Endpoint: "http://vms.example.com#secret"},
		"a key with a line break":     {Endpoint: "http://vms.example.com", APIKey: "secret\nX-Other: 1"},
		"a key with space at its end": {Endpoint: "http://vms.example.com", APIKey: "secret "},
		"certificates that are none":  {Endpoint: "https://vms.example.com", CACertificates: []byte("secret")},
	} {
		client, err := New(options)
		failure, ok := errors.AsType[*provider.Error](err)
		if client != nil || !ok || failure.Class != provider.Rejected || failure.Op != provider.OperationConnect {
			t.Errorf("%s: %v, %v", name, client, err)
			continue
		}
		if strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error shows it: %v", name, err)
		}
	}
}
