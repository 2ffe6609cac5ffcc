"""`penstock pause` and `penstock resume`: the kill switch, with a controller or without one."""

from __future__ import annotations

from typing import Annotated

import typer

from penstock.cli.parts.controller import AddressOption
from penstock.cli.parts.options import Json
from penstock.errors import InvalidOption

Host = Annotated[
    bool,
    typer.Option("--host", help="On this host only, without a controller: by the file that clients look for."),
]
LOOK = "clients on this host look every 10 s"


def pause(host: Host = False, address: AddressOption = None, json: Json = False) -> None:
    """Pace nobody any more, at once: every job goes on as if there were no controller."""
    if host:
        _switch_host(off=True, json=json)
    else:
        _switch(address, "pause", json)


def resume(host: Host = False, address: AddressOption = None, json: Json = False) -> None:
    """Pace again after `penstock pause`."""
    if host:
        _switch_host(off=False, json=json)
    else:
        _switch(address, "enforce", json)


def _switch(address: str | None, mode: str, json: bool) -> None:
    from penstock.cli.parts.controller import order  # noqa: PLC0415
    from penstock.cli.parts.light_output import tell  # noqa: PLC0415
    from penstock.live.admin import NoController  # noqa: PLC0415
    from penstock.report.live.table import mode_words  # noqa: PLC0415

    try:
        answer = order(address, "mode", mode=mode)
    except (NoController, InvalidOption) as error:
        raise type(error)(f"{error} (--host switches this host without one)") from None
    tell(answer, [mode_words(answer)], json)


def _switch_host(off: bool, json: bool) -> None:
    from penstock.cli.parts.light_output import tell  # noqa: PLC0415
    from penstock.client import config  # noqa: PLC0415

    file = config.OFF_FILE
    try:
        if off:
            file.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
            file.touch(mode=0o644)
        else:
            file.unlink(missing_ok=True)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InvalidOption(f"{file} cannot be {'made' if off else 'removed'} ({reason}); this is for root") from None
    words = f"{file} is there: no pacing" if off else f"{file} is gone: pacing"
    tell({"off_file": str(file), "off": off}, [f"{words} on this host ({LOOK})."], json)
