package httpapi

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/httpapi/dial"
)

// DefaultTimeout is that of a call when Options has none.
const DefaultTimeout = 10 * time.Second

const (
	defaultUserAgent = "vmoperator"
	// Common servers close a connection that was idle for 5 seconds. One that they
	// close while a request is on its way makes a creation ambiguous, so it must be
	// closed here before.
	idleTimeout = 4 * time.Second
	// More than the workers that call one provider at once.
	idleConnections = 32
	maxHeaderBytes  = 64 << 10
)

// Options says how to reach a provider.
type Options struct {
	// Endpoint is the base URL: http or https, without user, query and fragment.
	Endpoint string
	// APIKey is sent as a bearer token; without it no Authorization is sent.
	APIKey APIKey
	// CACertificates are PEM certificates that an https endpoint is verified
	// against, instead of the system's.
	CACertificates []byte
	// Timeout of one call, from dialling to the last byte of the answer. The
	// default is DefaultTimeout.
	Timeout time.Duration
	// Dial says which addresses the endpoint may resolve to.
	Dial dial.Policy
	// UserAgent is how the operator introduces itself. The default is vmoperator.
	UserAgent string
}

// New returns a Client. It makes no call; its errors are Rejected: such options
// never work.
func New(options Options) (*Client, error) {
	endpoint, err := parseEndpoint(options.Endpoint)
	if err != nil {
		return nil, unusable(err)
	}
	if !sendable(string(options.APIKey)) {
		return nil, unusable(errors.New("the API key has characters that a header cannot carry"))
	}
	roots, err := parseCertificates(options.CACertificates)
	if err != nil {
		return nil, unusable(err)
	}
	client := &Client{
		endpoint: endpoint, key: &options.APIKey, timeout: options.Timeout, userAgent: options.UserAgent, now: time.Now,
	}
	if client.timeout <= 0 {
		client.timeout = DefaultTimeout
	}
	if client.userAgent == "" {
		client.userAgent = defaultUserAgent
	}
	client.http = &http.Client{
		Transport: transport(client.timeout, options.Dial, roots),
		CheckRedirect: func(*http.Request, []*http.Request) error {
			// The redirect itself is the answer. Followed, it could lead the key away.
			return http.ErrUseLastResponse
		},
	}
	return client, nil
}

func unusable(err error) *provider.Error {
	return &provider.Error{Op: provider.OperationConnect, Class: provider.Rejected, Err: err}
}

// parseEndpoint never shows the URL in an error: somebody may have put a
// credential into it.
func parseEndpoint(text string) (*url.URL, error) {
	endpoint, err := url.Parse(text)
	switch {
	case err != nil || endpoint.Hostname() == "":
		return nil, errors.New("the endpoint is not a URL with a host")
	case endpoint.Scheme != "http" && endpoint.Scheme != "https":
		return nil, errors.New("the endpoint is neither http nor https")
	case endpoint.User != nil || endpoint.RawQuery != "" || endpoint.ForceQuery || strings.Contains(text, "#"):
		return nil, errors.New("the endpoint has a user, a query or a fragment")
	}
	return endpoint, nil
}

func parseCertificates(pem []byte) (*x509.CertPool, error) {
	if len(pem) == 0 {
		return nil, nil //nolint:nilnil // crypto/tls takes a nil pool for the system's
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, errors.New("the CA certificates hold no PEM certificate")
	}
	return pool, nil
}

// transport speaks HTTP/1.1 only: one call has one connection, and what happens
// to it says nothing of other calls.
func transport(timeout time.Duration, policy dial.Policy, roots *x509.CertPool) *http.Transport {
	dialer := &net.Dialer{Timeout: timeout, ControlContext: policy.Control}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Transport{
		// No proxy: the environment must not decide who sees the key, and a proxy
		// would dial what the policy refuses.
		Proxy:                  nil,
		DialContext:            dialer.DialContext,
		TLSClientConfig:        &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    timeout,
		Protocols:              protocols,
		IdleConnTimeout:        idleTimeout,
		MaxIdleConnsPerHost:    idleConnections,
		MaxResponseHeaderBytes: maxHeaderBytes,
	}
}

// sendable reports whether a header can carry a value as it is.
func sendable(value string) bool {
	if strings.TrimSpace(value) != value {
		return false
	}
	for _, octet := range []byte(value) {
		if octet < ' ' || octet > '~' {
			return false
		}
	}
	return true
}
