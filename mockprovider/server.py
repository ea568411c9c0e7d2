"""Serving with waitress."""

from __future__ import annotations

import contextlib
import signal
import socket
from typing import TYPE_CHECKING, Any, NoReturn

from waitress import create_server
from waitress.channel import HTTPChannel
from waitress.task import ErrorTask

import problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flask import Flask

# Calls that a fault delays hold a thread each, and must not starve the others.
THREADS = 64
# A manager under test keeps one connection per worker open.
CONNECTIONS = 1000
# Waitress reads a whole body before the app can refuse it.
MAX_REQUEST_BYTES = 8 << 20


class ProblemTask(ErrorTask):  # type: ignore[misc] # waitress has no types
    """Answers what is no HTTP request, or one too large to read, with problem details."""

    def execute(self) -> None:
        """Send the error."""
        error = self.request.error
        body = problem.document(error.code, str(error.body)[:200])
        self.status = f"{error.code} {error.reason}"
        self.response_headers.append(("Content-Type", problem.MEDIA_TYPE))
        self.set_close_on_finish()
        self.content_length = len(body)
        self.write(body)


class ProblemChannel(HTTPChannel):  # type: ignore[misc] # waitress has no types
    """A connection whose errors are problem details."""

    error_task_class = ProblemTask


def listen(host: str, port: int) -> socket.socket:
    """Bind a socket here, not in waitress, so that port 0 becomes known and a name means one address only."""
    family, kind, protocol, _, address = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    listener = socket.socket(family, kind, protocol)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(address)
    return listener


@contextlib.contextmanager
def _stopped_by(signals: tuple[signal.Signals, ...], stop: Callable[[], None]) -> Iterator[None]:
    def leave(*_: object) -> NoReturn:
        stop()
        raise SystemExit(0)

    previous: dict[signal.Signals, Any] = {one: signal.signal(one, leave) for one in signals}
    try:
        yield
    finally:
        for one, handler in previous.items():
            signal.signal(one, handler)


def serve(app: Flask, listener: socket.socket, started: Callable[[int], None], stop: Callable[[], None]) -> None:
    """Serve until SIGTERM or SIGINT; what is under way then is finished first."""
    server = create_server(
        app,
        sockets=[listener],
        threads=THREADS,
        connection_limit=CONNECTIONS,
        max_request_body_size=MAX_REQUEST_BYTES,
        asyncore_use_poll=True,
        ident="mockprovider",
        clear_untrusted_proxy_headers=True,
    )
    server.channel_class = ProblemChannel
    with _stopped_by((signal.SIGTERM, signal.SIGINT), stop):
        started(int(listener.getsockname()[1]))
        # Waitress takes SystemExit for the order to stop, waits for its threads, and returns.
        server.run()
    server.close()
