"""What Prometheus can read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge
from prometheus_client.exposition import choose_encoder

if TYPE_CHECKING:
    from collections.abc import Callable


class Metrics:
    """Counts of one provider; a registry of its own keeps several in one process apart."""

    def __init__(self, live: Callable[[], int]) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "mockprovider_requests",
            "Calls by operation and status; code 0 is a connection dropped without an answer.",
            ("operation", "code"),
            registry=self._registry,
        )
        vms = Gauge("mockprovider_vms", "VMs that exist now.", registry=self._registry)
        vms.set_function(live)

    def count(self, operation: str, code: int) -> None:
        """Count one call."""
        self._requests.labels(operation, str(code)).inc()

    def expose(self, accept: str) -> tuple[bytes, str]:
        """Return the exposition and its media type, as the scraper asks for it."""
        encoder, content_type = choose_encoder(accept)
        return encoder(self._registry), content_type
