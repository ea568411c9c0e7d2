package mockprovider_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/example/vmoperator/src/test/mockprovider"
)

func start(t *testing.T, options mockprovider.Options) *mockprovider.Provider {
	t.Helper()
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

func create(t *testing.T, p *mockprovider.Provider, key string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.URL()+"/vms",
		strings.NewReader(`{"image":"ubuntu-24.04"}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+key)
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	return response.StatusCode
}

func TestARestartedProviderHasItsDataAtAnotherPort(t *testing.T) {
	t.Parallel()
	p := start(t, mockprovider.Options{
		Args:   []string{"--enable-faults", "--data", filepath.Join(t.TempDir(), "vms.db")},
		APIKey: "first",
	})
	if status := create(t, p, "first"); status != http.StatusCreated {
		t.Fatalf("status %d", status)
	}
	before := p.URL()
	if err := p.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if p.URL() == before {
		t.Errorf("it listens at %s as before", before)
	}
	if err := p.SetAPIKey("second"); err != nil {
		t.Fatal(err)
	}
	if status := create(t, p, "first"); status != http.StatusUnauthorized {
		t.Errorf("with the old key: status %d", status)
	}
	requests, err := p.Requests(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(requests) != 1 || requests[0].Operation != "create" || requests[0].Effect {
		t.Errorf("ledger after the restart: %+v", requests)
	}
}

func TestAFaultActsUntilItIsCleared(t *testing.T) {
	t.Parallel()
	p := start(t, mockprovider.Options{Args: []string{"--enable-faults"}})
	if err := p.Fault(t.Context(), mockprovider.Fault{Operation: "create", Status: 507, Count: -1}); err != nil {
		t.Fatal(err)
	}
	if status := create(t, p, ""); status != http.StatusInsufficientStorage {
		t.Errorf("with the fault: status %d", status)
	}
	if err := p.ClearFaults(t.Context()); err != nil {
		t.Fatal(err)
	}
	if status := create(t, p, ""); status != http.StatusCreated {
		t.Errorf("without the fault: status %d", status)
	}
	if err := p.Fault(t.Context(), mockprovider.Fault{Operation: "unheard-of"}); err == nil {
		t.Error("a fault that means nothing is accepted")
	}
}

func TestTheHandbooksServerIsStarted(t *testing.T) {
	t.Parallel()
	p := start(t, mockprovider.Options{Handbook: true})
	if status := create(t, p, ""); status != http.StatusOK {
		t.Errorf("status %d", status)
	}
}

func TestAProviderThatCannotStartSaysWhy(t *testing.T) {
	t.Parallel()
	_, err := mockprovider.Start(t.Context(), mockprovider.Options{Args: []string{"--no-such-flag"}})
	if err == nil || !strings.Contains(err.Error(), "--no-such-flag") {
		t.Errorf("error %v", err)
	}
}

func TestWithoutPythonTheErrorSaysWhatToRun(t *testing.T) {
	t.Setenv(mockprovider.PythonVariable, filepath.Join(t.TempDir(), "python"))
	_, err := mockprovider.Start(t.Context(), mockprovider.Options{})
	if err == nil || !strings.Contains(err.Error(), "make venv") {
		t.Errorf("error %v", err)
	}
}
