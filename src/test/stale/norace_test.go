//go:build !race

package stale

var buildFlags []string
