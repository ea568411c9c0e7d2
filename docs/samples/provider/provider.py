"""A whole provider in one file: the minimum of the contract, idempotency, list and owner.

Where it keeps a dict in memory, make your VM, and keep the VM and its key in a database, in one transaction.
"""

import argparse
import hmac
import itertools
import json
import os
import re
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

MAX_BODY = 1 << 20
MAX_CPU = 1024
MAX_LIMIT = 500
QUANTITY = re.compile(r"\d*[1-9]\d*([KMGTPE]i|[kMGTPE])?")

lock = threading.Lock()  # one call at a time, so that one key makes one VM
vms: dict[str, dict[str, Any]] = {}  # by id, in the order of creation
keys: dict[str, tuple[str, Any]] = {}  # the VM that a key made, and its body: for 30 days after the VM at least
numbers = itertools.count(1)  # an id is never given to another VM

Answer = tuple[HTTPStatus, Any]


class ProblemError(Exception):
    """A call that is refused."""

    def __init__(self, status: HTTPStatus, detail: str) -> None:
        super().__init__(detail)
        self.status, self.detail = status, detail


def create(body: Any, key: str) -> Answer:  # noqa: ANN401 (JSON has no narrower type)
    """Make a VM, or return the one that the key made."""
    if key in keys:
        earlier, first = keys[key]
        if earlier not in vms:
            raise ProblemError(HTTPStatus.GONE, "the VM of this key is deleted")
        if first != body:  # parsed JSON, however it was written
            raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, "the key was first used with another body")
        return HTTPStatus.OK, vms[earlier]
    if not isinstance(body, dict) or not isinstance(body.get("image"), str) or not body["image"]:
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, "image is not a name")
    cpu, memory = body.get("cpu", 1), body.get("memory", "1Gi")
    if type(cpu) is not int or not 1 <= cpu <= MAX_CPU:
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, f"cpu is not an integer from 1 to {MAX_CPU}")
    if not isinstance(memory, str) or not QUANTITY.fullmatch(memory):
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, "memory is not a quantity such as 4Gi")
    vm = {"id": f"vm-{next(numbers)}", "image": body["image"], "cpu": cpu, "memory": memory, "phase": "Running"}
    vm |= {field: body[field] for field in ("name", "labels") if field in body}
    if key:
        vm["key"], keys[key] = key, (vm["id"], body)
    vms[vm["id"]] = vm
    return HTTPStatus.CREATED, vm


def page(query: dict[str, str]) -> Answer:
    """Show VMs page by page, or the one with a key."""
    if "key" in query:
        return HTTPStatus.OK, {"items": [vm for vm in vms.values() if vm.get("key") == query["key"]], "next": ""}
    limit, after = query.get("limit", "100"), query.get("cursor") or "0"
    if not (limit.isdecimal() and 1 <= int(limit) <= MAX_LIMIT and after.isdecimal()):
        raise ProblemError(HTTPStatus.BAD_REQUEST, "limit is not from 1 to 500, or the cursor is none of ours")
    # The cursor is the number of the last VM that was shown: what is made or deleted meanwhile moves no other.
    rest = [vm for vm in vms.values() if int(vm["id"].removeprefix("vm-")) > int(after)]
    items = rest[: int(limit)]
    more = items[-1]["id"].removeprefix("vm-") if len(rest) > len(items) else ""
    return HTTPStatus.OK, {"items": items, "next": more}


class Handler(BaseHTTPRequestHandler):
    """The wire."""

    def answer(self) -> Answer:
        """Serve one call."""
        body, url = self.read(), urlsplit(self.path)
        key = os.environ.get("API_KEY", "")
        if key and not hmac.compare_digest(self.headers.get("Authorization", "").encode(), f"Bearer {key}".encode()):
            raise ProblemError(HTTPStatus.UNAUTHORIZED, "the API key is missing or wrong")
        with lock:
            match [self.command, *url.path.strip("/").split("/")]:
                case ["GET", "capabilities"]:
                    offered = ["idempotency", "list", "owner"]
                    return HTTPStatus.OK, {"identity": "sample", "settleSeconds": 0, "capabilities": offered}
                case ["POST", "vms"]:
                    try:
                        return create(json.loads(body), self.headers.get("Idempotency-Key", ""))
                    except ValueError as error:
                        raise ProblemError(HTTPStatus.BAD_REQUEST, "the body is no JSON") from error
                case ["GET", "vms"]:
                    return page(dict(parse_qsl(url.query)))
                case ["GET", "vms", vm_id] if vm_id in vms:
                    return HTTPStatus.OK, vms[vm_id]
                case ["DELETE", "vms", vm_id] if vms.pop(vm_id, None):
                    return HTTPStatus.NO_CONTENT, None
                case [_, "vms", _]:
                    raise ProblemError(HTTPStatus.NOT_FOUND, "there is no such VM")
        raise ProblemError(HTTPStatus.METHOD_NOT_ALLOWED, "there is no such endpoint")

    def read(self) -> bytes:
        """Read the body, if it is not too large."""
        length = int(self.headers.get("Content-Length", "0"))
        if length > MAX_BODY:
            raise ProblemError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "the body is larger than 1 MiB")
        return self.rfile.read(length)

    def handle_call(self) -> None:
        """Answer one call, with problem details if it is refused."""
        media = "application/json"
        try:
            status, document = self.answer()
        except ProblemError as error:
            status, media = error.status, "application/problem+json"
            document = {"type": "about:blank", "title": status.phrase, "status": status, "detail": error.detail}
        content = b"" if document is None else json.dumps(document).encode()
        self.send_response(status)
        if status == HTTPStatus.UNAUTHORIZED:
            self.send_header("WWW-Authenticate", "Bearer")
        if content:
            self.send_header("Content-Type", media)
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_DELETE = do_PUT = do_PATCH = handle_call  # noqa: N815 (http.server wants these names)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=8080)
    server = ThreadingHTTPServer(("127.0.0.1", parser.parse_args().port), Handler)
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)  # noqa: T201 (whoever starts it reads it)
    server.serve_forever()
