// Package conformance tries a provider against the contract of
// mockprovider/openapi.yaml and docs/provider-contract.md, and says of each
// promise whether it is kept.
//
// A Check is a value: a name, what the contract says, where it says so, what the
// provider must offer for it, and a function that finds out. A Kit runs checks
// against an endpoint, in order and one at a time, and removes what they made,
// also after a failure or an interruption. Checks use a provider.Client, as the
// operator does, and plain HTTP where a Client would hide what is looked at, such
// as a status or a media type.
//
// No check judges how fast an answer is. No result quotes an answer: it says in
// our own words what was wrong.
package conformance
