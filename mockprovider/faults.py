"""Faults: rules that make calls fail, for tests only."""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, NoReturn

from problem import ProblemError

PAGES = ("empty", "doubled", "partial")
OPERATIONS = ("create", "get", "list", "find", "delete", "resize", "capabilities")
BODIES = ("malformed", "truncated", "oversized", "html", *PAGES)
MAX_LATENCY = 600
_FIELDS = {
    "operation",
    "count",
    "skip",
    "when",
    "latencySeconds",
    "status",
    "retryAfter",
    "drop",
    "body",
    "match",
}
_MISSING = "1"


def _refuse(detail: str) -> NoReturn:
    raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, detail)


@dataclass
class Fault:
    """One rule, and how often it may still act (-1: until cleared)."""

    id: str
    operation: str
    when: str
    match: str
    latency: float
    status: int | None
    retry_after: str | None
    drop: bool
    body: str | None
    skip: int
    remaining: int
    hits: int = 0

    def answers(self) -> bool:
        """Tell whether the rule replaces the answer; one with latency alone only delays it."""
        return self.drop or self.status is not None or self.body is not None

    def concerns(self, operation: str, when: str, names: tuple[str, ...]) -> bool:
        """Tell whether the rule is about a call."""
        return (
            self.when == when
            and self.operation in ("*", operation)
            and (not self.match or any(self.match in name for name in names))
        )

    def document(self) -> dict[str, Any]:
        """Return the rule as JSON-able data."""
        return {
            "id": self.id,
            "operation": self.operation,
            "when": self.when,
            "match": self.match,
            "latencySeconds": self.latency,
            "status": self.status,
            "retryAfter": self.retry_after,
            "drop": self.drop,
            "body": self.body,
            "skip": self.skip,
            "count": self.remaining,
            "hits": self.hits,
        }


class Faults:
    """All rules, in the order in which they were added."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rules: list[Fault] = []
        self._added = 0

    def add(self, body: dict[str, Any]) -> dict[str, Any]:
        """Add a rule, and return it as data, for it may be used up at any moment."""
        rule = _parse(body)
        with self._lock:
            self._added += 1
            rule.id = f"fault-{self._added}"
            self._rules.append(rule)
            return rule.document()

    def documents(self) -> list[dict[str, Any]]:
        """Return all rules, those used up included, for their hits are worth asserting."""
        with self._lock:
            return [rule.document() for rule in self._rules]

    def clear(self, match: str | None = None) -> None:
        """Remove all rules, or those with just this match: tests that share a provider clear their own."""
        with self._lock:
            self._rules = [rule for rule in self._rules if match is not None and rule.match != match]

    def take(self, operation: str, when: str, names: tuple[str, ...]) -> Fault | None:
        """Return the first rule that acts on this call, and use it once."""
        if operation not in OPERATIONS:
            return None
        with self._lock:
            for rule in self._rules:
                if rule.remaining == 0 or not rule.concerns(operation, when, names):
                    continue
                if rule.skip > 0:
                    rule.skip -= 1
                    continue
                if rule.remaining > 0:
                    rule.remaining -= 1
                rule.hits += 1
                return rule
        return None


def _integer(body: dict[str, Any], field: str, default: int, lowest: int) -> int:
    value = body.get(field, default)
    if isinstance(value, bool) or not isinstance(value, int) or value < lowest:
        _refuse(f"{field} must be an integer, {lowest} or more")
    return value


def _choice(body: dict[str, Any], field: str, default: str | None, choices: tuple[str, ...]) -> str | None:
    value = body.get(field, default)
    if value is not None and value not in choices:
        _refuse(f"{field} must be one of {', '.join(choices)}")
    return value


def _latency(body: dict[str, Any]) -> float:
    value = body.get("latencySeconds", 0)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MAX_LATENCY:
        _refuse(f"latencySeconds must be a number from 0 to {MAX_LATENCY}")
    return float(value) if math.isfinite(value) else 0.0


def _status(body: dict[str, Any]) -> int | None:
    value = body.get("status")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 200 <= value <= 599:  # noqa: PLR2004 (the final status codes of HTTP)
        _refuse("status must be an integer from 200 to 599")
    return value


def _retry_after(body: dict[str, Any], status: int | None) -> str | None:
    if "retryAfter" not in body:
        return _MISSING if status in (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE) else None
    value = body["retryAfter"]
    if value is not None and not (isinstance(value, str) and value.isascii() and value.isprintable()):
        _refuse("retryAfter must be a string of printable ASCII characters, or null to send no header")
    return value


def _parse(body: dict[str, Any]) -> Fault:
    # Strict, unlike the contract: a fault with a misspelt field would make a test pass that tests nothing.
    unknown = sorted(set(body) - _FIELDS)
    if unknown:
        _refuse(f"unknown fields: {', '.join(unknown)}"[:200])
    operation = _choice(body, "operation", None, (*OPERATIONS, "*"))
    if operation is None:
        _refuse("operation is required")
    drop = body.get("drop", False)
    match = body.get("match", "")
    if not isinstance(drop, bool):
        _refuse("drop must be true or false")
    if not isinstance(match, str):
        _refuse("match must be a string")
    status = _status(body)
    rule = Fault(
        id="",
        operation=operation,
        when=_choice(body, "when", "before", ("before", "after")) or "before",
        match=match,
        latency=_latency(body),
        status=status,
        retry_after=_retry_after(body, status),
        drop=drop,
        body=_choice(body, "body", None, BODIES),
        skip=_integer(body, "skip", 0, 0),
        remaining=_integer(body, "count", 1, -1),
    )
    if rule.body in PAGES and rule.operation not in ("list", "find"):
        _refuse(f"{rule.body} is a page: it answers list or find")
    if rule.drop and (rule.status is not None or rule.body is not None):
        _refuse("drop sends no answer: it cannot have a status or a body")
    if not rule.answers() and rule.latency == 0:
        _refuse("a fault needs at least one of latencySeconds, status, drop and body")
    return rule
