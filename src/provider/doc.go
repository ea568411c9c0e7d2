// Package provider is the boundary to the outside world: the Client that
// controllers call, the Machine that they get back, and the error classes that
// they act on. No Kubernetes object crosses it.
//
// # The contract of a Client
//
//   - A method makes at most one call to the provider and never sleeps: a call
//     that must wait for its turn returns Throttled with RetryAfter at once.
//   - Every error is an *Error. Its class says what the caller may conclude:
//     see Class. Its text never holds a credential or a provider's raw answer.
//   - Create is repeatable under one key if, and only if, Capabilities has
//     Idempotency: the same key and request lead to the same VM.
//   - NotFound from Get and FindByKey says that the provider does not show the
//     VM now. What that proves is the caller's business.
//   - A Client is safe for concurrent use, and so is its Close.
//
// Implementations are composed: metered(guard(httpapi)). The fake subpackage is
// a Client in memory for tests.
package provider
