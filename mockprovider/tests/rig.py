"""A provider under test, without a socket, in a time that only tests move."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from app import build, open_store
from settings import Settings

if TYPE_CHECKING:
    from werkzeug.test import TestResponse

ORDER = {"image": "ubuntu-24.04", "cpu": 2, "memory": "4Gi", "name": "web-1"}


class Clock:
    def __init__(self) -> None:
        self.now = 1_767_225_600.0  # 2026-01-01T00:00:00Z

    def __call__(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += seconds


class Provider:
    """One provider; `restart` gives its file to a new one, as a new process would open it."""

    def __init__(self, clock: Clock | None = None, **settings: Any) -> None:
        self.clock = clock or Clock()
        self.settings = Settings(**settings)
        self.slept: list[float] = []
        self.store = open_store(self.settings, self.clock)
        self.app = build(self.settings, self.store, self.clock, self.slept.append)
        self.client = self.app.test_client()

    def restart(self, **changes: Any) -> Provider:
        self.store.close()
        return Provider(self.clock, **(dataclasses.asdict(self.settings) | changes))

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> TestResponse:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if isinstance(body, bytes):
            return self.client.open(path, method=method, data=body, headers=named)
        return self.client.open(path, method=method, json=body, headers=named)

    def create(self, key: str | None = None, **changes: Any) -> TestResponse:
        headers = {} if key is None else {"Idempotency_Key": key}
        return self.call("POST", "/vms", ORDER | changes, **headers)

    def made(self, key: str | None = None, **changes: Any) -> dict[str, Any]:
        answer = self.create(key, **changes)
        assert answer.status_code == 201, answer.text
        return dict(answer.get_json())

    def vm(self, machine_id: str) -> dict[str, Any] | None:
        answer = self.call("GET", f"/vms/{machine_id}")
        return dict(answer.get_json()) if answer.status_code == 200 else None

    def fault(self, operation: str, **rule: Any) -> None:
        answer = self.call("POST", "/faults", {"operation": operation, **rule})
        assert answer.status_code == 201, answer.text

    def ledger(self) -> list[dict[str, Any]]:
        return list(self.call("GET", "/requests").get_json())


def problem(answer: TestResponse, status: int) -> str:
    """Check that an answer is a whole problem document; return its detail."""
    assert answer.status_code == status, answer.text
    assert answer.content_type == "application/problem+json"
    body = answer.get_json()
    assert body["status"] == status
    assert body["title"]
    assert body["type"] == "about:blank"
    return str(body["detail"])
