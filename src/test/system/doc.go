// Package system holds the tests of the whole: the operator as a process, a real
// control plane, and the mock provider as another process. They say what a user
// sees, what the provider is asked, and what the apiserver is told.
//
// Every API key in them begins with a marker. When all tests are done, the marker
// must be nowhere: not in what the processes printed or measured, nor in any
// object but the Secrets that hold it.
package system
