"""The wrong answers that faults give."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NoReturn

from flask import Response
from waitress.channel import ClientDisconnected

import problem
from faults import PAGES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from faults import Fault

OVERSIZED_BYTES = 11 << 20
_CHUNK = b"x" * (1 << 16)
_EXAMPLE = json.dumps(
    {"id": "vm-0000000000000000", "image": "ubuntu-24.04", "phase": "Running", "addresses": ["192.0.2.1"]}
).encode()
_HTML = b"<!doctype html>\n<html><head><title>Sign in</title></head><body><h1>Sign in</h1></body></html>\n"


class ConnectionDroppedError(ClientDisconnected):  # type: ignore[misc] # waitress has no types
    """Ends a request without an answer.

    Waitress takes a ClientDisconnected for a client that hung up: it writes nothing more, not even headers, and
    closes the socket. Any other exception it would answer with 500.
    """


class Dropped(Response):
    """A response that is never sent. Raised when the server asks for it, out of reach of Flask's error handlers."""

    def __call__(self, environ: dict[str, Any], start_response: object) -> NoReturn:
        """Refuse to answer."""
        del environ, start_response
        raise ConnectionDroppedError


class Truncated(Response):
    """A response that breaks off in the middle of the body that its Content-Length announces."""

    automatically_set_content_length = False


def _oversized() -> Iterator[bytes]:
    yield b'{"id":"vm-0000000000000000","image":"ubuntu-24.04","phase":"Running","padding":"'
    for _ in range(OVERSIZED_BYTES // len(_CHUNK)):
        yield _CHUNK
    yield b'"}'


def answer(fault: Fault, real: Response | None) -> Response:
    """Return what a fault answers in place of the real response, which there is only after the effect."""
    if fault.drop:
        return Dropped()
    if fault.body is None:
        response = problem.respond(fault.status or 500, "this failure was ordered by a fault")
    else:
        response = _with_body(fault.body, real)
        response.status_code = fault.status or response.status_code
    if fault.retry_after is not None:
        response.headers["Retry-After"] = fault.retry_after
    return response


def _page(kind: str, real: Response | None) -> bytes:
    """Return a page that hides a VM, shows each twice, or does not say whether another page follows."""
    page = {"items": [], "next": ""} if real is None else json.loads(real.get_data())
    if kind == "empty":
        page = {"items": [], "next": ""}
    elif kind == "doubled":
        page["items"] = [item for item in page["items"] for _ in range(2)]
    else:
        del page["next"]
    return json.dumps(page).encode()


def _with_body(kind: str, real: Response | None) -> Response:
    status = real.status_code if real is not None else 200
    true_body = real.get_data() if real is not None else b""
    true_body = true_body or _EXAMPLE
    if kind in PAGES:
        return Response(_page(kind, real), status=status, content_type="application/json")
    if kind == "html":
        return Response(_HTML, status=200, content_type="text/html; charset=utf-8")
    if kind == "oversized":
        chunks: Iterable[bytes] = _oversized()
        return Response(chunks, status=status, content_type="application/json")
    half = true_body[: len(true_body) // 2]
    if kind == "malformed":
        return Response(half, status=status, content_type="application/json")
    response = Truncated(half, status=status, content_type="application/json")
    response.headers["Content-Length"] = str(len(true_body))
    return response
