package mockprovider

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// Fault is a rule of the mock provider's that makes calls fail.
type Fault struct {
	// Operation is create, get, list, find, delete, resize, capabilities, or * for
	// all.
	Operation string `json:"operation"`
	// When is before (the default) or after the effect.
	When string `json:"when,omitempty"`
	// Count is how many calls it acts on: 0 means one, -1 until ClearFaults.
	Count int `json:"count,omitempty"`
	// Skip is how many calls pass first.
	Skip int `json:"skip,omitempty"`
	// Match limits it to calls whose id or key contains it.
	Match string `json:"match,omitempty"`
	// LatencySeconds is how long the answer takes.
	LatencySeconds float64 `json:"latencySeconds,omitempty"`
	// Status is that of the answer.
	Status int `json:"status,omitempty"`
	// RetryAfter is sent as it is; without it, a 429 or 503 says 1.
	RetryAfter string `json:"retryAfter,omitempty"`
	// Drop closes the connection without an answer.
	Drop bool `json:"drop,omitempty"`
	// Body is malformed, truncated, oversized or html; of list and find also empty,
	// doubled or partial.
	Body string `json:"body,omitempty"`
}

// Request is a call in the mock provider's ledger.
type Request struct {
	// Seq counts calls in order of arrival.
	Seq int `json:"seq"`
	// Time is when it arrived.
	Time time.Time `json:"time"`
	// Operation is the call; other if the provider knows no such endpoint.
	Operation string `json:"operation"`
	// ID and Key name the VM.
	ID  string `json:"id"`
	Key string `json:"key"`
	// Status is that of the answer; 0 if the connection was dropped.
	Status int `json:"status"`
	// Effect: it made, changed or deleted a VM.
	Effect bool `json:"effect"`
	// RequestID is the caller's.
	RequestID string `json:"requestId"`
}

// RequestIDOfPerson is that of all calls of this package, so that the ledger tells
// them from the operator's.
const RequestIDOfPerson = "person"

// controlTimeout is that of a call of the tests' own.
const controlTimeout = 30 * time.Second

// Fault adds a fault. The first that fits a call acts alone.
func (p *Provider) Fault(ctx context.Context, fault Fault) error {
	return p.control(ctx, http.MethodPost, "/faults", fault, nil)
}

// ClearFaults removes all faults.
func (p *Provider) ClearFaults(ctx context.Context) error {
	return p.control(ctx, http.MethodDelete, "/faults", nil, nil)
}

// ClearFaultsOf removes the faults with just this Match: others may share the
// provider.
func (p *Provider) ClearFaultsOf(ctx context.Context, match string) error {
	return p.control(ctx, http.MethodDelete, "/faults?match="+url.QueryEscape(match), nil, nil)
}

// Remove deletes a VM, as a person does at the provider's console. The ledger
// shows the call with RequestIDOfPerson.
func (p *Provider) Remove(ctx context.Context, id string) error {
	return p.control(ctx, http.MethodDelete, "/vms/"+url.PathEscape(id), nil, nil)
}

// Requests returns the ledger: all calls in order of arrival.
func (p *Provider) Requests(ctx context.Context) ([]Request, error) {
	var requests []Request
	err := p.control(ctx, http.MethodGet, "/requests", nil, &requests)
	return requests, err
}

// ClearRequests empties the ledger; numbers go on.
func (p *Provider) ClearRequests(ctx context.Context) error {
	return p.control(ctx, http.MethodDelete, "/requests", nil, nil)
}

func (p *Provider) control(ctx context.Context, method, path string, send, receive any) error {
	ctx, cancel := context.WithTimeout(ctx, controlTimeout)
	defer cancel()
	var body bytes.Buffer
	if send != nil {
		if err := json.NewEncoder(&body).Encode(send); err != nil {
			return fmt.Errorf("%s %s: %w", method, path, err)
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, p.URL()+path, &body)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	p.mu.Lock()
	key := p.options.APIKey
	p.mu.Unlock()
	if key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	request.Header.Set("X-Request-ID", RequestIDOfPerson)
	// A connection of its own: the default client's would break with a restart.
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	if response.StatusCode > 299 {
		return fmt.Errorf("%s %s: status %d: %s", method, path, response.StatusCode, answer)
	}
	if receive == nil {
		return nil
	}
	if err := json.Unmarshal(answer, receive); err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	return nil
}
