package conformance

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/httpapi"
	"github.com/example/vmoperator/src/provider/httpapi/dial"
)

// Defaults of Options.
const (
	DefaultImage    = "ubuntu-24.04"
	DefaultCPU      = 1
	DefaultMemory   = "1Gi"
	DefaultPatience = 2 * time.Minute
	DefaultTimeout  = 30 * time.Second
)

// Options say what is tried, and with what VMs.
type Options struct {
	// Endpoint is the base URL of the provider.
	Endpoint string
	// APIKey is sent as a bearer token; without it the checks of auth are skipped.
	APIKey httpapi.APIKey
	// CACertificates are PEM certificates for an https endpoint, instead of the
	// system's.
	CACertificates []byte
	// Timeout is that of one call. The default is DefaultTimeout.
	Timeout time.Duration
	// Patience is how long a VM may take to become Running, and to be gone. The
	// default is DefaultPatience.
	Patience time.Duration
	// Image, CPU and Memory are those of the VMs that are made.
	Image  string
	CPU    int32
	Memory string
	// Only selects checks by their name; nil means all.
	Only *regexp.Regexp
}

// Observer is told how a run goes on.
type Observer interface {
	// Discovered is called first, with what the provider says that it offers.
	Discovered(capabilities provider.Capabilities)
	// Started is called before a check.
	Started(check Check)
	// Finished is called after a check, also for one that was skipped.
	Finished(result Result)
}

// Kit runs checks against one provider.
type Kit struct {
	options Options
	client  provider.Client
	wire    *wire // nil: there is a Client only
	close   func()
}

// New returns a Kit for an endpoint. It makes no call; its errors are options that
// can never work.
func New(options Options) (*Kit, error) {
	options = withDefaults(options)
	// Whoever types the endpoint is whoever's machine this is: nothing is refused.
	anywhere, err := dial.ParsePolicy([]string{"0.0.0.0/0", "::/0"})
	if err != nil {
		return nil, fmt.Errorf("allowing all addresses: %w", err)
	}
	client, err := httpapi.New(httpapi.Options{
		Endpoint: options.Endpoint, APIKey: options.APIKey, CACertificates: options.CACertificates,
		Timeout: options.Timeout, Dial: anywhere, UserAgent: userAgent,
	})
	if err != nil {
		return nil, err
	}
	wire, err := newWire(options)
	if err != nil {
		return nil, err
	}
	return &Kit{options: options, client: client, wire: wire, close: client.Close}, nil
}

// NewForClient returns a Kit for a Client, whatever it speaks. Checks that look at
// HTTP itself are skipped.
func NewForClient(client provider.Client, options Options) *Kit {
	return &Kit{options: withDefaults(options), client: client, close: func() {}}
}

func withDefaults(options Options) Options {
	if options.Timeout <= 0 {
		options.Timeout = DefaultTimeout
	}
	if options.Patience <= 0 {
		options.Patience = DefaultPatience
	}
	if options.Image == "" {
		options.Image = DefaultImage
	}
	if options.CPU == 0 {
		options.CPU = DefaultCPU
	}
	if options.Memory == "" {
		options.Memory = DefaultMemory
	}
	return options
}

// Run runs the checks and removes what they made. When the context ends, the
// checks that are left are skipped, and what was made is removed all the same. It
// fails if nothing can be learned about the provider at all: it cannot be
// reached, or refuses the credentials.
func (k *Kit) Run(ctx context.Context, observer Observer) (Report, error) {
	defer k.close()
	s, err := k.subject(ctx)
	if err != nil {
		return Report{}, err
	}
	observer.Discovered(s.capabilities)
	report := Report{Endpoint: k.options.Endpoint, Capabilities: s.capabilities}
	for _, check := range Checks() {
		if k.options.Only != nil && !k.options.Only.MatchString(check.Name) {
			continue
		}
		observer.Started(check)
		result := s.try(ctx, check)
		observer.Finished(result)
		report.Results = append(report.Results, result)
	}
	report.Left = s.made.clean(context.WithoutCancel(ctx), s)
	return report, nil
}

// subject learns what the provider offers.
func (k *Kit) subject(ctx context.Context) (*subject, error) {
	s := &subject{
		client: patient{k.client}, wire: k.wire, patience: k.options.Patience, apiKey: k.options.APIKey,
		order: provider.CreateRequest{Image: k.options.Image, CPU: k.options.CPU, Memory: k.options.Memory},
		// Lower case, for a provider may make host names of names.
		run:  strings.ToLower(rand.Text()[:8]),
		made: &inventory{},
	}
	offered, err := s.client.Capabilities(ctx)
	switch {
	case err == nil:
		s.capabilities = offered
		s.discovered, err = k.discovered(ctx, offered)
	case provider.ClassOf(err) == provider.Unauthorized, provider.CauseOf(err) == provider.CauseUnreachable, ctx.Err() != nil:
		err = fmt.Errorf("asking for the capabilities: %w", err)
	default:
		// A check says what is wrong with them; what can be tried then is the minimum.
		err = nil
	}
	return s, err
}

// discovered reports whether the provider answers GET /capabilities. A Client does
// not show it for one that offers nothing.
func (k *Kit) discovered(ctx context.Context, offered provider.Capabilities) (bool, error) {
	if k.wire == nil {
		return offered.Identity != "" || len(offered.Offered) > 0, nil
	}
	answer, err := k.wire.get(ctx, "/capabilities", nil)
	return answer.succeeded(), err
}

// try runs one check.
func (s *subject) try(ctx context.Context, check Check) Result {
	began := time.Now()
	err := s.missing(check)
	if ctx.Err() != nil {
		err = skip("interrupted")
	}
	if err == nil {
		s.check = check.Name[strings.LastIndex(check.Name, "/")+1:]
		err = check.run(ctx, s)
		s.made.letGo(context.WithoutCancel(ctx), s)
	}
	if err != nil && ctx.Err() != nil {
		err = skip("interrupted")
	}
	result := Result{Check: check, Verdict: verdictOf(err), Took: time.Since(began)}
	if err != nil {
		result.Problem = err.Error()
	}
	return result
}

// missing is why a check cannot run, or nil.
func (s *subject) missing(check Check) error {
	for _, need := range check.needs {
		var (
			there  bool
			reason string
		)
		switch need {
		case needHTTP:
			there, reason = s.wire != nil, "it looks at HTTP, and there is a client only"
		case needKey:
			there, reason = s.apiKey != "", "no API key was given"
		case needDiscovery:
			there, reason = s.discovered, "the provider offers the minimum, which promises nothing about this"
		default:
			there, reason = s.capabilities.Has(string(need)), fmt.Sprintf("the provider does not offer %s", need)
		}
		if !there {
			return skip(reason)
		}
	}
	return nil
}

// join is errors.Join with its parts on one line.
func join(problems ...error) error {
	var texts []string
	for _, problem := range problems {
		if problem != nil {
			texts = append(texts, problem.Error())
		}
	}
	if len(texts) == 0 {
		return nil
	}
	return errors.New(strings.Join(texts, "; "))
}
