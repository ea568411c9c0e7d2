// Package httpapi is the Client of a provider that speaks the HTTP contract of
// mockprovider/openapi.yaml. No other package speaks HTTP to a provider.
//
// # What a failure means
//
// Mutations are create, resize and delete; optional are capabilities, list, find
// and resize.
//
//	what happened                          on reads               on mutations
//	dial refused by policy                 Rejected, refused      Rejected, refused
//	no connection, no TLS                  Transient, unreachable Transient, unreachable
//	no answer in time                      Transient, timeout     Ambiguous, timeout
//	cancelled, connection broken           Transient              Ambiguous
//	2xx with an answer of no use           Transient, protocol    Ambiguous, protocol
//	400, 413, 422                          Rejected               Rejected
//	401, 403                               Unauthorized           Unauthorized
//	404 on get, resize, delete             NotFound               NotFound
//	404 on list, find, create              Rejected, protocol     Rejected, protocol
//	404 on capabilities                    no error: the minimum
//	409                                    Transient              Conflict on create, else Transient
//	410 on create                                                 NotFound
//	429                                    Throttled              Throttled
//	503 with Retry-After                   Throttled              Ambiguous, RetryAfter kept
//	501 on an optional endpoint            Rejected, protocol     Rejected, protocol
//	other 5xx, 408, 425                    Transient              Ambiguous
//	redirects and all other statuses       Rejected, protocol     Rejected, protocol
//
// A 404 on create, list and find says that the endpoint is not there. It must
// never be read as "this key has made no VM".
//
// # One call
//
// A method makes one call. net/http repeats a request by itself when a reused
// connection turns out to be dead: for a mutation that is allowed only if not a
// byte was written. See Client.request for what keeps it from more.
package httpapi
