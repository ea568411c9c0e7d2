package operator

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
)

// Ports that no system gives to whoever asks for any port: one that is free now
// is free a moment later.
const (
	firstPort = 20000
	ports     = 10000
	tries     = 50
)

func freeAddress(ctx context.Context) (string, error) {
	for range tries {
		address := fmt.Sprintf("127.0.0.1:%d", firstPort+rand.N(ports)) //nolint:gosec // a port, not a secret
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
		if err == nil {
			return address, listener.Close()
		}
	}
	return "", errors.New("no free port was found")
}

// WantProbe waits until /healthz or /readyz answers with a status.
func (o *Operator) WantProbe(path string, want int) {
	o.t.Helper()
	var line struct {
		Address string `json:"address"`
	}
	if err := json.Unmarshal([]byte(o.WantLine("serving probes")), &line); err != nil {
		o.t.Fatal(err)
	}
	WaitFor(o.t, fmt.Sprintf("%s to answer %d", path, want), func(ctx context.Context) bool {
		status, _, err := get(ctx, "http://"+line.Address+path)
		return err == nil && status == want
	})
}

// Metrics returns what the operator's metrics endpoint shows, as text.
func (o *Operator) Metrics(ctx context.Context) (string, error) {
	status, body, err := get(ctx, "http://"+o.metrics+"/metrics")
	if err != nil {
		return "", fmt.Errorf("reading the metrics: %w", err)
	}
	if status != http.StatusOK {
		return "", fmt.Errorf("reading the metrics: status %d", status)
	}
	return body, nil
}

// SecureMetrics asks for the metrics of an operator with --metrics-secure, as the
// bearer of a token, and returns the status of the answer. The certificate is not
// verified: the operator makes it for itself.
func (o *Operator) SecureMetrics(ctx context.Context, token string) (int, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+o.metrics+"/metrics", http.NoBody)
	if err != nil {
		return 0, fmt.Errorf("reading the metrics: %w", err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // the operator signs its certificate itself, so there is none to check it by
	defer transport.CloseIdleConnections()
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return 0, fmt.Errorf("reading the metrics: %w", err)
	}
	return response.StatusCode, response.Body.Close()
}

func get(ctx context.Context, url string) (status int, body string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return 0, "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), err
}
