package conformance_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/conformance"
	"github.com/example/vmoperator/src/provider/fake"
	"github.com/example/vmoperator/src/provider/fake/wire"
	"github.com/example/vmoperator/src/provider/httpapi"
	"github.com/example/vmoperator/src/test/mockprovider"
)

const apiKey = "marker-key-do-not-show-3f9c"

// nobody watches.
type nobody struct{}

func (nobody) Discovered(provider.Capabilities) {}

func (nobody) Started(conformance.Check) {}

func (nobody) Finished(conformance.Result) {}

func run(t *testing.T, options conformance.Options) conformance.Report {
	t.Helper()
	kit, err := conformance.New(options)
	if err != nil {
		t.Fatal(err)
	}
	report, err := kit.Run(t.Context(), nobody{})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// wantPassed fails the test unless all checks passed or were skipped, as many as
// that, and nothing is left.
func wantPassed(t *testing.T, report conformance.Report, passed, skipped int) {
	t.Helper()
	for _, result := range report.Results {
		if result.Verdict == conformance.Failed {
			t.Errorf("%s: %s", result.Check.Name, result.Problem)
		}
	}
	if report.Count(conformance.Passed) != passed || report.Count(conformance.Skipped) != skipped {
		t.Errorf("%d passed, %d were skipped, want %d and %d", report.Count(conformance.Passed), report.Count(conformance.Skipped), passed, skipped)
		for _, result := range report.Results {
			t.Logf("%s %s %s", result.Check.Name, result.Verdict, result.Problem)
		}
	}
	for _, left := range report.Left {
		t.Error(left)
	}
}

func serve(t *testing.T, handler http.Handler) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

func TestTheMockProviderConforms(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		options         mockprovider.Options
		passed, skipped int
	}{
		"everything": {mockprovider.Options{Args: []string{"--provision-seconds", "0.1"}}, 38, 4},
		"everything, with an API key": {
			mockprovider.Options{Args: []string{"--provision-seconds", "0"}, APIKey: apiKey}, 41, 1,
		},
		"the minimum": {mockprovider.Options{Args: []string{"--provision-seconds", "0.1", "--minimal"}}, 18, 24},
		"the minimum, with an API key": {
			mockprovider.Options{Args: []string{"--provision-seconds", "0", "--minimal"}, APIKey: apiKey}, 20, 22,
		},
		"slow deletion": {
			mockprovider.Options{Args: []string{"--provision-seconds", "0", "--delete-seconds", "0.2"}}, 38, 4,
		},
		"slow to show, and saying so": {
			mockprovider.Options{Args: []string{
				"--provision-seconds", "0", "--visible-after-seconds", "0.1", "--settle-seconds", "0.2",
			}}, 38, 4,
		},
		"the handbook's server": {mockprovider.Options{Handbook: true, Args: []string{"--provision-seconds", "0.1"}}, 18, 24},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mock, err := mockprovider.Start(t.Context(), test.options)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := mock.Stop(); err != nil {
					t.Error(err)
				}
			})
			report := run(t, conformance.Options{Endpoint: mock.URL(), APIKey: httpapi.APIKey(test.options.APIKey)})
			wantPassed(t, report, test.passed, test.skipped)
		})
	}
}

func TestTheFakeConformsBehindHTTP(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		options         fake.Options
		passed, skipped int
	}{
		"everything":  {fake.Options{Capabilities: fake.Full(), Phase: provider.PhaseRunning}, 38, 4},
		"small pages": {fake.Options{Capabilities: fake.Full(), Phase: provider.PhaseRunning, PageSize: 1}, 38, 4},
		"the minimum": {fake.Options{Phase: provider.PhaseRunning}, 18, 24},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := fake.New(test.options)
			wantPassed(t, run(t, conformance.Options{Endpoint: serve(t, wire.Handler(p))}), test.passed, test.skipped)
			if live := p.Live(); len(live) != 0 {
				t.Errorf("left: %+v", live)
			}
		})
	}
}

func TestAProviderThatThrottlesIsWaitedForAndMustSayWhen(t *testing.T) {
	t.Parallel()
	p := fake.New(fake.Options{Capabilities: fake.Full(), Phase: provider.PhaseRunning})
	throttles := func(e *exchange) {
		e.refuse(http.StatusTooManyRequests)
		e.answer.Header().Set("Retry-After", "1")
	}
	first := with((*exchange).creates, once(throttles))
	throttled := with(about("retry-after"), throttles).before(p, first.before(p, wire.Handler(p)))
	wantPassed(t, run(t, conformance.Options{Endpoint: serve(t, throttled)}), 39, 3)
}

func TestWhatCannotBeReadAsCapabilitiesFailsOneCheckAndLeavesTheMinimum(t *testing.T) {
	t.Parallel()
	p := fake.New(fake.Options{Capabilities: fake.Full(), Phase: provider.PhaseRunning})
	server := with(isPath("/capabilities"), answers(http.StatusTeapot)).before(p, wire.Handler(p))
	report := run(t, conformance.Options{Endpoint: serve(t, server)})
	if report.Results[0].Problem != "GET /capabilities: status 418 instead of 200 or 404" || report.Count(conformance.Failed) != 1 {
		t.Errorf("%+v", report.Results)
	}
	if report.Count(conformance.Passed) != 17 {
		t.Errorf("%d passed, want the 17 of the minimum", report.Count(conformance.Passed))
	}
}
