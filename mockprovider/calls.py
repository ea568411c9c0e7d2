"""What happens around every call: request ID, authentication, faults, ledger, metrics and log line."""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING

from flask import Flask, Response, g, request
from werkzeug.exceptions import HTTPException

import fault_answers
import logs
import problem
import wire

if TYPE_CHECKING:
    from collections.abc import Callable

    from auth import Authenticator
    from faults import Faults
    from ledger import Entry, Ledger
    from metrics import Metrics
    from store import Store

_DETAILS = {
    HTTPStatus.NOT_FOUND: "there is no such endpoint",
    HTTPStatus.METHOD_NOT_ALLOWED: "this endpoint is not offered with this method",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: f"a body has at most {wire.MAX_BODY_BYTES} bytes",
}
OPEN_ENDPOINTS = ("healthz", "metrics")
CONTROL_ENDPOINTS = ("add_fault", "list_faults", "clear_faults", "list_requests", "clear_requests")


@dataclass
class Call:
    """One request while it is served."""

    operation: str
    id: str
    key: str
    request_id: str
    started: float = field(default_factory=time.monotonic)
    dropped: bool = False
    faulted: bool = False
    entry: Entry | None = None

    def concerns(self, machine_id: str, key: str | None) -> None:
        """Note which VM the call turned out to be about."""
        self.id, self.key = machine_id, key or self.key
        if self.entry is not None:
            self.entry.id, self.entry.key = self.id, self.key

    def had_effect(self, machine_id: str, key: str | None = None) -> None:
        """Note that the call changed something, the moment it did: its answer may never be sent."""
        self.concerns(machine_id, key)
        if self.entry is not None:
            self.entry.effect = True


def current() -> Call:
    """Return the call that this thread serves."""
    call = g.call
    if not isinstance(call, Call):  # pragma: no cover
        raise TypeError("no call is being served")
    return call


@dataclass(frozen=True)
class Pipeline:
    """The steps around each call, in the order in which a real provider's front end would take them."""

    store: Store
    authenticator: Authenticator
    metrics: Metrics
    faults: Faults | None
    ledger: Ledger | None
    sleep: Callable[[float], object]

    def install(self, app: Flask) -> None:
        """Put the steps around every route of an app, unknown routes included."""
        app.before_request(self._begin)
        app.after_request(self._end)
        app.register_error_handler(problem.ProblemError, _problem)
        app.register_error_handler(HTTPException, _http_error)
        app.register_error_handler(Exception, _crash)

    def _begin(self) -> Response | None:
        operation = _operation()
        machine_id = str((request.view_args or {}).get("vm_id", ""))
        key = request.headers.get("Idempotency-Key") or request.args.get("key") or ""
        given = wire.request_id(request.headers.get("X-Request-ID"))
        call = g.call = Call(operation, machine_id, key, given or str(uuid.uuid4()))
        if self.ledger is not None and operation not in OPEN_ENDPOINTS + CONTROL_ENDPOINTS:
            call.key = call.key or (self.store.key_of(machine_id) if machine_id else None) or ""
            call.entry = self.ledger.enter(time.time(), operation, call.id, call.key, call.request_id)
        if operation not in OPEN_ENDPOINTS:
            self.authenticator.check(request.headers.get("Authorization"))
        return self._fault("before", None)

    def _fault(self, when: str, real: Response | None) -> Response | None:
        call = current()
        if self.faults is None or call.faulted:
            return None
        fault = self.faults.take(call.operation, when, (call.id, call.key))
        if fault is None:
            return None
        if fault.latency:
            self.sleep(fault.latency)
        if not fault.answers():
            return None
        call.faulted, call.dropped = True, fault.drop
        return fault_answers.answer(fault, real)

    def _end(self, response: Response) -> Response:
        call = current()
        if response.status_code != HTTPStatus.UNAUTHORIZED or call.faulted:
            response = self._fault("after", response) or response
        response.headers["X-Request-ID"] = call.request_id
        status = 0 if call.dropped else response.status_code
        if call.entry is not None:
            call.entry.status = status
        if call.operation not in OPEN_ENDPOINTS:
            self.metrics.count(call.operation, status)
            logs.info(
                "request",
                requestId=call.request_id,
                operation=call.operation,
                method=request.method,
                path=request.path,
                status=status,
                vmID=call.id,
                key=call.key,
                durationMs=round((time.monotonic() - call.started) * 1000, 1),
            )
        return response


def _operation() -> str:
    """Name the operation; a route that is unknown, or lacks the method, is "other"."""
    if request.url_rule is None or request.endpoint is None:
        return "other"
    if request.endpoint == "list" and "key" in request.args:
        return "find"
    return request.endpoint


def _problem(error: problem.ProblemError) -> Response:
    return problem.respond(error.status, error.detail, error.headers)


def _http_error(error: HTTPException) -> Response:
    status = HTTPStatus(error.code or HTTPStatus.INTERNAL_SERVER_ERROR)
    headers = {name: value for name, value in error.get_headers() if name.lower() == "allow"}
    return problem.respond(status, _DETAILS.get(status) or error.description or problem.title(status), headers)


def _crash(error: Exception) -> Response:
    # The cause goes to the log alone: an answer must not tell strangers about the inside.
    logs.error("a request failed", error, requestId=current().request_id, path=request.path)
    return problem.respond(HTTPStatus.INTERNAL_SERVER_ERROR, "the mock provider failed; its log says why")
