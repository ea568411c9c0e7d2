"""What --data keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rig import Provider, problem

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def kept(tmp_path: Path) -> Provider:
    return Provider(data=str(tmp_path / "vms.db"), provision_seconds=5, delete_seconds=10)


def identity(provider: Provider) -> str:
    return str(provider.call("GET", "/capabilities").get_json()["identity"])


def test_a_restart_loses_no_vm_and_stops_no_time(kept: Provider) -> None:
    vm = kept.made("k", labels={"a": "b"})
    doomed = kept.made()
    kept.call("DELETE", f"/vms/{doomed['id']}")
    again = kept.restart()
    assert again.vm(vm["id"]) == vm
    assert again.vm(doomed["id"]) == doomed | {"phase": "Deleting"}
    again.clock.advance(10)
    assert again.vm(vm["id"]) == vm | {"phase": "Running"}
    assert again.restart().vm(doomed["id"]) is None


def test_a_restart_loses_no_idempotency_record(kept: Provider) -> None:
    vm = kept.made("live")
    spent = kept.made("spent")
    kept.call("DELETE", f"/vms/{spent['id']}")
    kept.clock.advance(10)
    again = kept.restart()
    assert again.create("live").get_json()["id"] == vm["id"]
    problem(again.create("live", cpu=7), 422)
    problem(again.create("spent"), 410)


def test_order_and_cursors_outlive_a_restart_and_no_number_is_used_twice(kept: Provider) -> None:
    fast = kept.restart(delete_seconds=0)
    ids = [fast.made()["id"] for _ in range(3)]
    cursor = fast.call("GET", "/vms?limit=2").get_json()["next"]
    fast.call("DELETE", f"/vms/{ids[2]}")
    again = fast.restart()
    newest = again.made()
    assert newest["addresses"] == ["192.0.2.4"]
    assert [vm["id"] for vm in again.call("GET", f"/vms?cursor={cursor}").get_json()["items"]] == [newest["id"]]


def test_the_identity_is_kept_and_a_given_one_wins(kept: Provider) -> None:
    first = identity(kept)
    again = kept.restart()
    assert identity(again) == first
    renamed = again.restart(identity="other")
    assert identity(renamed) == "other"
    assert identity(renamed.restart(identity=None)) == first


def test_an_identity_given_at_the_first_start_is_kept(tmp_path: Path) -> None:
    provider = Provider(data=str(tmp_path / "vms.db"), identity="mine")
    assert identity(provider.restart(identity=None)) == "mine"


def test_two_processes_on_one_file_make_one_vm_for_a_key(kept: Provider) -> None:
    second = Provider(kept.clock, data=kept.settings.data)
    assert kept.made("k")["id"] == second.create("k").get_json()["id"]
    assert second.store.count() == 1
