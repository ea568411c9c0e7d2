// Package leaders holds the tests of two operators that believe they lead.
//
// A leader is stopped (SIGSTOP) in the middle of something, for longer than its
// lease; a second one takes over and works; the first goes on where it was. All
// that it still does must be harmless: at no time are there two VMs of one object,
// and none is left when its object is gone.
//
// The other tests measure how long it takes until a killed leader, and one that
// was asked to end, is replaced. The figures are written to out/failover.txt.
package leaders
