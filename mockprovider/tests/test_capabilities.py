"""What is offered, and what is not there when it is not."""

from __future__ import annotations

from rig import Provider, problem


def test_capabilities_tell_identity_settle_time_and_what_is_offered() -> None:
    provider = Provider(identity="cloud-1", settle_seconds=30)
    assert provider.call("GET", "/capabilities").get_json() == {
        "identity": "cloud-1",
        "settleSeconds": 30,
        "capabilities": ["idempotency", "list", "resize", "owner"],
    }
    assert '"settleSeconds":30}' in provider.call("GET", "/capabilities").text, "a whole number is written as one"
    assert Provider(settle_seconds=0.5).call("GET", "/capabilities").get_json()["settleSeconds"] == 0.5


def test_each_installation_has_an_identity_of_its_own() -> None:
    first, second = (Provider().call("GET", "/capabilities").get_json()["identity"] for _ in range(2))
    assert first != second


def test_without_idempotency_the_key_is_ignored_and_not_returned() -> None:
    provider = Provider(capabilities=("list",))
    assert "key" not in provider.made("k")
    provider.made("k")
    provider.made("not a valid key")
    assert provider.store.count() == 3
    assert provider.call("GET", "/vms?key=k").get_json()["items"] == []


def test_without_list_there_is_no_get_on_vms() -> None:
    answer = Provider(capabilities=("idempotency",)).call("GET", "/vms")
    problem(answer, 405)
    assert answer.headers["Allow"] == "POST"


def test_without_resize_there_is_no_patch() -> None:
    provider = Provider(capabilities=())
    problem(provider.call("PATCH", f"/vms/{provider.made()['id']}", {"cpu": 1}), 405)


def test_without_owner_labels_are_neither_checked_nor_returned() -> None:
    provider = Provider(capabilities=("idempotency", "list", "resize"))
    assert "labels" not in provider.made(labels=["wrong"])


def test_a_provider_without_any_capability_says_so() -> None:
    assert Provider(capabilities=()).call("GET", "/capabilities").get_json()["capabilities"] == []


def test_the_minimal_provider_has_the_three_endpoints_and_nothing_else() -> None:
    provider = Provider(minimal=True)
    vm = provider.made("k", labels={"a": "b"})
    assert set(vm) == {"id", "name", "image", "cpu", "memory", "phase", "addresses", "createdAt"}
    assert provider.made("k")["id"] != vm["id"], "the key is ignored"
    assert provider.vm(vm["id"]) == vm
    problem(provider.call("GET", "/capabilities"), 404)
    problem(provider.call("GET", "/vms"), 405)
    problem(provider.call("GET", "/vms?key=k"), 405)
    problem(provider.call("PATCH", f"/vms/{vm['id']}", {"cpu": 1}), 405)
    assert provider.call("DELETE", f"/vms/{vm['id']}").status_code == 204
