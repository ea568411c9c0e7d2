"""Endpoints beside the contract: health and metrics, and, for tests, faults and the ledger."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from flask import Flask, Response, jsonify, request

import wire
from problem import empty

if TYPE_CHECKING:
    from faults import Faults
    from ledger import Ledger
    from metrics import Metrics


def install(app: Flask, metrics: Metrics) -> None:
    """Add the endpoints that every provider has."""

    def healthz() -> Response:
        return jsonify(status="ok")

    def expose() -> Response:
        body, content_type = metrics.expose(request.headers.get("Accept", ""))
        return Response(body, content_type=content_type)

    app.add_url_rule("/healthz", "healthz", healthz, methods=["GET"])
    app.add_url_rule("/metrics", "metrics", expose, methods=["GET"])


def install_faults(app: Flask, faults: Faults, ledger: Ledger) -> None:
    """Add the endpoints with which tests order faults and count effects."""

    def add_fault() -> tuple[Response, int]:
        return jsonify(faults.add(wire.decode(request.get_data()))), HTTPStatus.CREATED

    def clear_faults() -> Response:
        faults.clear(request.args.get("match"))
        return empty(HTTPStatus.NO_CONTENT)

    def clear_requests() -> Response:
        ledger.clear()
        return empty(HTTPStatus.NO_CONTENT)

    app.add_url_rule("/faults", "add_fault", add_fault, methods=["POST"])
    app.add_url_rule("/faults", "list_faults", lambda: jsonify(faults.documents()), methods=["GET"])
    app.add_url_rule("/faults", "clear_faults", clear_faults, methods=["DELETE"])
    app.add_url_rule("/requests", "list_requests", lambda: jsonify(ledger.documents()), methods=["GET"])
    app.add_url_rule("/requests", "clear_requests", clear_requests, methods=["DELETE"])
