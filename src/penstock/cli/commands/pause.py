"""`penstock pause` and `penstock resume`: the kill switch, with a controller or without one."""

from __future__ import annotations

from typing import Annotated

import typer

from penstock.cli.parts.controller import AddressOption, order
from penstock.cli.parts.options import Json
from penstock.cli.parts.output import tell
from penstock.cli.rooms import live, report
from penstock.client import config
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
    try:
        answer = order(address, "mode", mode=mode)
    except (live.admin.NoController, InvalidOption) as error:
        raise type(error)(f"{error} (--host switches this host without one)") from None
    tell(answer, [report.live.table.mode_words(answer)], json)


def _switch_host(off: bool, json: bool) -> None:
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
