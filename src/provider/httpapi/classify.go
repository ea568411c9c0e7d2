package httpapi

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"syscall"

	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/httpapi/dial"
)

var errUnsafeID = errors.New("the id is not safe in a URL")

// uncertain is the class of a call that may have had its effect.
func uncertain(op provider.Operation) provider.Class {
	switch op {
	case provider.OperationCreate, provider.OperationResize, provider.OperationDelete:
		return provider.Ambiguous
	default:
		return provider.Transient
	}
}

// useless is a success whose answer cannot be used.
func useless(op provider.Operation, err error) *provider.Error {
	return &provider.Error{Op: op, Class: uncertain(op), Cause: provider.CauseProtocol, Err: err}
}

// refuse is a call that is not made.
func refuse(op provider.Operation, err error) *provider.Error {
	return &provider.Error{Op: op, Class: provider.Rejected, Err: err}
}

// unsent is a call whose time was over before anything was sent.
func unsent(op provider.Operation) *provider.Error {
	return &provider.Error{Op: op, Class: provider.Transient, Cause: provider.CauseTimeout, Err: errLate}
}

// broken is a call without an answer; sent says that the provider may have got
// the request.
func broken(ctx context.Context, op provider.Operation, err error, sent bool) *provider.Error {
	if refused, ok := errors.AsType[*dial.RefusedError](err); ok {
		return &provider.Error{
			Op: op, Class: provider.Rejected, Cause: provider.CauseEndpointRefused,
			Err: fmt.Errorf("the endpoint is refused: %w", refused),
		}
	}
	failure := &provider.Error{Op: op, Class: provider.Transient}
	if sent {
		failure.Class = uncertain(op)
	}
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		failure.Err = fmt.Errorf("the call was cancelled: %w", context.Canceled)
	case !sent:
		failure.Cause, failure.Err = provider.CauseUnreachable, errors.New(unreachable(err))
	case ctx.Err() != nil || isTimeout(err):
		failure.Cause = provider.CauseTimeout
		failure.Err = fmt.Errorf("no whole answer in time: %w", context.DeadlineExceeded)
	default:
		failure.Err = errors.New("the connection broke before a whole answer came")
	}
	return failure
}

// unreachable says in our own words why there is no connection: errors of TLS
// quote what the other side sent.
func unreachable(err error) string {
	_, isName := errors.AsType[*net.DNSError](err)
	_, isCertificate := errors.AsType[*tls.CertificateVerificationError](err)
	_, isRecord := errors.AsType[tls.RecordHeaderError](err)
	operation, _ := errors.AsType[*net.OpError](err)
	switch {
	case isName:
		return "the endpoint's host name cannot be resolved"
	case isCertificate:
		return "the endpoint's certificate cannot be verified"
	case isRecord || errors.Is(err, http.ErrSchemeMismatch):
		return "the endpoint does not speak TLS"
	case operation != nil && operation.Op == "remote error":
		return "the endpoint refused the TLS handshake"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the endpoint refused the connection"
	case isTimeout(err):
		return "no connection to the endpoint in time"
	}
	return "the endpoint could not be connected to"
}

func isTimeout(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}

// failure is the error of an answer that is no success.
func (c *Client) failure(op provider.Operation, response *http.Response) *provider.Error {
	failure := classify(op, response.StatusCode)
	switch response.StatusCode {
	case http.StatusTooManyRequests:
		failure.RetryAfter = retryAfter(response.Header, c.now())
		if failure.RetryAfter == 0 {
			failure.RetryAfter = defaultRetryAfter
		}
	case http.StatusServiceUnavailable:
		failure.RetryAfter = retryAfter(response.Header, c.now())
		if failure.RetryAfter > 0 && failure.Class == provider.Transient {
			failure.Class = provider.Throttled
		}
	case http.StatusUnprocessableEntity:
		if detail := c.detail(response); detail != "" {
			failure.Err = fmt.Errorf("%w: %s", failure.Err, detail)
		}
	}
	return failure
}

// classify says what a status means.
func classify(op provider.Operation, status int) *provider.Error {
	failure := &provider.Error{Op: op, Err: fmt.Errorf("the provider answered with status %d", status)}
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		failure.Class = provider.Unauthorized
		failure.Err = fmt.Errorf("the provider refused the credentials with status %d", status)
	case isAbsence(op, status):
		failure.Class = provider.NotFound
	case status == http.StatusConflict:
		failure.Class = provider.Transient
		if op == provider.OperationCreate {
			failure.Class = provider.Conflict
		}
	case slices.Contains([]int{http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity}, status):
		failure.Class = provider.Rejected
		failure.Err = fmt.Errorf("the provider refused the request with status %d", status)
	case status == http.StatusTooManyRequests:
		failure.Class = provider.Throttled
		failure.Err = errors.New("the provider asks for fewer calls")
	case isTrouble(op, status):
		failure.Class = uncertain(op)
	default:
		failure.Class, failure.Cause = provider.Rejected, provider.CauseProtocol
		if status >= 300 && status <= 399 {
			failure.Err = fmt.Errorf("the provider answered with status %d: redirects are not followed", status)
		}
	}
	return failure
}

// isAbsence reports whether a status says that the VM is not there. A 404 of
// another operation says that the endpoint is not.
func isAbsence(op provider.Operation, status int) bool {
	switch op {
	case provider.OperationGet, provider.OperationResize, provider.OperationDelete, provider.OperationCapabilities:
		return status == http.StatusNotFound
	case provider.OperationCreate:
		return status == http.StatusGone
	default:
		return false
	}
}

// isTrouble reports whether a status is one of a server that does not know itself
// how far it came.
func isTrouble(op provider.Operation, status int) bool {
	if status == http.StatusNotImplemented && isOptional(op) {
		return false
	}
	return status >= 500 || status == http.StatusRequestTimeout || status == http.StatusTooEarly
}

func isOptional(op provider.Operation) bool {
	return slices.Contains([]provider.Operation{
		provider.OperationCapabilities, provider.OperationList, provider.OperationFind, provider.OperationResize,
	}, op)
}

// detail is what a problem document tells the user, made safe to show.
func (c *Client) detail(response *http.Response) string {
	if !isJSON(mediaType(response)) {
		return ""
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxProblemBytes))
	if err != nil {
		return ""
	}
	var problem struct {
		Detail string `json:"detail"`
	}
	if json.Unmarshal(body, &problem) != nil {
		return ""
	}
	return showable(problem.Detail, string(*c.key))
}
