"""GET /vms/{id}, and GET /vms by page and by key."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from rig import Provider, problem


def pages(provider: Provider, limit: int) -> list[list[str]]:
    found, cursor = [], ""
    while True:
        body = provider.call("GET", f"/vms?limit={limit}&cursor={cursor}").get_json()
        found.append([vm["id"] for vm in body["items"]])
        cursor = body["next"]
        if not cursor:
            return found


def items(provider: Provider, query: str = "") -> list[dict[str, Any]]:
    return list(provider.call("GET", f"/vms{query}").get_json()["items"])


def test_a_vm_is_provisioning_first_and_running_after_the_provision_time() -> None:
    provider = Provider(provision_seconds=5)
    made = provider.made()
    provider.clock.advance(4.9)
    assert provider.vm(made["id"]) == made
    provider.clock.advance(0.1)
    assert provider.vm(made["id"]) == made | {"phase": "Running"}


def test_without_provision_time_a_vm_runs_at_once() -> None:
    assert Provider(provision_seconds=0).made()["phase"] == "Running"


def test_an_unknown_id_is_404() -> None:
    assert problem(Provider().call("GET", "/vms/vm-1"), 404) == "there is no VM vm-1"


def test_an_empty_provider_lists_nothing_and_has_no_next_page() -> None:
    assert Provider().call("GET", "/vms").get_json() == {"items": [], "next": ""}


def test_pages_follow_each_other_in_order_of_creation() -> None:
    provider = Provider()
    ids = [provider.made()["id"] for _ in range(5)]
    assert pages(provider, 2) == [ids[:2], ids[2:4], ids[4:]]
    assert pages(provider, 5) == [ids]
    assert items(provider)[0] == provider.vm(ids[0])


def test_a_full_last_page_has_no_next() -> None:
    provider = Provider()
    ids = [provider.made()["id"] for _ in range(4)]
    assert pages(provider, 2) == [ids[:2], ids[2:]]


def test_a_page_has_100_vms_unless_a_limit_is_given() -> None:
    provider = Provider()
    for _ in range(101):
        provider.made()
    assert len(items(provider)) == 100
    assert len(items(provider, "?limit=500")) == 101


def test_vms_made_or_deleted_while_paging_are_neither_skipped_nor_doubled() -> None:
    provider = Provider()
    ids = [provider.made()["id"] for _ in range(4)]
    first = provider.call("GET", "/vms?limit=2").get_json()
    provider.call("DELETE", f"/vms/{ids[0]}")
    provider.call("DELETE", f"/vms/{ids[1]}")
    ids.append(provider.made()["id"])
    second = provider.call("GET", f"/vms?limit=2&cursor={first['next']}").get_json()
    third = provider.call("GET", f"/vms?limit=2&cursor={second['next']}").get_json()
    assert [vm["id"] for page in (first, second, third) for vm in page["items"]] == ids
    assert third["next"] == ""


@pytest.mark.parametrize("limit", ["0", "501", "-1", "x", "", "1.5", "+5", "%205", "5_0", "%D9%A3", "9" * 30])
def test_a_limit_that_is_no_number_from_1_to_500_is_400(limit: str) -> None:
    assert problem(Provider().call("GET", f"/vms?limit={limit}"), 400) == "limit must be an integer from 1 to 500"


def garbled(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    "cursor",
    ["x", "!!", "%C3%BC", garbled("after:01"), garbled("after:-1"), garbled("after:x"), "YWZ0ZXI6MQ==", "A" * 99],
)
def test_a_cursor_that_was_never_given_out_is_400(cursor: str) -> None:
    assert "cursor" in problem(Provider().call("GET", f"/vms?cursor={cursor}"), 400)


def test_a_vm_is_found_by_its_key() -> None:
    provider = Provider()
    vm = provider.made("uid/1")
    provider.made("uid/2")
    assert vm["key"] == "uid/1"
    assert provider.call("GET", "/vms?key=uid/1").get_json() == {"items": [vm], "next": ""}


def test_an_unknown_key_and_the_key_of_a_deleted_vm_find_nothing() -> None:
    provider = Provider()
    provider.call("DELETE", f"/vms/{provider.made('k')['id']}")
    assert items(provider, "?key=k") == items(provider, "?key=other") == []


@pytest.mark.parametrize("key", ["", "a%20b", "x" * 256])
def test_a_key_that_can_be_none_is_400(key: str) -> None:
    problem(Provider().call("GET", f"/vms?key={key}"), 400)


def test_reads_do_not_show_a_vm_before_it_is_visible() -> None:
    provider = Provider(visible_after_seconds=3)
    vm = provider.made("k")
    problem(provider.call("GET", f"/vms/{vm['id']}"), 404)
    assert items(provider) == items(provider, "?key=k") == []
    assert provider.create("k").status_code == 200, "a repeated POST is consistent all the same"
    provider.clock.advance(3)
    assert provider.vm(vm["id"]) == vm
    assert items(provider) == items(provider, "?key=k") == [vm]
