package vmprovider_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/conformance/command"
	"github.com/example/vmoperator/src/test/bench/vmprovider"
)

const apiKey = "a key"

func serve(t *testing.T, options vmprovider.Options) (p *vmprovider.Provider, url string) {
	t.Helper()
	p = vmprovider.New(options)
	server := httptest.NewServer(p.Handler())
	t.Cleanup(server.Close)
	return p, server.URL
}

func call(ctx context.Context, method, url, body string) (answer string, err error) {
	request, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode > 299 {
		err = errors.New(response.Status)
	}
	return string(text), err
}

func mustCall(t *testing.T, method, url, body string) string {
	t.Helper()
	answer, err := call(t.Context(), method, url, body)
	if err != nil {
		t.Fatalf("%s %s: %v: %s", method, url, err, answer)
	}
	return answer
}

func TestTheProviderForBenchmarksConforms(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]vmprovider.Options{
		"VMs run and go at once": {},
		"VMs take their time":    {Provision: 50 * time.Millisecond, Delete: 50 * time.Millisecond},
		"a key is asked for":     {APIKey: apiKey},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, url := serve(t, options)
			args := []string{"--endpoint=" + url}
			if options.APIKey != "" {
				path := filepath.Join(t.TempDir(), "key")
				if err := os.WriteFile(path, []byte(options.APIKey), 0o600); err != nil {
					t.Fatal(err)
				}
				args = append(args, "--api-key-file="+path)
			}
			var stdout, stderr bytes.Buffer
			if status := command.Run(t.Context(), args, &stdout, &stderr); status != 0 {
				t.Errorf("exit status %d\n%s%s", status, stdout.String(), stderr.String())
			}
			if left := p.Stats().VMs; left != 0 {
				t.Errorf("%d VMs are left", left)
			}
		})
	}
}

func TestCallsAreCountedByOperationUntilTheCountIsReset(t *testing.T) {
	t.Parallel()
	p, url := serve(t, vmprovider.Options{})
	var made struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal([]byte(mustCall(t, "POST", url+"/vms", `{"image":"i"}`)), &made); err != nil {
		t.Fatal(err)
	}
	mustCall(t, "GET", url+"/vms/"+made.ID, "")
	mustCall(t, "GET", url+"/vms/"+made.ID, "")
	mustCall(t, "GET", url+"/vms?limit=500", "")
	mustCall(t, "GET", url+"/vms?key=k", "")
	mustCall(t, "PATCH", url+"/vms/"+made.ID, `{"cpu":2}`)
	mustCall(t, "GET", url+"/capabilities", "")
	if answer, err := call(t.Context(), "GET", url+"/nothing", ""); err == nil {
		t.Errorf("an unknown endpoint says %s", answer)
	}
	want := vmprovider.Stats{VMs: 1, Total: 8, Calls: map[provider.Operation]int{
		provider.OperationCreate: 1, provider.OperationGet: 2, provider.OperationList: 1, provider.OperationFind: 1,
		provider.OperationResize: 1, provider.OperationCapabilities: 1, vmprovider.OperationOther: 1,
	}}
	if diff := cmp.Diff(want, p.Stats()); diff != "" {
		t.Error(diff)
	}
	mustCall(t, "DELETE", url+"/stats", "")
	mustCall(t, "DELETE", url+"/vms/"+made.ID, "")
	want = vmprovider.Stats{VMs: 0, Total: 1, Calls: map[provider.Operation]int{provider.OperationDelete: 1}}
	var got vmprovider.Stats
	if err := json.Unmarshal([]byte(mustCall(t, "GET", url+"/stats", "")), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestASilentProviderCountsCallsAndCarriesNoneOut(t *testing.T) {
	t.Parallel()
	p, url := serve(t, vmprovider.Options{Silence: vmprovider.SilenceVMs})
	mustCall(t, "GET", url+"/capabilities", "")
	giveUp := func(method, path, body string, calls int) {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := call(ctx, method, url+path, body)
			ended <- err
		}()
		for p.Stats().Total < calls {
			select {
			case err := <-ended:
				t.Fatalf("%s %s has ended before it arrived: %v", method, path, err)
			case <-time.After(time.Millisecond):
			}
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("%s %s: %v", method, path, err)
		}
	}
	giveUp("POST", "/vms", `{"image":"i"}`, 2)
	giveUp("GET", "/vms", "", 3)
	mustCall(t, "PUT", url+"/silence/all", "")
	giveUp("GET", "/capabilities", "", 4)
	if answer, err := call(t.Context(), "PUT", url+"/silence/some", ""); err == nil {
		t.Errorf("an unknown silence says %s", answer)
	}
	mustCall(t, "PUT", url+"/silence/none", "")
	if got := mustCall(t, "GET", url+"/vms", ""); got != `{"items":[],"next":""}` {
		t.Errorf("after it kept silent: %s", got)
	}
}
