// Package interpose stands between the operator and what it talks to, in tests: a
// reverse proxy that names every request, keeps them in order, and lets a hook
// decide what becomes of each before it has any effect.
//
// One request of the operator is one Call, never two: a connection serves one
// request, for http.Transport silently repeats a request that failed on a
// connection it had used before, and a repeat must be the operator's own.
package interpose
