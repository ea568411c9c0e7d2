package system

import (
	"context"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/example/vmoperator/src/test/mockprovider"
	"github.com/example/vmoperator/src/test/operator"
)

// startProvider starts a mock provider that wants the key.
func startProvider(t *testing.T, args ...string) *mockprovider.Provider {
	t.Helper()
	return startProviderWith(t, mockprovider.Options{
		Args: append([]string{"--enable-faults", "--provision-seconds=0.1"}, args...), APIKey: apiKey,
	})
}

func startProviderWith(t *testing.T, options mockprovider.Options) *mockprovider.Provider {
	t.Helper()
	log := seen.of(fmt.Sprintf("the log of provider %d, of %s", started.Add(1), t.Name()))
	if options.Output == nil {
		options.Output = io.Discard
	}
	options.Output = io.MultiWriter(log, options.Output)
	p, err := mockprovider.Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// machines are the ids of the VMs that a provider has, as its ledger tells.
func machines(t *testing.T, p *mockprovider.Provider) []string {
	t.Helper()
	var ids []string
	for _, request := range requests(t, p) {
		switch {
		case !request.Effect:
		case request.Operation == "create":
			ids = append(ids, request.ID)
		case request.Operation == "delete":
			ids = slices.DeleteFunc(ids, func(id string) bool { return id == request.ID })
		}
	}
	return ids
}

// wantMachines fails unless the provider has just the VMs of these objects.
func (w *world) wantMachines(p *mockprovider.Provider, names ...string) {
	w.t.Helper()
	var want []string
	for _, name := range names {
		want = append(want, w.running(name).Status.ID)
	}
	got := machines(w.t, p)
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		w.t.Errorf("the provider has the VMs %v, want %v", got, want)
	}
}

func requests(t *testing.T, p *mockprovider.Provider) []mockprovider.Request {
	t.Helper()
	all, err := p.Requests(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// calls counts the operator's calls to a provider by operation.
func calls(t *testing.T, p *mockprovider.Provider) map[string]int {
	t.Helper()
	return countOf(requests(t, p))
}

// listsOf counts the operator's lists.
func listsOf(all []mockprovider.Request) int {
	count := 0
	for _, request := range all {
		if request.Operation == "list" && request.RequestID != mockprovider.RequestIDOfPerson {
			count++
		}
	}
	return count
}

// countOf counts calls by operation, but for lists: they are made whenever it is
// time, whatever becomes of a VM.
func countOf(all []mockprovider.Request) map[string]int {
	count := map[string]int{}
	for _, request := range all {
		if request.Operation != "list" {
			count[request.Operation]++
		}
	}
	return count
}

// awaitRequests waits until the ledger tells of something.
func awaitRequests(t *testing.T, p *mockprovider.Provider, what string, has func([]mockprovider.Request) bool) {
	t.Helper()
	operator.WaitFor(t, what, func(ctx context.Context) bool {
		all, err := p.Requests(ctx)
		return err == nil && has(all)
	})
}

func awaitCalls(t *testing.T, p *mockprovider.Provider, operation string, atLeast int) {
	t.Helper()
	awaitRequests(t, p, fmt.Sprintf("%d calls of %s", atLeast, operation), func(all []mockprovider.Request) bool {
		return countOf(all)[operation] >= atLeast
	})
}

func fault(t *testing.T, p *mockprovider.Provider, fault mockprovider.Fault) {
	t.Helper()
	if err := p.Fault(t.Context(), fault); err != nil {
		t.Fatal(err)
	}
}

func clearFaults(t *testing.T, p *mockprovider.Provider) {
	t.Helper()
	if err := p.ClearFaults(t.Context()); err != nil {
		t.Fatal(err)
	}
}
