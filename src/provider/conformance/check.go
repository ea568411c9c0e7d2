package conformance

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/example/vmoperator/src/provider"
)

// Check is one promise of the contract.
type Check struct {
	// Name is the check's, as group/check.
	Name string
	// Wants is what the contract says, in a sentence.
	Wants string
	// Where is the file of the repository, and the place in it, that says so.
	Where string

	needs []need
	run   func(context.Context, *subject) error
}

// need is what a check needs of the provider, or of how it is reached: a name of
// a capability, or one of the constants.
type need string

const (
	// needDiscovery is a provider that answers GET /capabilities.
	needDiscovery need = "GET /capabilities"
	// needHTTP is an endpoint, and not a Client alone.
	needHTTP need = "HTTP"
	// needKey is an API key.
	needKey need = "an API key"
)

const (
	needIdempotency = need(provider.CapabilityIdempotency)
	needList        = need(provider.CapabilityList)
	needOwner       = need(provider.CapabilityOwner)
	needResize      = need(provider.CapabilityResize)
)

// Files that say what is wanted.
const (
	openapi  = "mockprovider/openapi.yaml#"
	contract = "docs/provider-contract.md#"
)

// Checks are all checks, in the order in which they run.
func Checks() []Check {
	return slices.Concat(
		discoveryChecks(), minimumChecks(), lifeChecks(), misuseChecks(), authChecks(),
		idempotencyChecks(), listChecks(), ownerChecks(), resizeChecks(),
	)
}

// Verdict is how a check ended.
type Verdict string

// The verdicts.
const (
	Passed  Verdict = "passed"
	Failed  Verdict = "failed"
	Skipped Verdict = "skipped"
)

// Result is what a check found.
type Result struct {
	Check Check
	// Verdict is how it ended.
	Verdict Verdict
	// Problem is what was wrong, or why the check was skipped.
	Problem string
	// Took is how long it took, for information.
	Took time.Duration
}

// Report is what a run found.
type Report struct {
	// Endpoint is the provider's; empty for a Client.
	Endpoint string
	// Capabilities are what the provider said of itself.
	Capabilities provider.Capabilities
	// Results are in the order of the checks.
	Results []Result
	// Left names what may still be at the provider, one sentence each.
	Left []string
}

// Count returns how many checks ended so.
func (r *Report) Count(verdict Verdict) int {
	count := 0
	for i := range r.Results {
		if r.Results[i].Verdict == verdict {
			count++
		}
	}
	return count
}

// skipError says why a check cannot find out anything.
type skipError struct{ reason string }

func (e *skipError) Error() string { return e.reason }

func skip(reason string) error { return &skipError{reason} }

// verdictOf returns how a check ended that returned err.
func verdictOf(err error) Verdict {
	if err == nil {
		return Passed
	}
	if _, skipped := errors.AsType[*skipError](err); skipped {
		return Skipped
	}
	return Failed
}
