"""Answers without a VM: RFC 9457 problem details, for every error that a client can meet, and empty ones."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import TYPE_CHECKING

from flask import Response

if TYPE_CHECKING:
    from collections.abc import Mapping

MEDIA_TYPE = "application/problem+json"
DEFAULT_RETRY_AFTER = "1"
RETRYABLE = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)


class ProblemError(Exception):
    """A request that cannot be served, with what its sender must know to do better."""

    def __init__(self, status: int, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status = int(status)
        self.detail = detail
        self.headers = dict(headers or {})


def title(status: int) -> str:
    """Return the standard phrase of a status, also for one that no standard names."""
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown Status"


def document(status: int, detail: str) -> bytes:
    """Encode problem details; the type is about:blank, for the status says all that a client may act on."""
    body = {"type": "about:blank", "title": title(status), "status": status, "detail": detail}
    return json.dumps(body).encode()


def respond(status: int, detail: str, headers: Mapping[str, str] | None = None) -> Response:
    """Make the response for an error."""
    return Response(document(status, detail), status=status, headers=dict(headers or {}), content_type=MEDIA_TYPE)


def empty(status: int) -> Response:
    """Make a response without a body, so without a media type too."""
    response = Response(status=status)
    del response.headers["Content-Type"]
    return response
