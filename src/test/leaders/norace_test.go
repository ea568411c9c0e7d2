//go:build !race

package leaders

var buildFlags []string
