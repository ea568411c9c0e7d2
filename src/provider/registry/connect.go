package registry

import (
	"time"

	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/guard"
	"github.com/example/vmoperator/src/provider/httpapi"
	"github.com/example/vmoperator/src/provider/httpapi/dial"
	"github.com/example/vmoperator/src/provider/metered"
)

// ConnectOptions say how to reach a provider, and how often.
type ConnectOptions struct {
	// Endpoint is the provider's base URL.
	Endpoint string
	// APIKey is the bearer token; empty for none.
	APIKey httpapi.APIKey
	// CACertificates are the PEM certificates to verify the endpoint against;
	// empty for the system's.
	CACertificates []byte
	// Timeout of one call; 0 for the default.
	Timeout time.Duration
	// QPS and Burst bound the calls; no QPS, no bound.
	QPS   float64
	Burst int
	// Dial says which addresses the endpoint may resolve to.
	Dial dial.Policy
	// UserAgent is how the operator introduces itself; empty for the default.
	UserAgent string
	// Bulkhead is what all providers share; nil for none.
	Bulkhead *guard.Bulkhead
	// Provider is the name of the provider in the Bulkhead.
	Provider string
	// Circuit shows whether calls are held back because others failed; nil for
	// nobody who wants to know.
	Circuit *guard.Circuit
}

// Connect composes the client of one provider: metered(guard(httpapi)). It makes
// no call. The function that it returns closes idle connections and wakes the callers
// that are parked, once the client is not to be used any more. The error is Rejected: such options never work.
func Connect(options ConnectOptions) (provider.Client, func(), error) {
	wire, err := httpapi.New(httpapi.Options{
		Endpoint:       options.Endpoint,
		APIKey:         options.APIKey,
		CACertificates: options.CACertificates,
		Timeout:        options.Timeout,
		Dial:           options.Dial,
		UserAgent:      options.UserAgent,
	})
	if err != nil {
		return nil, nil, err
	}
	guarded := guard.New(wire, guard.Options{
		QPS: options.QPS, Burst: options.Burst,
		Bulkhead: options.Bulkhead, Provider: options.Provider, Circuit: options.Circuit,
	})
	closeAll := func() {
		guarded.Close()
		wire.Close()
	}
	return metered.New(guarded, nil), closeAll, nil
}
