"""POST /vms."""

from __future__ import annotations

import json
import re
import threading
from typing import TYPE_CHECKING, Any

import pytest

from rig import ORDER, Provider, problem

if TYPE_CHECKING:
    from pathlib import Path


def test_a_new_vm_is_answered_with_201_and_all_its_fields() -> None:
    vm = Provider().made(labels={"owner": "a"})
    assert re.fullmatch(r"vm-[0-9a-f]{16}", vm.pop("id"))
    assert vm == {
        **ORDER,
        "phase": "Provisioning",
        "addresses": ["192.0.2.1"],
        "labels": {"owner": "a"},
        "createdAt": "2026-01-01T00:00:00.000Z",
    }


def test_an_image_is_enough_and_the_rest_has_defaults() -> None:
    vm = Provider().call("POST", "/vms", {"image": "debian"}).get_json()
    assert (vm["cpu"], vm["memory"], vm["name"], vm["labels"]) == (1, "1Gi", vm["id"], {})


def test_unknown_fields_are_ignored() -> None:
    assert "colour" not in Provider().made(colour="red")


def test_without_a_key_each_post_makes_a_vm() -> None:
    provider = Provider()
    assert provider.made()["id"] != provider.made()["id"]
    assert provider.store.count() == 2


def test_a_body_needs_no_content_type() -> None:
    answer = Provider().call("POST", "/vms", json.dumps(ORDER).encode())
    assert answer.status_code == 201


def test_a_repeat_with_the_same_key_and_body_returns_the_vm_as_it_is_now() -> None:
    provider = Provider(provision_seconds=5)
    first = provider.made("uid/1")
    provider.call("PATCH", f"/vms/{first['id']}", {"cpu": 8})
    provider.clock.advance(5)
    again = provider.create("uid/1")
    assert again.status_code == 200
    assert again.get_json() == first | {"phase": "Running", "cpu": 8}
    assert provider.store.count() == 1


def test_bodies_are_the_same_when_their_parsed_json_is() -> None:
    provider = Provider()
    first = provider.made("k")
    spelt = b'{ "name":"web-1", "memory":"\\u0034Gi", "cpu":2.0, "image":"ubuntu-24.04" }'
    again = provider.call("POST", "/vms", spelt, Idempotency_Key="k")
    assert (again.status_code, again.get_json()["id"]) == (200, first["id"])


@pytest.mark.parametrize("change", [{"cpu": 3}, {"extra": 1}, {"cpu": True}, {"cpu": 0}])
def test_a_key_with_another_body_is_refused_with_422(change: dict[str, Any]) -> None:
    provider = Provider()
    provider.made("k")
    assert problem(provider.create("k", **change), 422) == "the Idempotency-Key was first used with another body"
    assert provider.store.count() == 1


@pytest.mark.parametrize("change", [{}, {"cpu": 3}])
def test_the_key_of_a_deleted_vm_is_gone_whatever_the_body(change: dict[str, Any]) -> None:
    provider = Provider()
    provider.call("DELETE", f"/vms/{provider.made('k')['id']}")
    assert problem(provider.create("k", **change), 410) == "the VM that this Idempotency-Key made is deleted"
    assert provider.store.count() == 0


def test_the_key_of_a_vm_being_deleted_returns_the_vm_until_it_is_gone() -> None:
    provider = Provider(delete_seconds=10)
    provider.call("DELETE", f"/vms/{provider.made('k')['id']}")
    assert provider.create("k").get_json()["phase"] == "Deleting"
    provider.clock.advance(10)
    problem(provider.create("k"), 410)


def test_a_refused_order_does_not_use_its_key_up() -> None:
    provider = Provider()
    problem(provider.create("k", cpu=0), 422)
    assert provider.create("k").status_code == 201


