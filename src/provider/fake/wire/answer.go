package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/fake"
)

const (
	requestIDHeader = "X-Request-ID"
	maxRequestID    = 128
)

// document is a VM in an answer.
type document struct {
	ID        string            `json:"id"`
	Name      string            `json:"name,omitempty"`
	Image     string            `json:"image"`
	Phase     provider.Phase    `json:"phase"`
	CPU       int32             `json:"cpu,omitempty"`
	Memory    string            `json:"memory,omitempty"`
	Addresses []string          `json:"addresses,omitempty"`
	Labels    map[string]string `json:"labels,omitempty"`
	Key       string            `json:"key,omitempty"`
}

type page struct {
	Items []document `json:"items"`
	Next  string     `json:"next"`
}

type offer struct {
	Identity      string   `json:"identity"`
	SettleSeconds float64  `json:"settleSeconds"`
	Capabilities  []string `json:"capabilities"`
}

// problem is an error as RFC 9457 has it.
type problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
}

func (f *face) document(machine provider.Machine) document {
	shown := document{
		ID: machine.ID, Name: machine.Name, Image: machine.Image, Phase: machine.Phase, CPU: machine.CPU,
		Memory: machine.Memory, Addresses: machine.Addresses, Labels: machine.Labels,
	}
	if f.provider.Offers(provider.CapabilityIdempotency) {
		shown.Key = f.provider.KeyOf(machine.ID)
	}
	return shown
}

func (f *face) page(given provider.Page) page {
	shown := page{Items: make([]document, 0, len(given.Items)), Next: given.Next}
	for _, machine := range given.Items {
		shown.Items = append(shown.Items, f.document(machine))
	}
	return shown
}

func (f *face) writeMachine(w http.ResponseWriter, op provider.Operation, machine provider.Machine, err error) {
	if err != nil {
		writeError(w, op, err)
		return
	}
	writeJSON(w, http.StatusOK, f.document(machine))
}

// writeError answers a failed call; the package comment has the table.
func writeError(w http.ResponseWriter, op provider.Operation, err error) {
	class, protocol := provider.ClassOf(err), provider.CauseOf(err) == provider.CauseProtocol
	wait := provider.RetryAfterOf(err)
	switch {
	case class == provider.Throttled:
		writeRetry(w, http.StatusTooManyRequests, max(wait, time.Second))
	case class == provider.Unauthorized:
		refuseCredentials(w)
	case class == provider.Rejected:
		writeProblem(w, rejection(op, protocol), "the request is refused")
	case class == provider.NotFound && op == provider.OperationCreate:
		writeProblem(w, http.StatusGone, "the VM of this Idempotency-Key is deleted")
	case class == provider.NotFound:
		writeProblem(w, http.StatusNotFound, "there is no such VM")
	case class == provider.Conflict && !errors.Is(err, fake.ErrScripted):
		writeProblem(w, http.StatusUnprocessableEntity, "the Idempotency-Key was first used with another body")
	case op == provider.OperationResize && !errors.Is(err, fake.ErrScripted):
		writeProblem(w, http.StatusConflict, "the VM is being deleted")
	case class == provider.Conflict:
		writeProblem(w, http.StatusConflict, "the request is in conflict with another")
	case wait > 0:
		writeRetry(w, http.StatusServiceUnavailable, wait)
	case class == provider.Transient:
		writeProblem(w, http.StatusInternalServerError, "the provider is in trouble")
	case protocol:
		writeText(w, http.StatusOK, "application/json", []byte("this is no JSON"))
	default:
		panic(http.ErrAbortHandler)
	}
}

func rejection(op provider.Operation, protocol bool) int {
	switch {
	case protocol:
		return http.StatusMethodNotAllowed
	case op == provider.OperationList, op == provider.OperationFind:
		return http.StatusBadRequest
	}
	return http.StatusUnprocessableEntity
}

func refuseCredentials(w http.ResponseWriter) {
	w.Header().Set("WWW-Authenticate", "Bearer")
	writeProblem(w, http.StatusUnauthorized, "the bearer token is missing or wrong")
}

func writeRetry(w http.ResponseWriter, status int, wait time.Duration) {
	w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	writeProblem(w, status, "come back later")
}

func writeProblem(w http.ResponseWriter, status int, detail string) {
	text, err := json.Marshal(problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: detail})
	if err != nil {
		panic(fmt.Errorf("strings and a number are always JSON: %w", err))
	}
	writeText(w, status, "application/problem+json", text)
}

func writeJSON(w http.ResponseWriter, status int, answer any) {
	text, err := json.Marshal(answer)
	if err != nil {
		writeProblem(w, http.StatusInternalServerError, "the answer cannot be written as JSON")
		return
	}
	writeText(w, status, "application/json", text)
}

func writeText(w http.ResponseWriter, status int, media string, text []byte) {
	w.Header().Set("Content-Type", media)
	w.WriteHeader(status)
	// A client that is gone learns nothing, and the effect stands.
	_, _ = w.Write(text)
}

// wrongMethod answers a method that an endpoint does not have.
func wrongMethod(allowed string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Allow", allowed)
		writeProblem(w, http.StatusMethodNotAllowed, "this endpoint has other methods")
	}
}

// arriving carries a call out even if its client goes away, and gives each answer
// the request's ID, or a new one if the request has none that could be sent back.
func arriving(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, id := context.WithoutCancel(r.Context()), r.Header.Get(requestIDHeader)
		if !validRequestID(id) {
			id = ""
		}
		ctx, id = provider.WithRequestID(provider.WithCallInfo(ctx, provider.CallInfo{RequestID: id}))
		r.Header.Set(requestIDHeader, id)
		w.Header().Set(requestIDHeader, id)
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

func validRequestID(id string) bool {
	for _, octet := range []byte(id) {
		if octet < ' ' || octet > '~' {
			return false
		}
	}
	return id != "" && len(id) <= maxRequestID
}
