"""Faults and the ledger."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest

from app import build, open_store
from fault_answers import ConnectionDroppedError
from rig import ORDER, Provider, problem
from settings import Settings


@pytest.fixture
def provider() -> Provider:
    return Provider(enable_faults=True)


def test_without_the_flag_there_are_no_faults_and_no_ledger() -> None:
    for method, path in (("POST", "/faults"), ("GET", "/faults"), ("DELETE", "/faults"), ("GET", "/requests")):
        problem(Provider().call(method, path), 404)


def test_a_rule_is_returned_with_its_id_and_listed_until_cleared(provider: Provider) -> None:
    answer = provider.call("POST", "/faults", {"operation": "get", "status": 503})
    assert answer.status_code == 201
    rule = answer.get_json()
    assert rule["id"]
    assert (rule["count"], rule["skip"], rule["when"], rule["hits"]) == (1, 0, "before", 0)
    assert provider.call("GET", "/faults").get_json() == [rule]
    provider.call("GET", "/vms/x")
    assert provider.call("GET", "/faults").get_json() == [rule | {"count": 0, "hits": 1}]
    assert provider.call("DELETE", "/faults").status_code == 204
    assert provider.call("GET", "/faults").get_json() == []


def test_a_status_before_the_effect_prevents_it_and_one_after_hides_it(provider: Provider) -> None:
    provider.fault("create", status=500)
    problem(provider.create("a"), 500)
    assert provider.store.count() == 0
    provider.fault("create", status=502, when="after")
    problem(provider.create("b"), 502)
    assert provider.store.count() == 1


def test_the_connection_is_dropped_before_or_after_the_effect(provider: Provider) -> None:
    for when, made in (("before", 0), ("after", 1)):
        provider.fault("create", drop=True, when=when)
        with pytest.raises(ConnectionDroppedError):
            provider.create("k")
        assert provider.store.count() == made
    assert 'code="0",operation="create"} 2.0' in provider.call("GET", "/metrics").text


@pytest.mark.parametrize("status", [429, 503])
def test_429_and_503_carry_retry_after(provider: Provider, status: int) -> None:
    sent: list[tuple[dict[str, Any], str | None]] = [
        ({}, "1"),
        ({"retryAfter": "30"}, "30"),
        ({"retryAfter": "Wed, 21 Oct 2026 07:28:00 GMT"}, "Wed, 21 Oct 2026 07:28:00 GMT"),
        ({"retryAfter": "soon"}, "soon"),
        ({"retryAfter": None}, None),
    ]
    for rule, header in sent:
        provider.fault("list", status=status, **rule)
        answer = provider.call("GET", "/vms")
        problem(answer, status)
        assert answer.headers.get("Retry-After") == header


def test_a_rule_acts_count_times_after_skip_calls(provider: Provider) -> None:
    provider.fault("list", status=500, count=2, skip=1)
    assert [provider.call("GET", "/vms").status_code for _ in range(5)] == [200, 500, 500, 200, 200]


def test_a_rule_with_count_minus_one_acts_until_cleared(provider: Provider) -> None:
    provider.fault("list", status=500, count=-1)
    assert {provider.call("GET", "/vms").status_code for _ in range(20)} == {500}
    provider.call("DELETE", "/faults")
    assert provider.call("GET", "/vms").status_code == 200


def test_rules_act_in_the_order_in_which_they_were_added(provider: Provider) -> None:
    provider.fault("list", status=500)
    provider.fault("*", status=502)
    assert [provider.call("GET", "/vms").status_code for _ in range(3)] == [500, 502, 200]


@pytest.mark.parametrize("operation", ["create", "get", "list", "find", "resize", "capabilities", "delete"])
def test_a_rule_concerns_its_operation_alone(provider: Provider, operation: str) -> None:
    path = f"/vms/{provider.made('k')['id']}"
    provider.fault(operation, status=418, count=-1)
    statuses = {
        "create": provider.create(),
        "get": provider.call("GET", path),
        "list": provider.call("GET", "/vms"),
        "find": provider.call("GET", "/vms?key=k"),
        "resize": provider.call("PATCH", path, {"cpu": 1}),
        "capabilities": provider.call("GET", "/capabilities"),
        "delete": provider.call("DELETE", path),
    }
    assert [name for name, answer in statuses.items() if answer.status_code == 418] == [operation]


def test_a_star_concerns_every_operation_but_never_health_metrics_or_control(provider: Provider) -> None:
    provider.fault("*", status=500, count=-1)
    for path in ("/healthz", "/metrics", "/faults", "/requests"):
        assert provider.call("GET", path).status_code == 200
    assert provider.call("GET", "/nope").status_code == 404
    assert provider.call("GET", "/capabilities").status_code == 500


def test_match_picks_calls_by_a_part_of_id_or_key(provider: Provider) -> None:
    one, other = provider.made("uid-1/1"), provider.made("uid-2/1")
    provider.fault("*", status=500, match="uid-1", count=-1)
    assert provider.create("uid-1/9").status_code == 500
    assert provider.create("uid-3/1").status_code == 201
    assert provider.call("GET", f"/vms/{one['id']}").status_code == 500, "by the key that made it"
    assert provider.call("GET", f"/vms/{other['id']}").status_code == 200
    provider.call("DELETE", "/faults")
    provider.fault("get", status=500, match=other["id"][3:9])
    assert provider.call("GET", f"/vms/{one['id']}").status_code == 200
    assert provider.call("GET", f"/vms/{other['id']}").status_code == 500


def test_rules_of_one_match_can_be_cleared_alone(provider: Provider) -> None:
    for match in ("uid-1", "uid-2", ""):
        provider.fault("get", status=500, match=match)
    assert provider.call("DELETE", "/faults?match=uid-1").status_code == 204
    assert [rule["match"] for rule in provider.call("GET", "/faults").get_json()] == ["uid-2", ""]
    provider.call("DELETE", "/faults?match=")
    assert [rule["match"] for rule in provider.call("GET", "/faults").get_json()] == ["uid-2"]


def test_latency_delays_and_nothing_else(provider: Provider) -> None:
    provider.fault("create", latencySeconds=2.5)
    provider.fault("create", latencySeconds=4, when="after")
    assert provider.create().status_code == 201
    assert provider.slept == [2.5, 4]


def test_latency_goes_with_a_status(provider: Provider) -> None:
    provider.fault("create", latencySeconds=2, status=504)
    assert provider.create().status_code == 504
    assert provider.slept == [2]


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_call_that_waits_holds_up_no_other(when: str) -> None:
    settings = Settings(enable_faults=True)
    store = open_store(settings)
    waiting, release = threading.Event(), threading.Event()

    def sleep(_: float) -> None:
        waiting.set()
        release.wait()

    app = build(settings, store, sleep=sleep)
    app.test_client().post("/faults", json={"operation": "create", "latencySeconds": 60, "when": when})
    slow = threading.Thread(target=lambda: app.test_client().post("/vms", json=ORDER))
    slow.start()
    assert waiting.wait(10)
    client = app.test_client()
    assert client.post("/vms", json=ORDER).status_code == 201
    assert client.get("/vms").status_code == 200
    ledger = client.get("/requests").get_json()
    assert (ledger[0]["status"], ledger[0]["effect"]) == (0, when == "after"), "entered on arrival, not yet answered"
    release.set()
    slow.join()
    assert client.get("/requests").get_json()[0]["status"] == 201


def test_a_malformed_body_is_whole_but_no_json(provider: Provider) -> None:
    provider.fault("create", body="malformed", when="after")
    answer = provider.create()
    assert (answer.status_code, answer.content_type) == (201, "application/json")
    assert len(answer.data) == int(answer.headers["Content-Length"])
    with pytest.raises(json.JSONDecodeError):
        json.loads(answer.data)
    assert provider.store.count() == 1


def test_a_truncated_body_is_shorter_than_it_says(provider: Provider) -> None:
    provider.fault("list", body="truncated")
    answer = provider.call("GET", "/vms")
    assert 0 < len(answer.data) < int(answer.headers["Content-Length"])


def test_an_oversized_body_is_valid_json_of_more_than_ten_megabytes(provider: Provider) -> None:
    provider.fault("get", body="oversized")
    answer = provider.call("GET", "/vms/x")
    assert answer.status_code == 200
    assert len(answer.data) >= 10_000_000
    assert answer.get_json()["id"]


def test_an_html_body_is_200_as_from_a_login_page(provider: Provider) -> None:
    provider.fault("create", body="html")
    answer = provider.create()
    assert (answer.status_code, answer.content_type) == (200, "text/html; charset=utf-8")
    assert provider.store.count() == 0


def test_a_page_hides_or_doubles_vms_or_does_not_say_what_follows(provider: Provider) -> None:
    vm = provider.made("k")
    for path, operation in (("/vms", "list"), ("/vms?key=k", "find")):
        pages = {}
        for kind in ("empty", "doubled", "partial"):
            provider.fault(operation, body=kind, when="after")
            answer = provider.call("GET", path)
            assert answer.status_code == 200
            pages[kind] = answer.get_json()
        assert pages["empty"] == {"items": [], "next": ""}
        assert [item["id"] for item in pages["doubled"]["items"]] == [vm["id"], vm["id"]]
        assert (pages["doubled"]["next"], set(pages["partial"])) == ("", {"items"})
    provider.fault("list", body="doubled")
    assert provider.call("GET", "/vms").get_json() == {"items": [], "next": ""}, "before the effect nothing is known"


def test_a_wrong_body_can_have_a_status(provider: Provider) -> None:
    provider.fault("get", body="html", status=502)
    assert provider.call("GET", "/vms/x").status_code == 502


@pytest.mark.parametrize(
    "rule",
    [
        {},
        {"operation": "get"},
        {"operation": "nope", "status": 500},
        {"operation": None, "status": 500},
        {"operation": ["get"], "status": 500},
        {"operation": "get", "status": 500, "sttus": 1},
        {"operation": "get", "status": 99},
        {"operation": "get", "status": 600},
        {"operation": "get", "status": "500"},
        {"operation": "get", "status": 500, "count": -2},
        {"operation": "get", "status": 500, "count": True},
        {"operation": "get", "status": 500, "skip": -1},
        {"operation": "get", "status": 500, "when": "during"},
        {"operation": "get", "status": 500, "match": 1},
        {"operation": "get", "status": 500, "retryAfter": 1},
        {"operation": "get", "status": 500, "retryAfter": "1\r\nX: y"},
        {"operation": "get", "latencySeconds": -1},
        {"operation": "get", "latencySeconds": 601},
        {"operation": "get", "latencySeconds": "1"},
        {"operation": "get", "drop": "yes"},
        {"operation": "get", "drop": True, "status": 500},
        {"operation": "get", "drop": True, "body": "html"},
        {"operation": "get", "body": "xml"},
        {"operation": "get", "body": "empty"},
        {"operation": "*", "body": "doubled"},
    ],
)
def test_a_rule_that_makes_no_sense_is_422(provider: Provider, rule: dict[str, Any]) -> None:
    problem(provider.call("POST", "/faults", rule), 422)
    assert provider.call("GET", "/faults").get_json() == []


def test_the_ledger_tells_every_call_in_order(provider: Provider) -> None:
    vm = provider.made("k")
    provider.create("k")
    provider.call("GET", "/vms?key=k")
    provider.call("GET", f"/vms/{vm['id']}", X_Request_ID="r-4")
    provider.call("PATCH", f"/vms/{vm['id']}", {"cpu": 4})
    provider.call("DELETE", f"/vms/{vm['id']}")
    provider.call("DELETE", f"/vms/{vm['id']}")
    provider.call("GET", "/nope")
    provider.call("GET", "/healthz")
    entries = provider.ledger()
    assert [(e["seq"], e["operation"], e["status"], e["effect"]) for e in entries] == [
        (1, "create", 201, True),
        (2, "create", 200, False),
        (3, "find", 200, False),
        (4, "get", 200, False),
        (5, "resize", 200, True),
        (6, "delete", 204, True),
        (7, "delete", 404, False),
        (8, "other", 404, False),
    ]
    assert [e["id"] for e in entries] == [vm["id"], vm["id"], "", *[vm["id"]] * 4, ""]
    assert [e["key"] for e in entries] == [*["k"] * 6, "", ""]
    assert entries[3]["requestId"] == "r-4"
    assert set(entries[0]) == {"seq", "time", "operation", "id", "key", "status", "requestId", "effect"}


def test_the_ledger_shows_an_effect_whose_answer_was_dropped(provider: Provider) -> None:
    provider.fault("create", drop=True, when="after")
    with pytest.raises(ConnectionDroppedError):
        provider.create("k")
    (entry,) = provider.ledger()
    assert (entry["status"], entry["effect"], entry["key"]) == (0, True, "k")
    assert provider.vm(entry["id"])


def test_the_ledger_can_be_emptied_and_its_numbers_go_on(provider: Provider) -> None:
    provider.made()
    assert provider.call("DELETE", "/requests").status_code == 204
    assert provider.ledger() == []
    provider.made()
    assert [entry["seq"] for entry in provider.ledger()] == [2]
