"""Flags of the mock provider, and the settings they become."""

from __future__ import annotations

import argparse
import ipaddress
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

CAPABILITIES = ("idempotency", "list", "resize", "owner")


@dataclass(frozen=True)
class Settings:
    """Everything that decides how one mock provider behaves; the defaults are those of the flags."""

    host: str = "127.0.0.1"
    port: int = 8080
    data: str = ":memory:"
    identity: str | None = None
    capabilities: tuple[str, ...] = CAPABILITIES
    minimal: bool = False
    provision_seconds: float = 5.0
    delete_seconds: float = 0.0
    visible_after_seconds: float = 0.0
    settle_seconds: float = 0.0
    vm_addresses: tuple[str, ...] | None = None
    rejected_images: tuple[str, ...] = ()
    api_key_file: Path | None = None
    enable_faults: bool = False

    def offers(self, capability: str) -> bool:
        """Tell whether this provider has an optional capability."""
        return not self.minimal and capability in self.capabilities


def _seconds(text: str) -> float:
    value = float(text)
    if not math.isfinite(value) or value < 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a duration: seconds, zero or more")
    return value


def _port(text: str) -> int:
    value = int(text)
    if not 0 <= value <= 65535:  # noqa: PLR2004 (the highest TCP port)
        raise argparse.ArgumentTypeError(f"{text!r} is not a port: 0 to 65535")
    return value


def _address(text: str) -> str:
    if not text:
        return ""
    try:
        return str(ipaddress.ip_address(text))
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _capabilities(text: str) -> tuple[str, ...]:
    wanted = {word.strip() for word in text.split(",") if word.strip()}
    unknown = sorted(wanted - set(CAPABILITIES))
    if unknown:
        known = ", ".join(CAPABILITIES)
        raise argparse.ArgumentTypeError(f"unknown: {', '.join(unknown)}; known: {known}")
    return tuple(name for name in CAPABILITIES if name in wanted)


def _identity(text: str) -> str:
    if not 1 <= len(text) <= 253 or not text.isprintable():  # noqa: PLR2004 (openapi.yaml: Capabilities)
        raise argparse.ArgumentTypeError("an identity has 1 to 253 printable characters")
    return text


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="mockprovider",
        description="A VM provider that makes no VMs: the reference of the contract in openapi.yaml.",
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default %(default)s)")
    parser.add_argument(
        "--port",
        type=_port,
        default=8080,
        help="port; 0 takes a free one and says which (default %(default)s)",
    )
    parser.add_argument("--data", metavar="FILE", help="SQLite file that keeps VMs and keys over a restart")
    parser.add_argument(
        "--identity", type=_identity, help="name of this installation (default: random, kept in --data)"
    )
    offer = parser.add_mutually_exclusive_group()
    offer.add_argument(
        "--capabilities",
        type=_capabilities,
        default=CAPABILITIES,
        metavar="A,B",
        help=f"what to offer beyond the minimum, comma-separated (default {','.join(CAPABILITIES)})",
    )
    offer.add_argument("--minimal", action="store_true", help="offer the three endpoints of the minimum only")
    durations = (
        ("--provision-seconds", 5.0, "a VM is Provisioning for this long, then Running"),
        ("--delete-seconds", 0.0, "a VM is Deleting for this long, then gone"),
        ("--visible-after-seconds", 0.0, "reads do not show a VM for this long after POST"),
        ("--settle-seconds", 0.0, "settleSeconds that /capabilities tells"),
    )
    for flag, default, meaning in durations:
        parser.add_argument(flag, type=_seconds, default=default, metavar="N", help=f"{meaning} (default %(default)s)")
    parser.add_argument(
        "--vm-address",
        type=_address,
        action="append",
        metavar="IP",
        help="address that every VM reports; repeatable; '' for none (default: one of 192.0.2.0/24 each)",
    )
    parser.add_argument(
        "--reject-image",
        action="append",
        default=[],
        metavar="GLOB",
        help="images to refuse with 422; repeatable",
    )
    parser.add_argument(
        "--api-key-file", type=Path, metavar="FILE", help="require the key in this file as bearer token"
    )
    parser.add_argument("--enable-faults", action="store_true", help="offer /faults and /requests, for tests only")
    return parser


def parse(arguments: Sequence[str] | None = None) -> Settings:
    """Read the command line; a wrong one ends the process with a message and status 2."""
    parser = _parser()
    flags = parser.parse_args(arguments)
    if flags.api_key_file is not None:
        try:
            empty = not flags.api_key_file.read_bytes().strip()
        except OSError as error:
            parser.error(f"--api-key-file: {error}")
        if empty:
            parser.error(f"--api-key-file: {flags.api_key_file} is empty")
    addresses = None if flags.vm_address is None else tuple(a for a in flags.vm_address if a)
    return Settings(
        host=flags.host,
        port=flags.port,
        data=flags.data or ":memory:",
        identity=flags.identity,
        capabilities=flags.capabilities,
        minimal=flags.minimal,
        provision_seconds=flags.provision_seconds,
        delete_seconds=flags.delete_seconds,
        visible_after_seconds=flags.visible_after_seconds,
        settle_seconds=flags.settle_seconds,
        vm_addresses=addresses,
        rejected_images=tuple(flags.reject_image),
        api_key_file=flags.api_key_file,
        enable_faults=flags.enable_faults,
    )
