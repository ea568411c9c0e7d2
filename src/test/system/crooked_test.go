package system

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
)

// unsafe would lead a request with this id to another place.
const unsafe = "../../capabilities?x="

// crooked is a provider whose answers can be bent. It is idempotent, and wants the
// key.
type crooked struct {
	*httptest.Server
	t *testing.T

	mu sync.Mutex
	// bent are the operations that answer with an unsafe id.
	bent map[string]bool
	// phase of all VMs.
	phase string
	// made are the ids by create key.
	made  map[string]string
	count map[string]int
}

func startCrooked(t *testing.T) *crooked {
	t.Helper()
	c := &crooked{t: t, bent: map[string]bool{}, phase: "Running", made: map[string]string{}, count: map[string]int{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /capabilities", c.guarded("capabilities", func(http.ResponseWriter, *http.Request) any {
		return map[string]any{"identity": "crooked", "capabilities": []string{"idempotency"}}
	}))
	mux.HandleFunc("POST /vms", c.guarded("create", func(_ http.ResponseWriter, r *http.Request) any {
		key := r.Header.Get("Idempotency-Key")
		if c.made[key] == "" {
			c.made[key] = fmt.Sprintf("vm-%d", len(c.made)+1)
		}
		return c.machine("create", c.made[key])
	}))
	mux.HandleFunc("GET /vms/{id}", c.guarded("get", func(_ http.ResponseWriter, r *http.Request) any {
		return c.machine("get", r.PathValue("id"))
	}))
	mux.HandleFunc("/", c.guarded("other", func(w http.ResponseWriter, r *http.Request) any {
		t.Errorf("the operator asks for %s %s", r.Method, r.RequestURI)
		http.NotFound(w, r)
		return nil
	}))
	c.Server = httptest.NewServer(mux)
	t.Cleanup(c.Close)
	return c
}

func (c *crooked) guarded(operation string, answer func(http.ResponseWriter, *http.Request) any) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.count[operation]++
		if strings.Contains(r.RequestURI, "..") || r.Header.Get("Authorization") != "Bearer "+apiKey {
			c.t.Errorf("%s %s is crooked, or comes without the key", r.Method, r.RequestURI)
		}
		if value := answer(w, r); value != nil {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(value)
		}
	}
}

func (c *crooked) machine(operation, id string) any {
	if c.bent[operation] {
		id = unsafe
	}
	return map[string]any{"id": id, "image": "ubuntu-24.04", "phase": c.phase, "addresses": []string{"192.0.2.7"}}
}

// set changes how it answers.
func (c *crooked) set(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
}

func (c *crooked) calls() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.count)
}

// wantOne fails unless just one VM was made, and is the object's.
func (c *crooked) wantOne(vm *computev1.VirtualMachine) {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.made) != 1 || vm.Status.ID != "vm-1" {
		c.t.Errorf("the provider made %v, and the object has %q", c.made, vm.Status.ID)
	}
}

func unsafeID(w *world, m *metronome) {
	c := startCrooked(w.t)
	c.set(func() { c.bent["create"] = true })
	w.working(c.URL)
	w.vm("web")
	want := condition{computev1.ConditionSynced, isFalse, computev1.ReasonProviderError, []string{"without an id that is safe in a URL", "asked again"}}
	vm := w.awaits("web", want)
	w.warned(vmKind, "web", want)
	if vm.Status.ID != "" {
		w.t.Errorf("the status has the id %q", vm.Status.ID)
	}
	w.staysCalm(m, c.calls, map[string]int{"capabilities": 2 * calmBeats, "create": 2*calmBeats + calmPokes}, w.both()...)

	c.set(func() { c.bent["create"] = false })
	c.wantOne(w.running("web"))

	c.set(func() { c.bent["get"] = true })
	want.words = []string{"without an id that is safe in a URL", "repeated"}
	w.awaits("web", want)
	w.warned(vmKind, "web", want)
	w.staysCalm(m, c.calls, map[string]int{"capabilities": 2 * calmBeats, "get": 2*calmBeats + calmPokes}, w.both()...)

	c.set(func() { c.bent["get"] = false })
	c.wantOne(w.running("web"))
}

func unknownPhase(w *world, m *metronome) {
	c := startCrooked(w.t)
	c.set(func() { c.phase = "Hibernating" })
	w.working(c.URL)
	w.vm("web")
	want := condition{computev1.ConditionReady, isFalse, computev1.ReasonUnknownPhase, []string{`"Hibernating"`, "the contract does not know"}}
	vm := w.awaits("web", want)
	w.warned(vmKind, "web", want)
	c.wantOne(vm)
	w.staysCalm(m, c.calls, map[string]int{"capabilities": 2 * calmBeats, "get": 2*calmBeats + calmPokes}, w.both()...)

	c.set(func() { c.phase = "Running" })
	c.wantOne(w.running("web"))
}
