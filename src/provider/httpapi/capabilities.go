package httpapi

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/example/vmoperator/src/provider"
)

const (
	maxIdentity = 253
	// maxOffered is how many capabilities are kept.
	maxOffered = 32
	// maxSettle bounds how long a provider says that its effects stay unseen; for so
	// long a creation may have to wait for a proof.
	maxSettle = 24 * time.Hour
)

var capabilityName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/-]{0,63}$`)

type wireCapabilities struct {
	Identity      string   `json:"identity"`
	SettleSeconds float64  `json:"settleSeconds"`
	Capabilities  []string `json:"capabilities"`
}

// decodeCapabilities is strict with the identity and the settle time: what is
// made and deleted depends on them.
func decodeCapabilities(body []byte) (provider.Capabilities, error) {
	wire, err := decode[wireCapabilities](body)
	switch {
	case err != nil:
		return provider.Capabilities{}, fmt.Errorf("the answer is no capabilities: %w", err)
	case told(wire.Identity, maxIdentity) != wire.Identity:
		return provider.Capabilities{}, errors.New("the provider's identity is too long or does not print")
	case wire.SettleSeconds < 0:
		return provider.Capabilities{}, errors.New("the provider's settle time is negative")
	}
	settle := maxSettle
	if wire.SettleSeconds < maxSettle.Seconds() {
		settle = time.Duration(wire.SettleSeconds * float64(time.Second))
	}
	return provider.Capabilities{Identity: wire.Identity, Settle: settle, Offered: offered(wire.Capabilities)}, nil
}

// offered keeps names that nobody here knows, for they are shown; but those that
// matter come first, so that no number of others pushes them out.
func offered(names []string) []string {
	var known, others []string
	for _, name := range names {
		switch {
		case slices.Contains(provider.KnownCapabilities(), name):
			known = append(known, name)
		case capabilityName.MatchString(name):
			others = append(others, name)
		}
	}
	slices.Sort(others)
	slices.Sort(known)
	kept := slices.Concat(slices.Compact(known), slices.Compact(others))
	kept = kept[:min(len(kept), maxOffered)]
	slices.Sort(kept)
	return kept
}
