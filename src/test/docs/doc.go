// Package docs tests the documentation: that links lead somewhere, that what it
// names exists, and that what exists is named.
package docs
