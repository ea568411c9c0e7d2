package provider

import (
	"errors"
	"fmt"
	"time"
)

// Class says what a caller may conclude from a failed call, and so what to do.
type Class int

const (
	// Transient failures may pass, and the call had no effect: repeat with backoff.
	Transient Class = iota + 1
	// Throttled calls had no effect: the whole provider waits for RetryAfter.
	Throttled
	// Ambiguous calls may have had their effect: observe before anything else.
	Ambiguous
	// Rejected calls had no effect, and the same call never will.
	Rejected
	// Unauthorized calls had no effect: the credentials are wrong.
	Unauthorized
	// NotFound means that the provider does not show the VM.
	NotFound
	// Conflict means that the provider knows the create key with another request.
	Conflict
)

// String is the class as it appears in metrics and messages.
func (c Class) String() string {
	switch c {
	case Transient:
		return "transient"
	case Throttled:
		return "throttled"
	case Ambiguous:
		return "ambiguous"
	case Rejected:
		return "rejected"
	case Unauthorized:
		return "unauthorized"
	case NotFound:
		return "not_found"
	case Conflict:
		return "conflict"
	}
	return "unknown"
}

// Operation names a Client's method in errors, logs and metrics.
type Operation string

// The operations.
const (
	// OperationConnect builds a client. It makes no call: its errors are settings
	// that can never work, and so Rejected.
	OperationConnect      Operation = "connect"
	OperationCapabilities Operation = "capabilities"
	OperationCreate       Operation = "create"
	OperationGet          Operation = "get"
	OperationFind         Operation = "find"
	OperationList         Operation = "list"
	OperationResize       Operation = "resize"
	OperationDelete       Operation = "delete"
)

// Cause tells apart, for people, failures of one class. The zero Cause needs no
// distinction.
type Cause string

// The causes.
const (
	// CauseUnreachable: the endpoint could not be connected to.
	CauseUnreachable Cause = "unreachable"
	// CauseEndpointRefused: the endpoint's address may not be dialled.
	CauseEndpointRefused Cause = "endpoint refused"
	// CauseTimeout: no answer in time.
	CauseTimeout Cause = "timeout"
	// CauseProtocol: an answer that the contract does not allow.
	CauseProtocol Cause = "protocol"
	// CauseLocalLimit: our own rate limit, before any call was made.
	CauseLocalLimit Cause = "rate limit"
	// CausePaused: the provider asked for a pause that is not over; no call was
	// made.
	CausePaused Cause = "paused"
	// CauseBulkhead: the provider has its share of the workers already; no call was
	// made.
	CauseBulkhead Cause = "bulkhead"
	// CauseCircuit: calls to the provider failed one after another, and it is not
	// time to try again; no call was made.
	CauseCircuit Cause = "circuit"
)

// Error is a failed call.
type Error struct {
	// Op is the call that failed.
	Op Operation
	// Class says what to conclude.
	Class Class
	// Cause tells failures of one class apart.
	Cause Cause
	// RetryAfter is how long to wait before the next call; 0 if nobody said.
	RetryAfter time.Duration
	// Err says what happened in words that are safe to show: no credential, no raw
	// answer of the provider.
	Err error
}

// Error implements error.
func (e *Error) Error() string {
	return fmt.Sprintf("provider %s: %v", e.Op, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ClassOf returns the class of an error: 0 for nil, Ambiguous for an error that
// is not a provider's, for nothing can be concluded from it.
func ClassOf(err error) Class {
	if err == nil {
		return 0
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Class
	}
	return Ambiguous
}

// RetryAfterOf returns how long an error asks to wait; 0 if it does not say.
func RetryAfterOf(err error) time.Duration {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.RetryAfter
	}
	return 0
}

// CauseOf returns an error's cause.
func CauseOf(err error) Cause {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Cause
	}
	return ""
}
