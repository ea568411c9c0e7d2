// Package wire is the HTTP face of a fake provider: it speaks the contract of
// mockprovider/openapi.yaml for a fake.Provider, so that what speaks HTTP meets
// the same ledger and the same scripted faults.
//
// # What a scripted fault becomes
//
//	class                      answer
//	Throttled                  429 with Retry-After, 1 s unless the fault says
//	Unauthorized               401
//	Rejected                   422; 400 on a list; 405 with CauseProtocol
//	NotFound                   410 on create, an empty page on find, else 404
//	Conflict                   409
//	any, with RetryAfter       503 with Retry-After
//	Transient                  500
//	Ambiguous                  the connection is cut, without an answer
//	Ambiguous, CauseProtocol   200 with a body that is no JSON
//
// The wire has no answer that says of a creation that it failed and had no
// effect: there, a client reads a 500 as ambiguous.
package wire

import (
	"crypto/subtle"
	"net/http"
	"strconv"
	"strings"

	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/fake"
)

// Bounds of the contract.
const (
	maxBodyBytes = 1 << 20
	maxLimit     = 500
	defaultLimit = 100
	maxKey       = 255
)

// Handler serves the contract for a provider. A call that has arrived is carried
// out, whether or not its client still waits for the answer: one that a fault
// blocks stays until the fault's channel is closed.
//
// To cut a connection it panics with http.ErrAbortHandler, as net/http asks for.
func Handler(p *fake.Provider) http.Handler {
	face := &face{provider: p}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /vms", face.create)
	mux.HandleFunc("GET /vms", face.list)
	mux.HandleFunc("/vms", wrongMethod("GET, POST"))
	mux.HandleFunc("GET /vms/{id}", face.get)
	mux.HandleFunc("PATCH /vms/{id}", face.resize)
	mux.HandleFunc("DELETE /vms/{id}", face.delete)
	mux.HandleFunc("/vms/{id}", wrongMethod("GET, PATCH, DELETE"))
	mux.HandleFunc("GET /capabilities", face.capabilities)
	mux.HandleFunc("/capabilities", wrongMethod("GET"))
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		writeProblem(w, http.StatusNotFound, "there is no such endpoint")
	})
	return arriving(mux)
}

// RequireKey lets a call through to next if it carries the API key as a bearer
// token. The key is asked for with each call, so that it can be rotated.
func RequireKey(next http.Handler, key func() string) http.Handler {
	return arriving(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		if !strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare([]byte(token), []byte(key())) != 1 {
			refuseCredentials(w)
			return
		}
		next.ServeHTTP(w, r)
	}))
}

type face struct {
	provider *fake.Provider
}

func (f *face) create(w http.ResponseWriter, r *http.Request) {
	request, refusal := readOrder(w, r)
	if refusal != nil {
		writeProblem(w, refusal.status, refusal.detail)
		return
	}
	key := r.Header.Get("Idempotency-Key")
	// Without the capability the key has no meaning; the ledger keeps it as it came.
	if _, sent := r.Header["Idempotency-Key"]; sent && f.provider.Offers(provider.CapabilityIdempotency) && !validKey(key) {
		writeProblem(w, http.StatusBadRequest, "Idempotency-Key is not 1 to 255 printable ASCII characters without spaces")
		return
	}
	machine, made, err := f.provider.Make(r.Context(), key, request)
	switch {
	case err != nil:
		writeError(w, provider.OperationCreate, err)
	case made:
		writeJSON(w, http.StatusCreated, f.document(machine))
	default:
		writeJSON(w, http.StatusOK, f.document(machine))
	}
}

func (f *face) get(w http.ResponseWriter, r *http.Request) {
	machine, err := f.provider.Get(r.Context(), r.PathValue("id"))
	f.writeMachine(w, provider.OperationGet, machine, err)
}

func (f *face) resize(w http.ResponseWriter, r *http.Request) {
	size, refusal := f.readSize(w, r)
	if refusal != nil {
		writeProblem(w, refusal.status, refusal.detail)
		return
	}
	machine, err := f.provider.Resize(r.Context(), r.PathValue("id"), size)
	f.writeMachine(w, provider.OperationResize, machine, err)
}

func (f *face) delete(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	if err := f.provider.Delete(r.Context(), id); err != nil {
		writeError(w, provider.OperationDelete, err)
		return
	}
	if _, found := f.provider.Find(id); found {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (f *face) list(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	if query.Has("key") {
		f.find(w, r, query.Get("key"))
		return
	}
	limit := defaultLimit
	if query.Has("limit") {
		var err error
		if limit, err = strconv.Atoi(query.Get("limit")); err != nil || limit < 1 || limit > maxLimit {
			writeProblem(w, http.StatusBadRequest, "limit is not an integer from 1 to 500")
			return
		}
	}
	page, err := f.provider.ListPage(r.Context(), query.Get("cursor"), limit)
	if err != nil {
		writeError(w, provider.OperationList, err)
		return
	}
	writeJSON(w, http.StatusOK, f.page(page))
}

func (f *face) find(w http.ResponseWriter, r *http.Request, key string) {
	if !validKey(key) {
		writeProblem(w, http.StatusBadRequest, "key is not 1 to 255 printable ASCII characters without spaces")
		return
	}
	machine, err := f.provider.FindByKey(r.Context(), key)
	switch {
	case provider.ClassOf(err) == provider.NotFound:
		writeJSON(w, http.StatusOK, f.page(provider.Page{}))
	case err != nil:
		writeError(w, provider.OperationFind, err)
	case !f.provider.Offers(provider.CapabilityIdempotency):
		// It ignores keys, and so has made nothing under one.
		writeJSON(w, http.StatusOK, f.page(provider.Page{}))
	default:
		writeJSON(w, http.StatusOK, f.page(provider.Page{Items: []provider.Machine{machine}}))
	}
}

func (f *face) capabilities(w http.ResponseWriter, r *http.Request) {
	capabilities, err := f.provider.Capabilities(r.Context())
	switch {
	case err != nil:
		writeError(w, provider.OperationCapabilities, err)
	case capabilities.Identity == "" && capabilities.Settle == 0 && len(capabilities.Offered) == 0:
		writeProblem(w, http.StatusNotFound, "this provider offers the minimum")
	default:
		writeJSON(w, http.StatusOK, offer{
			Identity: capabilities.Identity, SettleSeconds: capabilities.Settle.Seconds(), Capabilities: capabilities.Offered,
		})
	}
}
