package conformance_test

import (
	"slices"
	"testing"
	"time"

	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/conformance"
	"github.com/example/vmoperator/src/provider/fake"
	"github.com/example/vmoperator/src/provider/fake/wire"
)

// wrong is a server that breaks one promise.
type wrong struct {
	// options change the fake beneath; nil changes nothing.
	options func(*fake.Options)
	// fault changes calls and answers; nil changes nothing.
	fault fault
	// outside: the fault stands before the API key is looked at.
	outside bool
	// patience is how long the kit waits for what never comes.
	patience time.Duration
}

// TestEachCheckFindsTheServerThatBreaksItsPromise also fails for a check without
// such a server, and for a server that makes another check fail as well: what a
// check says must be what is wrong.
func TestEachCheckFindsTheServerThatBreaksItsPromise(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, check := range conformance.Checks() {
		known[check.Name] = true
		t.Run(check.Name, func(t *testing.T) {
			t.Parallel()
			server, exists := wrongServers[check.Name]
			if !exists {
				t.Fatal("no server breaks its promise")
			}
			report := run(t, conformance.Options{Endpoint: server.start(t), APIKey: apiKey, Patience: server.patience})
			var failed []string
			for _, result := range report.Results {
				if result.Verdict == conformance.Failed {
					failed = append(failed, result.Check.Name+": "+result.Problem)
				}
			}
			if len(failed) != 1 || report.Results[slices.IndexFunc(report.Results, isFailed)].Check.Name != check.Name {
				t.Errorf("failed: %q", failed)
			}
		})
	}
	for name := range wrongServers {
		if !known[name] {
			t.Errorf("a server breaks the promise of %s, which is no check", name)
		}
	}
}

func isFailed(result conformance.Result) bool { return result.Verdict == conformance.Failed }

func (w *wrong) start(t *testing.T) string {
	t.Helper()
	options := fake.Options{Capabilities: fake.Full(), Phase: provider.PhaseRunning}
	if w.options != nil {
		w.options(&options)
	}
	p := fake.New(options)
	handler := wire.Handler(p)
	if w.fault != nil && !w.outside {
		handler = w.fault.before(p, handler)
	}
	handler = wire.RequireKey(handler, func() string { return apiKey })
	if w.fault != nil && w.outside {
		handler = w.fault.before(p, handler)
	}
	return serve(t, handler)
}
