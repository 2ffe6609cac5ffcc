"""`penstock mode`: whether a running controller enforces its rates, only watches, or lets everyone go."""

from __future__ import annotations

from typing import Annotated

import typer

from penstock.cli.parts.controller import AddressOption
from penstock.cli.parts.options import Json

Mode = Annotated[
    str | None,
    typer.Argument(
        metavar="MODE",
        help="enforce; monitor: decide and write it down, but pace nobody; pause: pace nobody. None: show it.",
    ),
]


def mode(mode: Mode = None, address: AddressOption = None, json: Json = False) -> None:
    """Switch a running controller between enforcing, monitoring and pausing, or show its mode."""
    from penstock.cli.parts.controller import order  # noqa: PLC0415
    from penstock.cli.parts.light_output import tell  # noqa: PLC0415
    from penstock.report.live.table import mode_words  # noqa: PLC0415

    answer = order(address, "mode", mode=mode)
    tell(answer, [mode_words(answer)], json)
