//go:build !race

package system

var buildFlags []string
