// Package scope decides which namespaces this operator works in: those that it
// was told to watch, may read, and has claimed.
//
// Rights come first, for a cache over a namespace that it may not read never
// becomes ready and would stop the work in all others. The claim comes second: a
// Lease in each namespace, held by the release, not by one of its pods. A second
// release that was told to watch the same namespace stays out of it until the
// first one has not renewed its claim for the claim's whole duration. When all
// namespaces are watched, there is one claim, in the release's own namespace;
// such a release waits while any other holds a claim anywhere.
//
// A cache's namespaces are fixed when it is built. So when one more namespace can
// be worked in, Watch says so, and the process is meant to end and be started
// again; when a claim is lost, it must end.
package scope

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
)

// LeaseName is the name of the claim in each namespace.
const LeaseName = "vmoperator-scope"

var (
	// ErrGained means that a namespace can be worked in that could not be before.
	ErrGained = errors.New("one more namespace can be worked in")
	// ErrLost means that another release may have begun to work in a namespace.
	ErrLost = errors.New("the claim to a namespace is lost")
)

// State is what became of a namespace.
type State string

// The states.
const (
	// Pending means that nothing is known yet.
	Pending State = "pending"
	// Watched means that the namespace may be read and is claimed.
	Watched State = "watched"
	// Refused means that the operator lacks a right there, or that there is no such
	// namespace.
	Refused State = "refused"
	// Foreign means that another release works there.
	Foreign State = "foreign"
)

// States are all states that a namespace can be in.
func States() []State { return []State{Pending, Watched, Refused, Foreign} }

// Options says what to work in and as whom.
type Options struct {
	// Client makes reviews and claims.
	Client kubernetes.Interface
	// Namespaces to work in. Empty means all there are.
	Namespaces []string
	// Home is where the claim to all namespaces is.
	Home string
	// Identity is the release's. Its pods share it.
	Identity string
	// Sole says that the release has no other pod. Stop then gives the claims back;
	// otherwise they last for their duration, since another pod may rely on them.
	Sole bool
	// Reads are what the caches list and watch.
	Reads []authorizationv1.ResourceAttributes
	// Timing has defaults.
	Timing Timing
	// Logger gets a line for each change.
	Logger logr.Logger
	// Report is told of each change. It may be nil.
	Report func(namespace string, state State)
}

// Timing is how often and how long. A zero means the default.
type Timing struct {
	// Review is how often a namespace that cannot be worked in is looked at again.
	// The default is 30 s.
	Review time.Duration
	// Claim is how long a claim that is not renewed lasts, in whole seconds. It must
	// exceed RenewDeadline by the time that this process needs to end. The default
	// is 90 s.
	Claim time.Duration
	// RenewDeadline is how long a renewal is tried before the claim counts as lost.
	// The default is 45 s.
	RenewDeadline time.Duration
	// Renew is how often a claim is renewed. The default is 15 s.
	Renew time.Duration
}

func (t Timing) withDefaults() Timing {
	for _, field := range []struct {
		value    *time.Duration
		standard time.Duration
	}{
		{&t.Review, 30 * time.Second},
		{&t.Claim, 90 * time.Second},
		{&t.RenewDeadline, 45 * time.Second},
		{&t.Renew, 15 * time.Second},
	} {
		if *field.value == 0 {
			*field.value = field.standard
		}
	}
	return t
}

// Scope knows the state of each namespace. Call Start.
type Scope struct {
	options Options
	running sync.WaitGroup
	stop    context.CancelFunc

	// setting makes the report of a state and the state one step.
	setting sync.Mutex

	mu      sync.Mutex
	states  map[string]State
	changed chan struct{}
}

// Start begins to review and to claim. It goes on until Stop is called.
func Start(ctx context.Context, options Options) *Scope {
	options.Timing = options.Timing.withDefaults()
	if len(options.Namespaces) == 0 {
		options.Namespaces = []string{""}
	}
	ctx, stop := context.WithCancel(ctx)
	s := &Scope{options: options, stop: stop, states: map[string]State{}, changed: make(chan struct{})}
	for _, namespace := range options.Namespaces {
		s.states[namespace] = Pending
		s.running.Go(func() { s.work(ctx, namespace) })
	}
	return s
}

// work reviews a namespace until it may be read, then holds its claim.
func (s *Scope) work(ctx context.Context, namespace string) {
	_ = wait.PollUntilContextCancel(ctx, s.options.Timing.Review, true, func(ctx context.Context) (bool, error) {
		state, why := s.review(ctx, namespace)
		if state != Watched {
			s.set(namespace, state, why)
		}
		return state == Watched, nil
	})
	s.hold(ctx, namespace)
}

// Stop ends reviews and renewals and waits for their end. It must be called after
// the work in the namespaces has ended.
func (s *Scope) Stop() {
	s.stop()
	s.running.Wait()
}

// Settle waits until at least one namespace can be worked in and no other is
// undecided, and returns those. All namespaces are returned as one empty string.
func (s *Scope) Settle(ctx context.Context) ([]string, error) {
	reminder := time.NewTicker(s.options.Timing.Review)
	defer reminder.Stop()
	for {
		states, changed := s.snapshot()
		watched := in(states, Watched)
		if len(watched) > 0 && len(in(states, Pending)) == 0 {
			return watched, nil
		}
		if len(in(states, Pending)) == 0 {
			s.options.Logger.Info("no namespace can be worked in yet", "namespaces", s.options.Namespaces, "tryingAgainEvery", s.options.Timing.Review.String())
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for a namespace to work in: %w", ctx.Err())
		case <-changed:
		case <-reminder.C:
		}
	}
}

// Watch returns an error that is ErrGained or ErrLost when the namespaces are no
// longer those that Settle returned, and nil when ctx ends.
func (s *Scope) Watch(ctx context.Context, settled []string) error {
	for {
		states, changed := s.snapshot()
		watched := in(states, Watched)
		for _, namespace := range settled {
			if !slices.Contains(watched, namespace) {
				return fmt.Errorf("namespace %s: %w", shown(namespace), ErrLost)
			}
		}
		for _, namespace := range watched {
			if !slices.Contains(settled, namespace) {
				return fmt.Errorf("namespace %s: %w", shown(namespace), ErrGained)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		}
	}
}

func (s *Scope) snapshot() (states map[string]State, changed <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.states), s.changed
}

func (s *Scope) state(namespace string) State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.states[namespace]
}

func (s *Scope) set(namespace string, state State, why string) {
	// A change is reported before it is seen: whoever is woken by it finds it told.
	s.setting.Lock()
	defer s.setting.Unlock()
	if s.state(namespace) == state {
		return
	}
	if state == Watched {
		s.options.Logger.Info("working in a namespace", "namespace", shown(namespace))
	} else {
		s.options.Logger.Info("staying out of a namespace", "namespace", shown(namespace), "state", state, "reason", why)
	}
	if s.options.Report != nil {
		s.options.Report(namespace, state)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.states[namespace] = state
	close(s.changed)
	s.changed = make(chan struct{})
}

func in(states map[string]State, state State) []string {
	var found []string
	for namespace, is := range states {
		if is == state {
			found = append(found, namespace)
		}
	}
	slices.Sort(found)
	return found
}

// shown is a namespace's name for people.
func shown(namespace string) string {
	if namespace == "" {
		return "(all)"
	}
	return namespace
}
