"""The mock provider against openapi.yaml: whatever is sent, its answers are those that the contract describes.

Schemathesis runs against the real server, so that what waitress answers by itself is held to the contract as well.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from process import running

SPEC = Path(__file__).parent.parent / "openapi.yaml"
KEY = "a-key-for-the-contract"

# A key may be used up by an earlier call, no generated cursor was given out, and a VM whose deletion is slow is still
# there. Everything else that the contract permits must be accepted, and everything that it forbids refused.
TOLERANCE = """
checks.use_after_free.enabled = false

[[operations]]
include-operation-id = "create"
checks.positive_data_acceptance.expected-statuses = ["2xx", 410, 422]
checks.negative_data_rejection.expected-statuses = [400, 410, 413, 422]

[[operations]]
include-operation-id = "list"
checks.positive_data_acceptance.expected-statuses = ["2xx", 400]
"""


def narrowed(*, authenticated: bool) -> dict[str, Any]:
    """Narrow the contract to what this provider does, so that no deviation hides behind an alternative."""
    spec: dict[str, Any] = yaml.safe_load(SPEC.read_text())
    spec["security"] = [{"bearer": []}] if authenticated else []
    for path in spec["paths"].values():
        for operation in path.values():
            if isinstance(operation, dict):
                operation["responses"].pop("default", None)
                if not authenticated:
                    operation["responses"].pop("401", None)
    spec["components"]["schemas"]["VM"]["required"] += ["name", "cpu", "memory", "addresses", "labels", "createdAt"]
    return spec


def explore(folder: Path, spec: dict[str, Any], port: int, tolerance: str = "", header: str | None = None) -> None:
    """Let schemathesis look for a deviation, always in the same way."""
    (folder / "openapi.yaml").write_text(yaml.safe_dump(spec))
    (folder / "schemathesis.toml").write_text(tolerance)
    command = [
        *(sys.executable, "-m", "schemathesis.cli", "--config-file", "schemathesis.toml"),
        *("run", "openapi.yaml", "--url", f"http://127.0.0.1:{port}", "--checks", "all", "--no-color"),
        *("--generation-deterministic", "--max-examples", "25"),
        *(() if header is None else ("--header", header)),
    ]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "No issues found" in done.stdout, done.stdout


def test_no_answer_deviates_from_the_contract(tmp_path: Path) -> None:
    with running("app.py", "--port", "0", "--provision-seconds", "0", "--delete-seconds", "0.05") as server:
        explore(tmp_path, narrowed(authenticated=False), server.port, TOLERANCE)


def test_every_order_that_the_contract_permits_is_accepted_and_no_call_passes_without_the_key(tmp_path: Path) -> None:
    spec = narrowed(authenticated=True)
    # Without what may fail for reasons outside of the call, nothing has to be tolerated.
    spec["paths"]["/vms"]["post"]["parameters"].pop(1)
    spec["components"]["schemas"]["Cursor"]["enum"] = [""]
    spec["components"]["schemas"]["Page"]["properties"]["next"] = {"type": "string"}
    (tmp_path / "key").write_text(KEY)
    flags = ("--port", "0", "--api-key-file", str(tmp_path / "key"))
    with running("app.py", *flags) as server:
        explore(tmp_path, spec, server.port, header=f"Authorization: Bearer {KEY}")


@pytest.mark.parametrize("name", ["Order", "Size", "VM", "Capabilities"])
def test_the_contract_lets_both_sides_ignore_unknown_fields(name: str) -> None:
    schema = yaml.safe_load(SPEC.read_text())["components"]["schemas"][name]
    assert schema.get("additionalProperties", True) is True


def test_the_minimum_is_three_endpoints_and_a_vm_of_three_fields() -> None:
    spec = yaml.safe_load(SPEC.read_text())
    minimum = [
        (method, path)
        for path, operations in spec["paths"].items()
        for method, operation in operations.items()
        if isinstance(operation, dict) and "minimum" in operation["tags"]
    ]
    assert minimum == [("post", "/vms"), ("get", "/vms/{id}"), ("delete", "/vms/{id}")]
    assert spec["components"]["schemas"]["VM"]["required"] == ["id", "image", "phase"]
    assert spec["components"]["schemas"]["Order"]["required"] == ["image"]
