"""Bearer authentication."""

from __future__ import annotations

import hmac
from http import HTTPStatus
from typing import TYPE_CHECKING

from problem import ProblemError

if TYPE_CHECKING:
    from pathlib import Path

CHALLENGE = 'Bearer realm="mockprovider"'


class Authenticator:
    """Lets through those who know the key in a file; everyone, when there is no file."""

    def __init__(self, key_file: Path | None) -> None:
        self._key_file = key_file

    def check(self, header: str | None) -> None:
        """Refuse an Authorization header that does not carry the key."""
        if self._key_file is None:
            return
        scheme, _, token = (header or "").partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise ProblemError(HTTPStatus.UNAUTHORIZED, "a bearer token is required", {"WWW-Authenticate": CHALLENGE})
        # WSGI hands headers over as Latin-1; the bytes that were sent are what must be compared.
        if not hmac.compare_digest(token.strip().encode("latin-1", "replace"), _read(self._key_file)):
            raise ProblemError(
                HTTPStatus.UNAUTHORIZED,
                "the bearer token is not valid",
                {"WWW-Authenticate": f'{CHALLENGE}, error="invalid_token"'},
            )


def _read(key_file: Path) -> bytes:
    # Read on every call, so that a rotated key counts at once, as at a real provider.
    try:
        key = key_file.read_bytes().strip()
    except OSError as error:
        raise ProblemError(HTTPStatus.INTERNAL_SERVER_ERROR, "the API key cannot be read") from error
    if not key:
        raise ProblemError(HTTPStatus.INTERNAL_SERVER_ERROR, "the API key is empty")
    return key
