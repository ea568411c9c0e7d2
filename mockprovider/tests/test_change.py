"""DELETE and PATCH of /vms/{id}."""

from __future__ import annotations

from typing import Any

import pytest

from rig import Provider, problem


def test_a_deleted_vm_is_gone_at_once() -> None:
    provider = Provider()
    vm = provider.made()
    answer = provider.call("DELETE", f"/vms/{vm['id']}")
    assert (answer.status_code, answer.data) == (204, b"")
    assert "Content-Type" not in answer.headers
    assert provider.vm(vm["id"]) is None
    problem(provider.call("DELETE", f"/vms/{vm['id']}"), 404)


def test_deleting_an_unknown_id_is_404() -> None:
    problem(Provider().call("DELETE", "/vms/vm-1"), 404)


def test_a_slow_deletion_is_202_and_the_vm_stays_readable_as_deleting_until_it_is_gone() -> None:
    provider = Provider(delete_seconds=10)
    vm = provider.made("k")
    path = f"/vms/{vm['id']}"
    assert provider.call("DELETE", path).status_code == 202
    provider.clock.advance(9)
    assert provider.call("DELETE", path).status_code == 202, "a repeat is the same answer"
    assert provider.vm(vm["id"]) == vm | {"phase": "Deleting"}
    assert provider.call("GET", "/vms?key=k").get_json()["items"] == [vm | {"phase": "Deleting"}]
    assert len(provider.call("GET", "/vms").get_json()["items"]) == 1
    provider.clock.advance(1)
    assert provider.vm(vm["id"]) is None
    assert provider.call("GET", "/vms").get_json()["items"] == []
    problem(provider.call("DELETE", path), 404)
    assert provider.store.count() == 0


def test_a_repeated_delete_does_not_start_the_time_again() -> None:
    provider = Provider(delete_seconds=10)
    path = f"/vms/{provider.made()['id']}"
    for _ in range(2):
        provider.call("DELETE", path)
        provider.clock.advance(5)
    problem(provider.call("GET", path), 404)


def test_a_vm_that_reads_do_not_show_yet_can_be_deleted() -> None:
    provider = Provider(visible_after_seconds=3)
    vm = provider.made()
    assert provider.call("DELETE", f"/vms/{vm['id']}").status_code == 204
    provider.clock.advance(3)
    assert provider.vm(vm["id"]) is None


@pytest.mark.parametrize("change", [{"cpu": 8}, {"memory": "16Gi"}, {"cpu": 8, "memory": "16Gi"}, {}])
def test_a_resize_changes_what_is_given_and_keeps_the_rest(change: dict[str, Any]) -> None:
    provider = Provider()
    vm = provider.made()
    answer = provider.call("PATCH", f"/vms/{vm['id']}", change | {"image": "ignored"})
    assert answer.status_code == 200
    assert answer.get_json() == provider.vm(vm["id"]) == vm | change


@pytest.mark.parametrize("change", [{"cpu": 0}, {"cpu": None}, {"memory": "0"}, {"memory": 4}])
def test_a_bad_size_is_422_and_changes_nothing(change: dict[str, Any]) -> None:
    provider = Provider()
    vm = provider.made()
    assert next(iter(change)) in problem(provider.call("PATCH", f"/vms/{vm['id']}", change), 422)
    assert provider.vm(vm["id"]) == vm


def test_resizing_an_unknown_vm_is_404_one_being_deleted_409_and_no_json_400() -> None:
    provider = Provider(delete_seconds=10)
    path = f"/vms/{provider.made()['id']}"
    problem(provider.call("PATCH", "/vms/vm-1", {"cpu": 2}), 404)
    problem(provider.call("PATCH", path, b"cpu=2"), 400)
    provider.call("DELETE", path)
    assert problem(provider.call("PATCH", path, {"cpu": 2}), 409) == "the VM is being deleted"
    provider.clock.advance(10)
    problem(provider.call("PATCH", path, {"cpu": 2}), 404)
