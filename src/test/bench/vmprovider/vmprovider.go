// Package vmprovider is the provider for benchmarks: the whole contract of
// mockprovider/openapi.yaml, in memory, and so fast that it is not what is
// measured. No call takes longer because there are more VMs.
//
// As a process:
//
//	go build -o bin/vmprovider ./src/test/bench/vmprovider/cmd/vmprovider
//	bin/vmprovider -listen 127.0.0.1:0 -provision 10s -delete 2s -api-key-file key.txt
//
// Its first and only line on standard output is its URL, once it listens. It ends
// with SIGTERM or SIGINT. In process, New(Options).Handler() is the same.
//
// Beside the contract, without the API key:
//
//	GET /stats          Stats, as JSON
//	DELETE /stats       begins to count anew; VMs stay
//	PUT /silence/none   every call is answered
//	PUT /silence/vms    no call to /vms is answered, and none has an effect
//	PUT /silence/all    nor one to /capabilities
package vmprovider

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/fake"
	"github.com/example/vmoperator/src/provider/fake/wire"
)

// Options are what a Provider is from its start. The zero Options are a provider
// without a key, whose VMs run and go at once.
type Options struct {
	// Provision is how long a VM is Provisioning; 0 makes it Running from the start.
	Provision time.Duration
	// Delete is how long a VM is Deleting; 0 lets it go with the call.
	Delete time.Duration
	// APIKey must come with every call; empty asks for none.
	APIKey string
	// Silence is what is not answered; SetSilence changes it.
	Silence Silence
}

// Provider is the provider. Call New.
type Provider struct {
	options Options
	vms     *fake.Provider
	silence atomic.Pointer[Silence]
	counter counter
}

// New returns a provider without VMs.
func New(options Options) *Provider {
	capabilities := fake.Full()
	// One that is started again has none of the VMs that were there: it is another.
	capabilities.Identity = "bench-" + strings.ToLower(rand.Text())
	phase := provider.PhaseRunning
	if options.Provision > 0 {
		phase = provider.PhaseProvisioning
	}
	p := &Provider{
		options: options,
		vms:     fake.New(fake.Options{Capabilities: capabilities, Phase: phase, SlowDelete: options.Delete > 0}),
		counter: counter{calls: map[provider.Operation]int{}},
	}
	p.SetSilence(options.Silence)
	if options.Provision > 0 {
		p.later(provider.OperationCreate, options.Provision, p.run)
	}
	if options.Delete > 0 {
		p.later(provider.OperationDelete, options.Delete, func(id string) { p.vms.Vanish(id) })
	}
	return p
}

// later does something with a VM for which a call had an effect, some time after
// that.
func (p *Provider) later(op provider.Operation, after time.Duration, do func(id string)) {
	p.vms.Inject(fake.Fault{Op: op, When: fake.After, Count: fake.Forever, Hook: func(call fake.Entry) {
		if call.Effect {
			time.AfterFunc(after, func() { do(call.ID) })
		}
	}})
}

// run ends the provisioning of a VM that is not being deleted meanwhile.
func (p *Provider) run(id string) {
	p.vms.Change(id, func(m *provider.Machine) {
		if m.Phase == provider.PhaseProvisioning {
			m.Phase = provider.PhaseRunning
		}
	})
}

// Handler serves the contract, and what is beside it.
func (p *Provider) Handler() http.Handler {
	contract := wire.Handler(p.vms)
	if p.options.APIKey != "" {
		contract = wire.RequireKey(contract, func() string { return p.options.APIKey })
	}
	mux := http.NewServeMux()
	for pattern, op := range map[string]provider.Operation{
		"GET /capabilities": provider.OperationCapabilities,
		"POST /vms":         provider.OperationCreate,
		"GET /vms":          provider.OperationList,
		"GET /vms/{id}":     provider.OperationGet,
		"PATCH /vms/{id}":   provider.OperationResize,
		"DELETE /vms/{id}":  provider.OperationDelete,
		"/":                 OperationOther,
	} {
		mux.Handle(pattern, p.counting(op, contract))
	}
	mux.HandleFunc("GET /stats", p.serveStats)
	mux.HandleFunc("DELETE /stats", func(w http.ResponseWriter, _ *http.Request) {
		p.ResetStats()
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("PUT /silence/{silence}", p.serveSilence)
	return mux
}

// counting counts a call before anything could refuse it or keep silent.
func (p *Provider) counting(op provider.Operation, contract http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		op := op
		if op == provider.OperationList && r.URL.Query().Has("key") {
			op = provider.OperationFind
		}
		p.counter.add(op)
		if p.silence.Load().covers(op) {
			keepSilent(r)
		}
		contract.ServeHTTP(w, r)
	})
}

func (p *Provider) serveStats(w http.ResponseWriter, _ *http.Request) {
	text, err := json.Marshal(p.Stats())
	if err != nil {
		panic(fmt.Errorf("numbers are always JSON: %w", err))
	}
	w.Header().Set("Content-Type", "application/json")
	// A client that is gone learns nothing.
	_, _ = w.Write(text) // who asked has gone
}

func (p *Provider) serveSilence(w http.ResponseWriter, r *http.Request) {
	silence, err := ParseSilence(r.PathValue("silence"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	p.SetSilence(silence)
	w.WriteHeader(http.StatusNoContent)
}
