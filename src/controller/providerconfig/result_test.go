package providerconfig

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/providerconfig/decide"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/registry"
)

func TestAWaitKeepsItsBounds(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		pace        decide.Pace
		memory      *memory
		least, most time.Duration
	}{
		"a poll is spread by a tenth":            {decide.Poll, &memory{}, 27 * time.Second, 33 * time.Second},
		"a first failure is tried again soon":    {decide.Backoff, &memory{failures: 1}, 900 * time.Millisecond, 1100 * time.Millisecond},
		"a third failure waits four times that":  {decide.Backoff, &memory{failures: 3}, 3600 * time.Millisecond, 4400 * time.Millisecond},
		"a thousandth failure waits a minute":    {decide.Backoff, &memory{failures: 1000}, 54 * time.Second, 66 * time.Second},
		"a Secret is looked for after a while":   {decide.Look, &memory{looks: 1}, 9 * time.Second, 11 * time.Second},
		"a Secret is looked for once a minute":   {decide.Look, &memory{looks: 99}, 54 * time.Second, 66 * time.Second},
		"what a person must do is seldom tried":  {decide.Slow, &memory{}, 54 * time.Second, 66 * time.Second},
		"a throttled probe waits at least that":  {decide.Told, &memory{failed: throttled(time.Minute)}, time.Minute, 66 * time.Second},
		"a throttled probe waits, though untold": {decide.Told, &memory{failed: throttled(0)}, time.Second, 1100 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &pass{config: &computev1.ProviderConfig{}, memory: test.memory}
			for range 1000 {
				if wait := pace(p, test.pace); wait < test.least || wait > test.most {
					t.Fatalf("waits %s, want between %s and %s", wait, test.least, test.most)
				}
			}
		})
	}
}

func throttled(after time.Duration) error {
	return &provider.Error{Class: provider.Throttled, RetryAfter: after}
}

func TestFormerIdentitiesAreTheNewestEightEachOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var status computev1.ProviderConfigStatus
		var chain []string
		for range rapid.IntRange(0, 30).Draw(t, "changes") {
			found := fmt.Sprint(rapid.IntRange(0, 12).Draw(t, "identity"))
			if found == status.Identity {
				continue
			}
			chain = append(chain, status.Identity)
			status.FormerIdentities, status.Identity = formerIdentities(status, found, true), found
		}
		former := status.FormerIdentities
		sorted := slices.Compact(slices.Sorted(slices.Values(former)))
		switch {
		case len(former) > maxFormerIdentities:
			t.Fatalf("%d are kept: %q", len(former), former)
		case len(sorted) != len(former):
			t.Fatalf("one is kept twice: %q", former)
		case slices.Contains(former, status.Identity):
			t.Fatalf("%q is former and present: %q", status.Identity, former)
		case len(chain) > 0 && (len(former) == 0 || former[len(former)-1] != chain[len(chain)-1]):
			t.Fatalf("the last one, %q, is not the newest of %q", chain[len(chain)-1], former)
		}
	})
}

func TestADisappearanceIsHeldThoughTheProviderCannotBeProbed(t *testing.T) {
	t.Parallel()
	p := &pass{config: &computev1.ProviderConfig{}, memory: &memory{}, vanished: 7, total: 9}
	state := decide.State{Users: decide.SomeUsers, Mass: decide.MassLatched}
	known := registry.Entry{State: registry.Ready, Revision: 3}
	entry, changes := nextEntry(p, state, decide.Decision{Action: decide.Keep}, p.status, known)
	if !changes || entry.State != registry.Held || !strings.Contains(entry.Message, "7 of 9") {
		t.Errorf("the entry is %+v", entry)
	}
	state.Mass = decide.MassNone
	if _, changes := nextEntry(p, state, decide.Decision{Action: decide.Keep}, p.status, known); changes {
		t.Error("a probe that fails once changes the entry")
	}
}
