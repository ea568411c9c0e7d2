// Package suite is the conformance kit as a Go test, for implementations of
// provider.Client.
package suite

import (
	"testing"
	"time"

	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/conformance"
)

// patience is for a noisy machine: nothing is slow here on purpose.
const patience = time.Minute

// Run tries a client, one subtest for each check. What a client does not show,
// such as a status, and what its provider does not offer, is skipped.
func Run(t *testing.T, client provider.Client) {
	t.Helper()
	kit := conformance.NewForClient(client, conformance.Options{Patience: patience})
	report, err := kit.Run(t.Context(), nobody{})
	if err != nil {
		t.Fatal(err)
	}
	for _, result := range report.Results {
		t.Run(result.Check.Name, func(t *testing.T) {
			switch result.Verdict {
			case conformance.Failed:
				t.Errorf("%s\nwanted: %s", result.Problem, result.Check.Wants)
			case conformance.Skipped:
				t.Skip(result.Problem)
			case conformance.Passed:
			}
		})
	}
	for _, left := range report.Left {
		t.Error(left)
	}
}

// nobody watches.
type nobody struct{}

func (nobody) Discovered(provider.Capabilities) {}

func (nobody) Started(conformance.Check) {}

func (nobody) Finished(conformance.Result) {}
