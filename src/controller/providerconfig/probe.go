package providerconfig

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/log"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/providerconfig/decide"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/guard"
	"github.com/example/vmoperator/src/provider/registry"
)

const (
	defaultTimeout      = 10 * time.Second
	defaultPollInterval = 30 * time.Second

	// What status can hold. A provider that says more could make its ProviderConfig's
	// status unwritable.
	maxIdentity         = 256
	maxCapabilities     = 32
	maxCapabilityLength = 64
)

// probe asks the provider what it is, and remembers the answer.
func (r *Reconciler) probe(ctx context.Context, p *pass) error {
	m := p.memory
	// Before the call: a doubt that comes up during it may be about what it shows.
	m.doubted.Store(false)
	capabilities, answer, err := r.ask(ctx, p)
	if ctx.Err() != nil {
		// The operator stops. That says nothing of the provider.
		return ctx.Err()
	}
	p.probed = true
	m.probedAt = r.Now()
	m.answer, m.failed = answer, err
	switch answer {
	case decide.ProbeSucceeded:
		m.capabilities, m.failures, m.untried = capabilities, 0, false
	case decide.ProbeUnreachable, decide.ProbeGarbled:
		m.failures++
	case decide.ProbeUnauthorized, decide.ProbeRefused, decide.ProbeForeign, decide.ProbeImpossible:
		m.failures = 0
	case decide.ProbeThrottled, decide.ProbeDue:
	}
	if err != nil {
		log.FromContext(ctx).V(1).Info("probe failed", "class", provider.ClassOf(err).String(), "error", err.Error())
	}
	return nil
}

// ask makes the call. A provider that offers the minimum answers 404, which
// proves that something is there, and no more can be known.
func (r *Reconciler) ask(ctx context.Context, p *pass) (provider.Capabilities, decide.Probe, error) {
	if err := r.renewWay(p); err != nil {
		return provider.Capabilities{}, decide.ProbeImpossible, err
	}
	ctx = provider.WithCallInfo(ctx, provider.CallInfo{
		Caller:    p.key().String(),
		RequestID: string(controller.ReconcileIDFromContext(ctx)),
	})
	capabilities, err := p.memory.way.client.Capabilities(ctx)
	return capabilities, answerOf(capabilities, err), err
}

// renewWay builds a new client where the settings or the credentials differ from
// those of the present one.
func (r *Reconciler) renewWay(p *pass) error {
	m := p.memory
	old, credentials := m.way, p.credentials.fingerprint()
	if old.leads(p.declared, credentials) {
		return nil
	}
	options := r.declared(p.config)
	options.APIKey, options.CACertificates = p.credentials.apiKey, p.credentials.caCertificates
	key := p.key()
	// A circuit that opens or closes is a reason to probe: the status tells of it.
	circuit := guard.NewCircuit(func() { r.Registry.Doubt(key) })
	options.Bulkhead, options.Provider, options.Circuit = r.Options.Bulkhead, key.String(), circuit
	client, closeClient, err := r.Connect(options)
	if err != nil {
		return err
	}
	m.way = &way{client: client, close: closeClient, circuit: circuit, declared: p.declared, credentials: credentials}
	m.failures = 0
	if old != nil {
		m.retired = append(m.retired, old)
		m.untried = true
		m.rotated = old.declared == p.declared
	}
	return nil
}

// declared are the options that the object declares, without what its Secrets
// hold.
func (r *Reconciler) declared(config *computev1.ProviderConfig) registry.ConnectOptions {
	options := registry.ConnectOptions{
		Endpoint:  config.Spec.Endpoint,
		Timeout:   timeout(config),
		QPS:       r.Options.DefaultQPS,
		Burst:     r.Options.DefaultBurst,
		Dial:      r.Options.Dial,
		UserAgent: r.Options.UserAgent,
	}
	if limit := config.Spec.RateLimit; limit != nil {
		options.QPS, options.Burst = float64(limit.QPS), int(limit.Burst)
		if limit.Burst == 0 {
			options.Burst = int(limit.QPS)
		}
	}
	return options
}

func answerOf(capabilities provider.Capabilities, err error) decide.Probe {
	switch provider.ClassOf(err) {
	case provider.Throttled:
		return decide.ProbeThrottled
	case provider.Unauthorized:
		return decide.ProbeUnauthorized
	case provider.Rejected, provider.NotFound, provider.Conflict:
		if provider.CauseOf(err) == provider.CauseEndpointRefused {
			return decide.ProbeRefused
		}
		return decide.ProbeForeign
	case provider.Transient, provider.Ambiguous:
		if provider.CauseOf(err) == provider.CauseProtocol {
			return decide.ProbeGarbled
		}
		return decide.ProbeUnreachable
	}
	if !storable(capabilities) {
		return decide.ProbeForeign
	}
	return decide.ProbeSucceeded
}

func storable(capabilities provider.Capabilities) bool {
	for _, name := range capabilities.Offered {
		if len(name) > maxCapabilityLength {
			return false
		}
	}
	return len(capabilities.Identity) <= maxIdentity && len(capabilities.Offered) <= maxCapabilities
}

// The schema has the same defaults; an object that was stored before they were
// may lack them.
func timeout(config *computev1.ProviderConfig) time.Duration {
	if config.Spec.Timeout != nil {
		return config.Spec.Timeout.Duration
	}
	return defaultTimeout
}

func pollInterval(config *computev1.ProviderConfig) time.Duration {
	if config.Spec.PollInterval != nil {
		return config.Spec.PollInterval.Duration
	}
	return defaultPollInterval
}
