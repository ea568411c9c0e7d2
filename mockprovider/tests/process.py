"""Real processes under test: started, waited for, spoken to over a socket, and always ended."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = Path(__file__).parent.parent


class Process:
    """A server whose first line of output says where it listens."""

    def __init__(self, script: str, *flags: str, cwd: Path | None = None) -> None:
        command = [sys.executable, str(FOLDER / script), *flags]
        self.child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=cwd)
        assert self.child.stdout is not None
        assert self.child.stderr is not None
        first = self.child.stdout.readline()
        self.hello: dict[str, Any] = json.loads(first) if first else {}
        self.port = int(self.hello.get("port", 0))
        self.lines: list[str] = []
        # A pipe that nobody reads fills up, and then the server stops in the middle of a log line.
        self.readers = [
            threading.Thread(target=self.lines.extend, args=(pipe,)) for pipe in (self.child.stdout, self.child.stderr)
        ]
        for reader in self.readers:
            reader.start()

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, bytes]:
        connection = self.connect()
        try:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, None if body is None else json.dumps(body), named)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def wait(self) -> int:
        code = self.child.wait(20)
        for reader in self.readers:
            reader.join()
        for pipe in (self.child.stdout, self.child.stderr):
            if pipe is not None:
                pipe.close()
        return code


@contextmanager
def running(script: str, *flags: str, cwd: Path | None = None) -> Iterator[Process]:
    process = Process(script, *flags, cwd=cwd)
    try:
        yield process
    finally:
        if process.child.poll() is None:
            process.child.kill()
        process.wait()
