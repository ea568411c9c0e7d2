// Package samples tests what is in docs/samples: the samples are applied as users
// apply them, become what the docs say under a running operator, and go with
// `make uninstall`.
package samples