def test_concurrent_posts_with_one_key_make_exactly_one_vm() -> None:
    provider = Provider()
    gate = threading.Barrier(16)
    answers: list[tuple[int, str]] = []

    def post() -> None:
        client = provider.app.test_client()
        gate.wait()
        answer = client.post("/vms", json=ORDER, headers={"Idempotency-Key": "k"})
        answers.append((answer.status_code, answer.get_json()["id"]))

    threads = [threading.Thread(target=post) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(status for status, _ in answers) == [200] * 15 + [201]
    assert len({machine_id for _, machine_id in answers}) == 1
    assert provider.store.count() == 1


@pytest.mark.parametrize("key", ["", " ", "a b", "ü", "x" * 256, "tab\there"])
def test_a_key_that_is_empty_too_long_or_not_printable_is_400(key: str) -> None:
    assert "Idempotency-Key must be" in problem(Provider().create(key), 400)


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("image", ["", "x" * 257, 7, None, ["a"]]),
        ("cpu", [0, -1, 1025, 1.5, "2", True, None]),
        ("memory", ["", "0", "0Gi", "0.0", "-1Gi", "4GiB", "Gi", "1e1.5", " 4Gi", "4Gi\n", "1" * 65, 4, None]),
        ("name", ["", "x" * 513, 7, None]),
        ("labels", [[], "a", None, {"a": 1}, {"": "a"}, {"a": "x" * 1025}, {str(n): "" for n in range(65)}]),
    ],
)
def test_a_value_out_of_its_bounds_is_422_and_the_detail_names_the_field(field: str, values: list[Any]) -> None:
    provider = Provider()
    for value in values:
        detail = problem(provider.create(**{field: value}), 422)
        assert field.removesuffix("s") in detail, value
    assert provider.store.count() == 0


@pytest.mark.parametrize("memory", ["1", "4Gi", "512Mi", "0.5Gi", ".5Gi", "5.", "+2G", "1e9", "1E9", "100k", "1e-3"])
def test_every_positive_quantity_is_taken_as_it_is_written(memory: str) -> None:
    assert Provider().made(memory=memory)["memory"] == memory


def test_the_bounds_themselves_are_accepted() -> None:
    provider = Provider()
    vm = provider.made(image="i" * 256, cpu=1024, name="ü" * 512, labels={"k" * 320: "v" * 1024})
    assert provider.vm(vm["id"]) == vm
    provider.made(cpu=1)


def test_an_order_without_an_image_is_422() -> None:
    assert problem(Provider().call("POST", "/vms", {"cpu": 1}), 422) == "image is required"


@pytest.mark.parametrize("body", [b"[]", b'"x"', b"1", b"null", b"true"])
def test_json_of_another_kind_than_an_object_is_422(body: bytes) -> None:
    assert problem(Provider().call("POST", "/vms", body), 422) == "the body must be a JSON object"


@pytest.mark.parametrize(
    "body",
    [b"", b"image=x", b'{"image":', b'{"image":NaN}', b"\xff\xfe", b'{"image":"\\ud800"}', b"[" * 100_000, b"1" * 5000],
)
def test_what_is_not_json_is_400(body: bytes) -> None:
    problem(Provider().call("POST", "/vms", body), 400)


def test_a_body_larger_than_a_mebibyte_is_413() -> None:
    assert problem(Provider().create(name="x" * (1 << 20)), 413) == "a body has at most 1048576 bytes"


def test_rejected_images_are_422_by_glob_and_others_pass() -> None:
    provider = Provider(rejected_images=("windows-*", "bad"))
    assert problem(provider.create(image="windows-11"), 422) == "image windows-11 is not in the catalogue"
    problem(provider.create(image="bad"), 422)
    provider.made(image="Windows-11")


def test_a_repeat_is_answered_although_its_image_is_rejected_by_now(tmp_path: Path) -> None:
    provider = Provider(data=str(tmp_path / "data"))
    provider.made("k")
    stricter = provider.restart(rejected_images=("*",))
    assert stricter.create("k").status_code == 200
    problem(stricter.create("other"), 422)


def test_addresses_are_handed_out_round_robin_and_never_outside_of_their_network() -> None:
    provider = Provider()
    addresses = [provider.made()["addresses"][0] for _ in range(256)]
    assert addresses[0] == "192.0.2.1"
    assert addresses[253:] == ["192.0.2.254", "192.0.2.1", "192.0.2.2"]


def test_given_addresses_are_reported_by_every_vm() -> None:
    provider = Provider(vm_addresses=("198.51.100.7", "2001:db8::7"))
    assert provider.made()["addresses"] == provider.made()["addresses"] == ["198.51.100.7", "2001:db8::7"]
    assert Provider(vm_addresses=()).made()["addresses"] == []
