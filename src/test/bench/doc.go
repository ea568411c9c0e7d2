// Command bench measures the operator on a control plane of its own, beside the
// floor: bare clients that make the same writes, with the same concurrency.
//
// A subject is a kind of objects, with its phases: what is done to all objects, and
// the writes that the operator may make for each. To measure another kind, add a
// subject; floor, counts, judgement and report come with it.
//
// What is judged are counts, never times: a busy machine is slow, and does not
// make a write more.
package main
