"""Authentication, errors, request IDs, metrics and logs: what stands in front of every endpoint."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, NoReturn

import pytest

import wire
from logs import JSONFormatter
from rig import Provider, problem

if TYPE_CHECKING:
    from pathlib import Path

KEY = "s3cret-key"


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    file = tmp_path / "key"
    file.write_text(f"  {KEY}\n")
    return file


ENDPOINTS = [
    ("POST", "/vms"),
    ("GET", "/vms"),
    ("GET", "/vms/x"),
    ("DELETE", "/vms/x"),
    ("PATCH", "/vms/x"),
    ("GET", "/capabilities"),
    ("POST", "/faults"),
    ("GET", "/requests"),
    ("GET", "/unknown"),
    ("PUT", "/vms"),
]


@pytest.mark.parametrize(("method", "path"), ENDPOINTS)
@pytest.mark.parametrize(
    "header", [None, KEY, "Bearer", "Bearer ", f"Basic {KEY}", "Bearer wrong", f"Bearer {KEY}x", "Bearer ü"]
)
def test_every_endpoint_needs_the_key(key_file: Path, method: str, path: str, header: str | None) -> None:
    provider = Provider(api_key_file=key_file, enable_faults=True)
    answer = provider.call(method, path, **({} if header is None else {"Authorization": header}))
    assert KEY not in problem(answer, 401)
    assert answer.headers["WWW-Authenticate"].startswith('Bearer realm="mockprovider"')
    assert provider.store.count() == 0


def test_the_key_opens_all_endpoints_and_its_file_may_have_white_space(key_file: Path) -> None:
    provider = Provider(api_key_file=key_file)
    for scheme in ("Bearer", "bearer"):
        assert provider.call("GET", "/vms", Authorization=f"{scheme} {KEY}").status_code == 200


def test_health_and_metrics_need_no_key(key_file: Path) -> None:
    provider = Provider(api_key_file=key_file)
    assert provider.call("GET", "/healthz").get_json() == {"status": "ok"}
    assert provider.call("GET", "/metrics").status_code == 200


def test_a_rotated_key_counts_at_once(key_file: Path) -> None:
    provider = Provider(api_key_file=key_file)
    key_file.write_text("next")
    assert provider.call("GET", "/vms", Authorization=f"Bearer {KEY}").status_code == 401
    assert provider.call("GET", "/vms", Authorization="Bearer next").status_code == 200


@pytest.mark.parametrize("content", ["", " \n"])
def test_a_key_file_that_became_empty_lets_nobody_in(key_file: Path, content: str) -> None:
    provider = Provider(api_key_file=key_file)
    key_file.write_text(content)
    problem(provider.call("GET", "/vms", Authorization="Bearer "), 401)
    problem(provider.call("GET", "/vms", Authorization=f"Bearer {KEY}"), 500)


def test_a_key_file_that_vanished_lets_nobody_in(key_file: Path) -> None:
    provider = Provider(api_key_file=key_file)
    key_file.unlink()
    problem(provider.call("GET", "/vms", Authorization=f"Bearer {KEY}"), 500)


def test_without_a_key_file_an_authorization_header_is_ignored() -> None:
    assert Provider().call("GET", "/vms", Authorization="Bearer any").status_code == 200


@pytest.mark.parametrize("path", ["/", "/nope", "/vms/", "//vms", "/vms/a/b", "/vms/a%2Fb", "/faults", "/requests"])
def test_an_unknown_route_is_404_with_problem_details(path: str) -> None:
    assert problem(Provider().call("GET", path), 404) == "there is no such endpoint"


@pytest.mark.parametrize(
    ("method", "path"), [("PUT", "/vms"), ("OPTIONS", "/vms"), ("POST", "/vms/x"), ("DELETE", "/vms")]
)
def test_a_wrong_method_is_405_and_says_which_are_right(method: str, path: str) -> None:
    answer = Provider().call(method, path)
    problem(answer, 405)
    assert "GET" in answer.headers["Allow"]


def test_a_failure_inside_is_500_and_tells_strangers_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    provider = Provider()

    def fail(_: str) -> NoReturn:
        raise RuntimeError("the inside")

    monkeypatch.setattr(provider.store, "get", fail)
    assert "the inside" not in problem(provider.call("GET", "/vms/x"), 500)


def test_a_request_id_is_echoed() -> None:
    for sane in ("a", "x" * 128, "with space & ~"):
        assert Provider().call("GET", "/vms", X_Request_ID=sane).headers["X-Request-ID"] == sane


@pytest.mark.parametrize("bad", ["", "x" * 129, "ü", "tab\there"])
def test_a_request_id_that_is_not_sane_is_replaced(bad: str) -> None:
    made = Provider().call("GET", "/vms", X_Request_ID=bad).headers["X-Request-ID"]
    assert made != bad
    assert wire.request_id(made)


def test_errors_carry_a_request_id_too() -> None:
    assert Provider().call("GET", "/nope", X_Request_ID="r").headers["X-Request-ID"] == "r"
    assert Provider().call("GET", "/nope").headers["X-Request-ID"]


def test_metrics_count_calls_by_operation_and_status_and_vms() -> None:
    provider = Provider(delete_seconds=5, enable_faults=True)
    vm = provider.made("k")
    provider.made()
    provider.create("k")
    provider.call("GET", "/vms")
    provider.call("GET", "/vms?key=k")
    provider.call("GET", "/nope")
    provider.call("DELETE", f"/vms/{vm['id']}")
    text = provider.call("GET", "/metrics").text
    assert 'mockprovider_requests_total{code="201",operation="create"} 2.0' in text
    assert 'mockprovider_requests_total{code="200",operation="create"} 1.0' in text
    assert 'mockprovider_requests_total{code="200",operation="list"} 1.0' in text
    assert 'mockprovider_requests_total{code="200",operation="find"} 1.0' in text
    assert 'mockprovider_requests_total{code="404",operation="other"} 1.0' in text
    assert 'mockprovider_requests_total{code="202",operation="delete"} 1.0' in text
    assert "mockprovider_vms 2.0" in text
    provider.clock.advance(5)
    assert "mockprovider_vms 1.0" in provider.call("GET", "/metrics").text


def test_each_call_is_one_json_log_line_with_its_request_id_and_never_the_key(
    key_file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    provider = Provider(api_key_file=key_file)
    with caplog.at_level(logging.INFO, "mockprovider"):
        provider.call("GET", "/vms/vm-1", Authorization=f"Bearer {KEY}", X_Request_ID="r-1")
        provider.call("GET", "/healthz")
    (line,) = [JSONFormatter().format(record) for record in caplog.records]
    logged = json.loads(line)
    assert logged.pop("durationMs") >= 0
    assert logged.pop("time")
    assert logged == {
        "level": "info",
        "msg": "request",
        "requestId": "r-1",
        "operation": "get",
        "method": "GET",
        "path": "/vms/vm-1",
        "status": 404,
        "vmID": "vm-1",
        "key": "",
    }
    assert KEY not in line
