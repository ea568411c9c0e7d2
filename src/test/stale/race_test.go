//go:build race

package stale

// buildFlags: the operator has the race detector where its tests have it.
var buildFlags = []string{"-race"}
