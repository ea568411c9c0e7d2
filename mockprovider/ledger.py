"""The ledger: every call in order of arrival, so that tests can count effects."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

KEPT = 200_000


@dataclass
class Entry:
    """One call. It is entered on arrival and completed later, so that a client that gave up still finds it."""

    seq: int
    time: float
    operation: str
    id: str
    key: str
    request_id: str
    status: int = 0
    effect: bool = False

    def document(self) -> dict[str, Any]:
        """Return the entry as JSON-able data."""
        time = datetime.fromtimestamp(self.time, UTC).isoformat(timespec="milliseconds")
        return {
            "seq": self.seq,
            "time": time.replace("+00:00", "Z"),
            "operation": self.operation,
            "id": self.id,
            "key": self.key,
            "status": self.status,
            "effect": self.effect,
            "requestId": self.request_id,
        }


class Ledger:
    """The most recent calls."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: deque[Entry] = deque(maxlen=KEPT)
        self._seq = 0

    def enter(self, time: float, operation: str, machine_id: str, key: str, request_id: str) -> Entry:
        """Enter a call that arrived."""
        with self._lock:
            self._seq += 1
            entry = Entry(self._seq, time, operation, machine_id, key, request_id)
            self._entries.append(entry)
            return entry

    def documents(self) -> list[dict[str, Any]]:
        """Return all entries."""
        with self._lock:
            return [entry.document() for entry in self._entries]

    def clear(self) -> None:
        """Forget all entries; numbers go on, so that entries of before and after cannot be confused."""
        with self._lock:
            self._entries.clear()
