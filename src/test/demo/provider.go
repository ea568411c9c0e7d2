package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/example/vmoperator/src/test/mockprovider"
)

// answerTimeout bounds a call to the provider.
const answerTimeout = 10 * time.Second

// machine is a VM as the provider tells of it.
type machine struct {
	ID    string `json:"id"`
	Phase string `json:"phase"`
	CPU   int32  `json:"cpu"`
}

// ask sends a request without a body to the provider, past the operator, and
// returns the status of the answer. The body of a success is decoded into
// receive, unless that is nil.
func (w *world) ask(ctx context.Context, method, path string, receive any) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, w.provider.URL()+path, http.NoBody)
	if err != nil {
		return 0, err
	}
	// A kept connection would break when the provider moves.
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, fmt.Errorf("%s %s at the provider: %w", method, path, err)
	}
	defer response.Body.Close()
	if receive == nil || response.StatusCode > 299 {
		return response.StatusCode, nil
	}
	if err := json.NewDecoder(response.Body).Decode(receive); err != nil {
		return response.StatusCode, fmt.Errorf("%s %s at the provider: %w", method, path, err)
	}
	return response.StatusCode, nil
}

// isGone tells whether the provider says that it has no such VM.
func (w *world) isGone(ctx context.Context, id string) (bool, error) {
	status, err := w.ask(ctx, http.MethodGet, "/vms/"+id, nil)
	return status == http.StatusNotFound, err
}

// made counts the VMs that the provider has made since it was started.
func (w *world) made(ctx context.Context) (int, error) {
	requests, err := w.provider.Requests(ctx)
	made := 0
	for i := range requests {
		if requests[i].Operation == "create" && requests[i].Effect {
			made++
		}
	}
	return made, err
}

// lookedAt tells whether a VM was looked at, alone or in a list of all.
func lookedAt(id string, requests []mockprovider.Request) bool {
	for i := range requests {
		r := &requests[i]
		if r.Status == http.StatusOK && (r.Operation == "list" || r.Operation == "get" && r.ID == id) {
			return true
		}
	}
	return false
}
