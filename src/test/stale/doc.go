// Package stale holds the tests of an operator that sees the past: its caches are
// frozen at the moments of a VM's life that matter, it starts with an old list, or
// it never hears of what happened between two states. However long it believes
// what is not so any more, it makes no second VM and loses none, and in the end all
// is as if it had seen everything.
package stale
