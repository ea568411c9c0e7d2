"""The real process, served by waitress, over a socket."""

from __future__ import annotations

import http.client
import json
import signal
import socket
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from process import FOLDER, Process, running
from rig import ORDER

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def server() -> Iterator[Process]:
    with running("app.py", "--port", "0", "--enable-faults", cwd=Path("/")) as process:
        yield process


@pytest.fixture(autouse=True)
def _clean(request: pytest.FixtureRequest) -> None:
    if "server" in request.fixturenames:
        process = request.getfixturevalue("server")
        process.call("DELETE", "/faults")
        process.call("DELETE", "/requests")


def test_the_first_line_says_where_it_listens_and_who_it_is(server: Process) -> None:
    assert server.hello["msg"] == "listening"
    assert server.hello["port"] == server.port > 0
    assert json.loads(server.call("GET", "/capabilities")[1])["identity"] == server.hello["identity"]


def test_it_starts_from_the_root_of_the_repository_as_well() -> None:
    with running("../mockprovider/app.py", "--port", "0", "--minimal", cwd=FOLDER.parent) as process:
        assert process.hello["capabilities"] == []
        assert process.call("POST", "/vms", {"image": "a"})[0] == 201


@pytest.mark.parametrize(("when", "effect"), [("before", False), ("after", True)])
def test_a_dropped_connection_is_closed_without_a_byte(server: Process, when: str, *, effect: bool) -> None:
    server.call("POST", "/faults", {"operation": "create", "drop": True, "when": when})
    body = json.dumps(ORDER).encode()
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as raw:
        head = f"POST /vms HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
        raw.sendall(head.encode() + body)
        assert raw.recv(1) == b""
    (entry,) = json.loads(server.call("GET", "/requests")[1])
    assert (entry["status"], entry["effect"]) == (0, effect)


def test_a_truncated_answer_breaks_off(server: Process) -> None:
    server.call("POST", "/faults", {"operation": "list", "body": "truncated"})
    with pytest.raises(http.client.IncompleteRead):
        server.call("GET", "/vms")


def test_an_oversized_answer_arrives_whole(server: Process) -> None:
    server.call("POST", "/faults", {"operation": "list", "body": "oversized"})
    assert len(server.call("GET", "/vms")[1]) >= 10_000_000


def test_a_client_may_hang_up_in_the_middle_of_an_oversized_answer(server: Process) -> None:
    server.call("POST", "/faults", {"operation": "list", "body": "oversized"})
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as raw:
        raw.sendall(b"GET /vms HTTP/1.1\r\nHost: x\r\n\r\n")
        assert raw.recv(1) == b"H"
    assert server.call("GET", "/vms")[0] == 200


def test_a_connection_is_kept_for_further_calls(server: Process) -> None:
    connection = server.connect()
    for _ in range(3):
        connection.request("GET", "/vms")
        answer = connection.getresponse()
        answer.read()
        assert answer.headers.get("Connection") != "close"
    connection.close()


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (b"NONSENSE\r\n\r\n", b"400"),
        (b"POST /vms HTTP/1.1\r\nHost: x\r\nContent-Length: 999999999\r\n\r\n", b"413"),
    ],
)
def test_what_never_reaches_the_app_is_answered_with_problem_details(
    server: Process, request_bytes: bytes, status: bytes
) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as raw:
        raw.sendall(request_bytes)
        answer = raw.makefile("rb").read()
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.split()[1] == status
    assert b"application/problem+json" in head
    assert json.loads(body)["status"] == int(status)


def test_concurrent_posts_with_one_key_make_one_vm(server: Process) -> None:
    gate, ids = threading.Barrier(12), []

    def post() -> None:
        gate.wait()
        status, body = server.call("POST", "/vms", ORDER, Idempotency_Key="one")
        ids.append((status, json.loads(body)["id"]))

    threads = [threading.Thread(target=post) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(status for status, _ in ids) == [200] * 11 + [201]
    assert len({machine_id for _, machine_id in ids}) == 1


def test_thirty_waiting_calls_hold_up_no_other(server: Process) -> None:
    server.call("POST", "/faults", {"operation": "list", "latencySeconds": 600, "count": 30})
    with ExitStack() as stack:
        for _ in range(30):
            raw = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=20))
            raw.sendall(b"GET /vms HTTP/1.1\r\nHost: x\r\n\r\n")
        deadline = time.monotonic() + 20
        while json.loads(server.call("GET", "/faults")[1])[0]["hits"] < 30:
            assert time.monotonic() < deadline
        assert server.call("GET", "/vms")[0] == 200


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_it_cleanly_calls_that_wait_included(stop: signal.Signals) -> None:
    with running("app.py", "--port", "0", "--enable-faults") as process:
        process.call("POST", "/faults", {"operation": "create", "latencySeconds": 600, "when": "after"})
        answers: list[int] = []
        slow = threading.Thread(target=lambda: answers.append(process.call("POST", "/vms", ORDER)[0]))
        slow.start()
        deadline = time.monotonic() + 20
        while b'"effect":true' not in process.call("GET", "/requests")[1]:
            assert time.monotonic() < deadline
        process.child.send_signal(stop)
        assert process.wait() == 0
        slow.join()
        assert answers == [201], "a call under way is finished"
        assert json.loads(process.lines[-1])["msg"] == "stopped"
        for line in process.lines:
            json.loads(line)


def test_a_killed_process_loses_nothing_that_it_answered(tmp_path: Path) -> None:
    flags = ("--port", "0", "--data", str(tmp_path / "vms.db"))
    with running("app.py", *flags) as first:
        made = json.loads(first.call("POST", "/vms", ORDER, Idempotency_Key="k")[1])
        first.child.kill()
        first.wait()
    with running("app.py", *flags) as second:
        status, body = second.call("POST", "/vms", ORDER, Idempotency_Key="k")
        assert (status, json.loads(body)["id"]) == (200, made["id"])
        assert second.hello["identity"] == first.hello["identity"]


def test_a_taken_port_is_one_clear_line_and_status_1(server: Process) -> None:
    with running("app.py", "--port", str(server.port)) as process:
        assert process.hello["msg"] == "cannot start"
        assert "Address already in use" in process.hello["error"]
        assert process.wait() == 1


def test_a_file_that_is_no_database_is_one_clear_line_and_status_1(tmp_path: Path) -> None:
    file = tmp_path / "vms.db"
    file.write_text("this is not a database, it only looks like a file")
    with running("app.py", "--port", "0", "--data", str(file)) as process:
        assert process.hello["msg"] == "cannot start"
        assert process.wait() == 1
