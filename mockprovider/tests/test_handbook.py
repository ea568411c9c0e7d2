"""The handbook's own server: the fixture must stay as limited as it is."""

from __future__ import annotations

import json
import time

from process import running


def test_the_handbooks_server_answers_as_its_readers_know_it() -> None:
    with running("tests/handbook/app.py", "--port", "0", "--provision-seconds", "0.05") as server:
        status, body = server.call("POST", "/vms", {"image": "ubuntu", "cpu": 2}, Content_Type="application/json")
        vm = json.loads(body)
        assert status == 200
        assert vm == {"id": vm["id"], "image": "ubuntu", "phase": "Provisioning"}
        deadline = time.monotonic() + 20
        while json.loads(server.call("GET", f"/vms/{vm['id']}")[1])["phase"] != "Running":
            assert time.monotonic() < deadline
        assert server.call("DELETE", f"/vms/{vm['id']}") == (204, b"")
        assert server.call("DELETE", "/vms/never-was") == (204, b"")
        assert server.call("GET", f"/vms/{vm['id']}") == (404, b"")
        status, body = server.call("GET", "/capabilities")
        assert status == 404
        assert body.startswith(b"<!doctype html>")
        assert server.call("GET", "/vms")[0] == 405
