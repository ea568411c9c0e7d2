"""The mock provider: `python mockprovider/app.py`, with --help for its flags."""

from __future__ import annotations

import sys
import threading
import time
from typing import TYPE_CHECKING

from flask import Flask

import calls
import control
import logs
import server
import settings
import wire
from auth import Authenticator
from faults import Faults
from ledger import Ledger
from metrics import Metrics
from routes import Routes
from settings import Settings
from store import Pace, Store

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def open_store(chosen: Settings, clock: Callable[[], float] = time.time) -> Store:
    """Open the store that settings ask for."""
    pace = Pace(chosen.provision_seconds, chosen.delete_seconds, chosen.visible_after_seconds)
    return Store(chosen.data, pace, clock)


def build(
    chosen: Settings,
    store: Store,
    clock: Callable[[], float] = time.time,
    sleep: Callable[[float], object] = time.sleep,
) -> Flask:
    """Wire an app for one store."""
    app = Flask("mockprovider", static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = wire.MAX_BODY_BYTES
    app.config["PROVIDE_AUTOMATIC_OPTIONS"] = False
    # A redirect from //vms to /vms would be an answer outside of the contract.
    app.url_map.merge_slashes = False
    metrics = Metrics(store.count)
    faults, ledger = (Faults(), Ledger()) if chosen.enable_faults else (None, None)
    Routes(store, chosen, store.identity(chosen.identity), clock).install(app)
    control.install(app, metrics)
    if faults is not None and ledger is not None:
        control.install_faults(app, faults, ledger)
    calls.Pipeline(store, Authenticator(chosen.api_key_file), metrics, faults, ledger, sleep).install(app)
    return app


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until told to stop."""
    chosen = settings.parse(arguments)
    logs.configure()
    try:
        store = open_store(chosen)
        identity = store.identity(chosen.identity)
        listener = server.listen(chosen.host, chosen.port)
    except Exception as error:  # noqa: BLE001 (whatever it is, one clear line must say it)
        logs.error("cannot start", error, host=chosen.host, port=chosen.port, data=chosen.data)
        return 1
    stopping = threading.Event()
    # Latency ends early on SIGTERM, else a stop would wait for it.
    app = build(chosen, store, sleep=stopping.wait)

    def started(port: int) -> None:
        logs.info(
            "listening",
            host=chosen.host,
            port=port,
            identity=identity,
            capabilities=[] if chosen.minimal else list(chosen.capabilities),
        )

    server.serve(app, listener, started, stopping.set)
    store.close()
    logs.info("stopped")
    return 0


if __name__ == "__main__":
    sys.exit(main())
