"""The command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import settings
from settings import Settings

if TYPE_CHECKING:
    from pathlib import Path


def test_without_flags_everything_has_its_default() -> None:
    assert settings.parse([]) == Settings()
    assert (Settings().host, Settings().port, Settings().provision_seconds) == ("127.0.0.1", 8080, 5)


def test_every_flag_reaches_its_setting(tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("k")
    line = (
        "--host 0.0.0.0 --port 0 --data vms.db --identity me --capabilities owner,list --provision-seconds 1.5 "
        "--delete-seconds 2 --visible-after-seconds 3 --settle-seconds 4 --vm-address 192.0.2.9 "
        f"--vm-address 2001:db8::9 --reject-image a* --reject-image b --api-key-file {key} --enable-faults"
    )
    assert settings.parse(line.split()) == Settings(
        host="0.0.0.0",  # noqa: S104 (what containers need)
        port=0,
        data="vms.db",
        identity="me",
        capabilities=("list", "owner"),
        provision_seconds=1.5,
        delete_seconds=2,
        visible_after_seconds=3,
        settle_seconds=4,
        vm_addresses=("192.0.2.9", "2001:db8::9"),
        rejected_images=("a*", "b"),
        api_key_file=key,
        enable_faults=True,
    )
    assert settings.parse(["--minimal"]).minimal
    assert settings.parse(["--capabilities", ""]).capabilities == ()
    assert settings.parse(["--vm-address", ""]).vm_addresses == ()


@pytest.mark.parametrize(
    "line",
    [
        "--port 65536",
        "--port -1",
        "--port x",
        "--provision-seconds -1",
        "--delete-seconds nan",
        "--settle-seconds inf",
        "--visible-after-seconds x",
        "--capabilities list,teleport",
        "--minimal --capabilities list",
        "--vm-address host.example",
        "--api-key-file /does/not/exist",
        "--api-key-file /dev/null",
        "--unknown",
    ],
)
def test_a_flag_that_makes_no_sense_ends_the_start_with_a_message(
    line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        settings.parse(line.split())
    assert stopped.value.code == 2
    assert line.split(maxsplit=1)[0] in capsys.readouterr().err


def test_an_identity_is_not_empty() -> None:
    with pytest.raises(SystemExit):
        settings.parse(["--identity", ""])
