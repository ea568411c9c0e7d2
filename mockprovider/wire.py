"""What clients send: decoded, bounded and checked before anything acts on it."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from http import HTTPStatus
from typing import Any, NoReturn

from machine import DEFAULT_CPU, DEFAULT_MEMORY, Order
from problem import ProblemError

MAX_BODY_BYTES = 1 << 20
MAX_CPU = 1024
MAX_IMAGE = 256
MAX_NAME = 512
MAX_LABELS = 64
MAX_LABEL_KEY = 320
MAX_LABEL_VALUE = 1024
MAX_MEMORY = 64
MAX_LIMIT = 500
DEFAULT_LIMIT = 100
MAX_KEY = 255

# A positive Kubernetes quantity; written so that zero cannot match.
_QUANTITY = re.compile(
    r"\+?(0*[1-9][0-9]*(\.[0-9]*)?|0+\.0*[1-9][0-9]*|\.0*[1-9][0-9]*)"
    r"([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]{1,3})?"
)
_KEY = re.compile(rf"[\x21-\x7e]{{1,{MAX_KEY}}}")
_REQUEST_ID = re.compile(r"[\x20-\x7e]{1,128}")
_LIMIT = re.compile(r"[0-9]{1,3}")
_CURSOR = re.compile(r"after:(0|[1-9][0-9]{0,17})")


def _refuse(detail: str) -> NoReturn:
    raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, detail)


def _misunderstood(detail: str) -> NoReturn:
    raise ProblemError(HTTPStatus.BAD_REQUEST, detail)


def _normal(value: Any) -> Any:  # noqa: ANN401 (JSON has no narrower type)
    """Make values that JSON Schema calls equal equal: 2.0 is the integer 2."""
    if isinstance(value, dict):
        return {name: _normal(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_normal(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def decode(raw: bytes) -> dict[str, Any]:
    """Read a JSON object: 400 when it is not JSON, 422 when it is JSON of another kind."""
    try:
        text = raw.decode("utf-8")
        value = _normal(json.loads(text, parse_constant=lambda name: _misunderstood(f"{name} is not JSON")))
        # A lone surrogate is a string for Python's parser, but no text that could be stored or sent back.
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeError:
        _misunderstood("the body is not valid Unicode")
    except RecursionError:
        _misunderstood("the body is nested too deeply")
    except ValueError as error:
        _misunderstood(f"the body is not valid JSON: {error}"[:200])
    if not isinstance(value, dict):
        _refuse("the body must be a JSON object")
    return value


def fingerprint(body: dict[str, Any]) -> str:
    """Digest a body so that bodies with equal JSON, however written, digest equally."""
    return hashlib.sha256(json.dumps(body, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _text(body: dict[str, Any], field: str, longest: int) -> str:
    value = body[field]
    if not isinstance(value, str) or not 1 <= len(value) <= longest:
        _refuse(f"{field} must be a string of 1 to {longest} characters")
    return value


def _cpu(body: dict[str, Any]) -> int:
    value = body["cpu"]
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MAX_CPU:
        _refuse(f"cpu must be an integer from 1 to {MAX_CPU}")
    return value


def _memory(body: dict[str, Any]) -> str:
    value = body["memory"]
    if not isinstance(value, str) or len(value) > MAX_MEMORY or not _QUANTITY.fullmatch(value):
        _refuse('memory must be a positive quantity in a string, such as "4Gi"')
    return value


def _labels(body: dict[str, Any]) -> dict[str, str]:
    value = body["labels"]
    if not isinstance(value, dict) or len(value) > MAX_LABELS:
        _refuse(f"labels must be an object with at most {MAX_LABELS} members")
    for name, text in value.items():
        if not 1 <= len(name) <= MAX_LABEL_KEY:
            _refuse(f"the name of a label has 1 to {MAX_LABEL_KEY} characters")
        if not isinstance(text, str) or len(text) > MAX_LABEL_VALUE:
            _refuse(f"the value of a label must be a string of at most {MAX_LABEL_VALUE} characters")
    return value


def order(body: dict[str, Any], *, with_labels: bool) -> Order:
    """Check the body of POST /vms; fields that are not known, or not offered, are ignored."""
    if "image" not in body:
        _refuse("image is required")
    return Order(
        image=_text(body, "image", MAX_IMAGE),
        cpu=_cpu(body) if "cpu" in body else DEFAULT_CPU,
        memory=_memory(body) if "memory" in body else DEFAULT_MEMORY,
        name=_text(body, "name", MAX_NAME) if "name" in body else None,
        labels=_labels(body) if with_labels and "labels" in body else {},
    )


def resize(body: dict[str, Any]) -> tuple[int | None, str | None]:
    """Check the body of PATCH /vms/{id}: the new cpu and memory, None for what stays."""
    return (
        _cpu(body) if "cpu" in body else None,
        _memory(body) if "memory" in body else None,
    )


def key(text: str, where: str) -> str:
    """Check an idempotency key."""
    if not _KEY.fullmatch(text):
        _misunderstood(f"{where} must be 1 to {MAX_KEY} printable ASCII characters without spaces")
    return text


def request_id(header: str | None) -> str | None:
    """Return the client's request ID if it can safely go into a header and a log line."""
    return header if header is not None and _REQUEST_ID.fullmatch(header) else None


def limit(text: str | None) -> int:
    """Read the page size."""
    if text is None:
        return DEFAULT_LIMIT
    if not _LIMIT.fullmatch(text) or not 1 <= int(text) <= MAX_LIMIT:
        _misunderstood(f"limit must be an integer from 1 to {MAX_LIMIT}")
    return int(text)


def encode_cursor(seq: int) -> str:
    """Make the cursor of the page after a VM; opaque, so that no client comes to rely on its inside."""
    return base64.urlsafe_b64encode(f"after:{seq}".encode()).decode().rstrip("=")


def decode_cursor(text: str | None) -> int:
    """Read a cursor; absent or empty is the beginning."""
    if not text:
        return 0
    try:
        inside = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode("ascii")
    except (binascii.Error, ValueError):
        inside = ""
    found = _CURSOR.fullmatch(inside)
    # Compared again, for base64 has more than one spelling and decoders forgive characters.
    if not found or encode_cursor(int(found[1])) != text:
        _misunderstood("cursor is not one that this provider gave out")
    return int(found[1])
