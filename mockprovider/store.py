"""Where VMs are kept: SQLite, in a file or in memory.

Reads never write: a VM whose deletion time has passed is filtered out and swept by the next write. One connection
behind one lock is enough for a mock, and makes a check and its insert one step; BEGIN IMMEDIATE keeps that true
when two processes share a file for the moment of a restart.
"""

from __future__ import annotations

import enum
import json
import secrets
import sqlite3
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from machine import Machine, Order

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS vms (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL, image TEXT NOT NULL,
  cpu INTEGER NOT NULL, memory TEXT NOT NULL, labels TEXT NOT NULL, key TEXT UNIQUE, created_at REAL NOT NULL,
  running_at REAL NOT NULL, visible_at REAL NOT NULL, gone_at REAL
) STRICT;
CREATE INDEX IF NOT EXISTS vms_gone ON vms (gone_at) WHERE gone_at IS NOT NULL;
CREATE TABLE IF NOT EXISTS keys (key TEXT PRIMARY KEY, body TEXT NOT NULL) STRICT;
"""
_FIELDS = "seq, id, name, image, cpu, memory, labels, key, created_at, running_at, gone_at"
_LIVE = "(gone_at IS NULL OR gone_at > :now)"
_SHOWN = f"{_LIVE} AND visible_at <= :now"


class KeyReusedError(Exception):
    """The idempotency key was first used with another body."""


class KeySpentError(Exception):
    """The VM that the idempotency key made is gone."""


class MachineDeletingError(Exception):
    """The VM is being deleted and can no longer be changed."""


class Deletion(enum.Enum):
    """What became of a request to delete."""

    GONE = enum.auto()
    BEGUN = enum.auto()
    UNDER_WAY = enum.auto()
    UNKNOWN = enum.auto()


@dataclass(frozen=True)
class Pace:
    """How long things take, in seconds."""

    provision: float = 5.0
    delete: float = 0.0
    visible_after: float = 0.0


class Store:
    """All VMs and idempotency keys of one provider."""

    def __init__(
        self, path: str = ":memory:", pace: Pace | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        self._pace = pace or Pace()
        self._clock = clock
        self._lock = threading.Lock()
        self._db = sqlite3.connect(path, timeout=10, isolation_level=None, check_same_thread=False)
        # Every answer is a promise, so it is on disk before it is sent.
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=FULL")
        self._db.executescript(_SCHEMA)

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._db.close()

    def identity(self, given: str | None = None) -> str:
        """Return the installation's identity: the given one, else the stored one, else a new one for ever."""
        with self._write():
            row = self._db.execute("SELECT value FROM meta WHERE name = 'identity'").fetchone()
            if row is None:
                row = (given or f"mock-{secrets.token_hex(8)}",)
                self._db.execute("INSERT INTO meta VALUES ('identity', ?)", row)
        return given or str(row[0])

    def replay(self, key: str, body: str) -> Machine | None:
        """Return the VM that a key made, None for a new key; raise when the key can make no VM any more."""
        with self._lock:
            return self._replay(key, body)

    def create(self, order: Order, key: str | None = None, body: str = "") -> tuple[Machine, bool]:
        """Make a VM, or return the one that the key made before; True when it was made now."""
        now = self._clock()
        machine_id = f"vm-{secrets.token_hex(8)}"
        with self._write():
            if key is not None:
                earlier = self._replay(key, body)
                if earlier is not None:
                    return earlier, False
                self._db.execute("INSERT INTO keys VALUES (?, ?)", (key, body))
            self._db.execute(
                "INSERT INTO vms (id, name, image, cpu, memory, labels, key, created_at, running_at, visible_at) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    machine_id,
                    machine_id if order.name is None else order.name,
                    order.image,
                    order.cpu,
                    order.memory,
                    json.dumps(order.labels),
                    key,
                    now,
                    now + self._pace.provision,
                    now + self._pace.visible_after,
                ),
            )
            made = self._one("id = :value", machine_id)
        if made is None:  # pragma: no cover
            raise AssertionError("a VM vanished inside its own transaction")
        return made, True

    def get(self, machine_id: str) -> Machine | None:
        """Return a VM as reads show it."""
        with self._lock:
            return self._one(f"id = :value AND {_SHOWN}", machine_id)

    def find(self, key: str) -> Machine | None:
        """Return the VM that an idempotency key made, as reads show it."""
        with self._lock:
            return self._one(f"key = :value AND {_SHOWN}", key)

    def key_of(self, machine_id: str) -> str | None:
        """Return the key that made a VM, whether reads show the VM yet or not."""
        with self._lock:
            machine = self._one("id = :value", machine_id)
        return machine.key if machine else None

    def page(self, after: int, limit: int) -> tuple[list[Machine], int | None]:
        """Return VMs in order of creation, and where the next page begins, None at the end."""
        with self._lock:
            rows = self._db.execute(
                f"SELECT {_FIELDS} FROM vms WHERE seq > :after AND {_SHOWN} ORDER BY seq LIMIT :limit",  # noqa: S608
                {"after": after, "now": self._clock(), "limit": limit + 1},
            ).fetchall()
        machines = [_machine(row) for row in rows[:limit]]
        return machines, machines[-1].seq if len(rows) > limit else None

    def resize(self, machine_id: str, cpu: int | None, memory: str | None) -> Machine | None:
        """Change a VM's size; None when there is no such VM."""
        with self._write():
            machine = self._one(f"id = :value AND {_LIVE}", machine_id)
            if machine is None:
                return None
            if machine.gone_at is not None:
                raise MachineDeletingError
            self._db.execute(
                "UPDATE vms SET cpu = coalesce(?, cpu), memory = coalesce(?, memory) WHERE id = ?",
                (cpu, memory, machine_id),
            )
            return self._one("id = :value", machine_id)

    def delete(self, machine_id: str) -> Deletion:
        """Delete a VM, at once or in a while."""
        now = self._clock()
        with self._write():
            machine = self._one(f"id = :value AND {_LIVE}", machine_id)
            if machine is None:
                return Deletion.UNKNOWN
            if machine.gone_at is not None:
                return Deletion.UNDER_WAY
            if self._pace.delete > 0:
                self._db.execute("UPDATE vms SET gone_at = ? WHERE id = ?", (now + self._pace.delete, machine_id))
                return Deletion.BEGUN
            self._db.execute("DELETE FROM vms WHERE id = ?", (machine_id,))
            return Deletion.GONE

    def count(self) -> int:
        """Return how many VMs exist, those that reads do not show yet included."""
        with self._lock:
            row = self._db.execute(f"SELECT count(*) FROM vms WHERE {_LIVE}", {"now": self._clock()})  # noqa: S608
            return int(row.fetchone()[0])

    def _replay(self, key: str, body: str) -> Machine | None:
        row = self._db.execute("SELECT body FROM keys WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None
        machine = self._one(f"key = :value AND {_LIVE}", key)
        if machine is None:
            raise KeySpentError
        if row[0] != body:
            raise KeyReusedError
        return machine

    def _one(self, condition: str, value: str) -> Machine | None:
        row = self._db.execute(
            f"SELECT {_FIELDS} FROM vms WHERE {condition}",  # noqa: S608 (conditions are constants of this module)
            {"value": value, "now": self._clock()},
        ).fetchone()
        return None if row is None else _machine(row)

    @contextmanager
    def _write(self) -> Iterator[None]:
        with self._lock:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                self._db.execute("DELETE FROM vms WHERE gone_at <= ?", (self._clock(),))
                yield
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")


def _machine(
    row: tuple[int, str, str, str, int, str, str, str | None, float, float, float | None],
) -> Machine:
    seq, machine_id, name, image, cpu, memory, labels, key, created_at, running_at, gone_at = row
    return Machine(seq, machine_id, name, image, cpu, memory, json.loads(labels), key, created_at, running_at, gone_at)
