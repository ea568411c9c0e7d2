"""A VM as this provider knows it, and how it looks on the wire."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from settings import Settings

DOCUMENTATION_HOSTS = 254
DEFAULT_CPU = 1
DEFAULT_MEMORY = "1Gi"


@dataclass(frozen=True)
class Order:
    """What a client asked for; an absent name becomes the VM's id."""

    image: str
    cpu: int
    memory: str
    name: str | None
    labels: dict[str, str]


@dataclass(frozen=True)
class Machine:
    """One VM. Its phase follows from time stamps, so that nothing has to run in the background."""

    seq: int
    id: str
    name: str
    image: str
    cpu: int
    memory: str
    labels: dict[str, str]
    key: str | None
    created_at: float
    running_at: float
    gone_at: float | None

    def phase(self, now: float) -> str:
        """Return the phase at a point in time."""
        if self.gone_at is not None:
            return "Deleting"
        return "Running" if now >= self.running_at else "Provisioning"

    def addresses(self, settings: Settings) -> list[str]:
        """Return the addresses; by default one from TEST-NET-1 (RFC 5737), where nothing real can answer."""
        if settings.vm_addresses is not None:
            return list(settings.vm_addresses)
        return [f"192.0.2.{1 + (self.seq - 1) % DOCUMENTATION_HOSTS}"]

    def document(self, settings: Settings, now: float) -> dict[str, Any]:
        """Return the VM as JSON-able data; what belongs to a capability shows only where it is offered."""
        created = datetime.fromtimestamp(self.created_at, UTC).isoformat(timespec="milliseconds")
        document: dict[str, Any] = {
            "id": self.id,
            "name": self.name,
            "image": self.image,
            "cpu": self.cpu,
            "memory": self.memory,
            "phase": self.phase(now),
            "addresses": self.addresses(settings),
            "createdAt": created.replace("+00:00", "Z"),
        }
        if settings.offers("owner"):
            document["labels"] = self.labels
        if settings.offers("idempotency") and self.key is not None:
            document["key"] = self.key
        return document
