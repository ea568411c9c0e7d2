"""The mock provider against openapi.yaml: whatever is sent, its answers are those that the contract describes."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import schemathesis
import yaml
from hypothesis import HealthCheck, Phase, settings

from rig import Provider

if TYPE_CHECKING:
    from collections.abc import Iterator

SPEC = Path(__file__).parent.parent / "openapi.yaml"
KEY = "a-key-for-the-contract"
BOUNDED = settings(
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=60,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.generate],
)


def contract(*, authenticated: bool) -> dict[str, Any]:
    """Narrow the contract to what this provider does, so that no deviation hides behind an alternative."""
    spec: dict[str, Any] = yaml.safe_load(SPEC.read_text())
    spec["security"] = [{"bearer": []}] if authenticated else []
    for path in spec["paths"].values():
        for operation in path.values():
            if isinstance(operation, dict):
                operation["responses"].pop("default", None)
    spec["components"]["schemas"]["VM"]["required"] += ["name", "cpu", "memory", "addresses", "labels", "createdAt"]
    return spec
