"""The endpoints of the contract. What a capability adds is routed only where it is offered."""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from flask import Flask, Response, jsonify, request

import calls
import wire
from problem import ProblemError, empty
from store import Deletion, KeyReusedError, KeySpentError, MachineDeletingError, Store

if TYPE_CHECKING:
    from collections.abc import Callable

    from machine import Machine
    from settings import Settings


def _unknown(vm_id: str) -> ProblemError:
    return ProblemError(HTTPStatus.NOT_FOUND, f"there is no VM {vm_id[:100]}")


@dataclass(frozen=True)
class Routes:
    """Handlers of the contract for one store."""

    store: Store
    settings: Settings
    identity: str
    clock: Callable[[], float]

    def install(self, app: Flask) -> None:
        """Add the routes; an endpoint's name is the name of its operation."""
        app.add_url_rule("/vms", "create", self.create, methods=["POST"])
        app.add_url_rule("/vms/<vm_id>", "get", self.get, methods=["GET"])
        app.add_url_rule("/vms/<vm_id>", "delete", self.delete, methods=["DELETE"])
        if not self.settings.minimal:
            app.add_url_rule("/capabilities", "capabilities", self.capabilities, methods=["GET"])
        if self.settings.offers("list"):
            app.add_url_rule("/vms", "list", self.page, methods=["GET"])
        if self.settings.offers("resize"):
            app.add_url_rule("/vms/<vm_id>", "resize", self.resize, methods=["PATCH"])

    def create(self) -> tuple[Response, int]:
        """Make a VM, or return the one that the idempotency key made."""
        body = wire.decode(request.get_data())
        key, digest = None, ""
        if self.settings.offers("idempotency"):
            header = request.headers.get("Idempotency-Key")
            key, digest = None if header is None else wire.key(header, "Idempotency-Key"), wire.fingerprint(body)
        try:
            # Before the body is checked: what was accepted once stays accepted, whatever is refused by now.
            earlier = self.store.replay(key, digest) if key else None
            if earlier is not None:
                return self._again(earlier)
            order = wire.order(body, with_labels=self.settings.offers("owner"))
            if any(fnmatch.fnmatchcase(order.image, glob) for glob in self.settings.rejected_images):
                raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, f"image {order.image} is not in the catalogue")
            machine, made = self.store.create(order, key, digest)
        except KeyReusedError as error:
            raise ProblemError(
                HTTPStatus.UNPROCESSABLE_ENTITY, "the Idempotency-Key was first used with another body"
            ) from error
        except KeySpentError as error:
            raise ProblemError(HTTPStatus.GONE, "the VM that this Idempotency-Key made is deleted") from error
        if not made:
            return self._again(machine)
        calls.current().had_effect(machine.id, machine.key)
        return self._vm(machine), HTTPStatus.CREATED

    def get(self, vm_id: str) -> Response:
        """Show one VM."""
        machine = self.store.get(vm_id)
        if machine is None:
            raise _unknown(vm_id)
        return self._vm(machine)

    def delete(self, vm_id: str) -> Response:
        """Delete a VM, at once or in a while."""
        deletion = self.store.delete(vm_id)
        if deletion is Deletion.UNKNOWN:
            raise _unknown(vm_id)
        if deletion is not Deletion.UNDER_WAY:
            calls.current().had_effect(vm_id)
        return empty(HTTPStatus.NO_CONTENT if deletion is Deletion.GONE else HTTPStatus.ACCEPTED)

    def resize(self, vm_id: str) -> Response:
        """Change cpu or memory."""
        cpu, memory = wire.resize(wire.decode(request.get_data()))
        try:
            machine = self.store.resize(vm_id, cpu, memory)
        except MachineDeletingError as error:
            raise ProblemError(HTTPStatus.CONFLICT, "the VM is being deleted") from error
        if machine is None:
            raise _unknown(vm_id)
        calls.current().had_effect(vm_id)
        return self._vm(machine)

    def page(self) -> Response:
        """Show VMs page by page, or the one with a key."""
        after, limit = wire.decode_cursor(request.args.get("cursor")), wire.limit(request.args.get("limit"))
        if "key" not in request.args:
            return self._page(*self.store.page(after, limit))
        machine = self.store.find(wire.key(request.args["key"], "key"))
        return self._page([] if machine is None else [machine], None)

    def capabilities(self) -> Response:
        """Tell what is offered beyond the minimum."""
        settle = self.settings.settle_seconds
        return jsonify(
            identity=self.identity,
            settleSeconds=int(settle) if settle == int(settle) else settle,
            capabilities=list(self.settings.capabilities),
        )

    def _again(self, machine: Machine) -> tuple[Response, int]:
        calls.current().concerns(machine.id, machine.key)
        return self._vm(machine), HTTPStatus.OK

    def _vm(self, machine: Machine) -> Response:
        return jsonify(machine.document(self.settings, self.clock()))

    def _page(self, machines: list[Machine], after: int | None) -> Response:
        now = self.clock()
        items: list[dict[str, Any]] = [machine.document(self.settings, now) for machine in machines]
        return jsonify(items=items, next="" if after is None else wire.encode_cursor(after))
