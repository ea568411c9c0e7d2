// Package rights compares what the chart lets the operator do with what the
// operator does, as the apiserver's audit log tells it. A call that was refused
// shows a right that is missing, and a right that no call has used is one too many.
//
// Parts are all rights of the chart, each with what it is for: a test compares them
// with the rules that the chart renders, and docs/reference/rights.md shows them.
// Check holds them against a log, of a test of this package or of a real cluster.
package rights
