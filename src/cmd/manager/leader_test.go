package main

import (
	"strings"
	"testing"
)

// The lease is held by a process that is dead, for longer than the test waits.
func TestAProcessThatWasKilledIsFollowedAtOnceInItsPod(t *testing.T) {
	place := namespace(t)
	const uid = "3b6f0a55-5d0c-4b0e-9a51-1a2b3c4d5e6f"
	t.Setenv(podUIDVariable, uid)
	args := []string{
		"--watch-namespaces=" + place, "--leader-elect", "--leader-election-namespace=" + place,
		"--leader-elect-lease-duration=1h", "--leader-elect-renew-deadline=30m", "--leader-elect-retry-period=100ms",
	}
	first := startOperator(t, plane.Config, args...)
	first.WantLine("Starting workers", `"virtualmachine"`)
	if got := leader(t, place); !strings.HasSuffix(got, "_"+uid) {
		t.Errorf("the leader is %q", got)
	}
	first.Kill()
	second := startOperator(t, plane.Config, args...)
	second.WantLine("Starting workers", `"virtualmachine"`)
}
