//go:build race

package leaders

// buildFlags: the operator has the race detector where its tests have it.
var buildFlags = []string{"-race"}
