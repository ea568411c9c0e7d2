// Package scene is a stage for tests of the operator as a process: one object in a
// namespace of its own, a way to a mock provider that calls can be held on, and the
// checks that hold of every story about it. At no entry of the provider's ledger
// has an object two VMs, and what is settled is left alone.
package scene
