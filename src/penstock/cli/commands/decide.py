"""`penstock decide`: one decision."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.parts import choices
from penstock.cli.parts.options import Sharing
from penstock.cli.parts.output import print_json
from penstock.cli.parts.user_code import user_code
from penstock.cli.rooms import model, studies

State = Annotated[
    Path,
    typer.Argument(
        metavar="STATE",
        help="A state file: capacity, now, end, active applications; - for stdin.",
        parser=choices.read_path,
        **choices.file(*choices.SCENARIOS),
    ),
]


AlwaysJson = Annotated[bool, typer.Option("--json", hidden=True)]  # as elsewhere; there is no other form


def decide(state: State, sharing: Sharing = "fair-share", json: AlwaysJson = True) -> None:
    """Ask one sharing policy once: the rates for the applications that are active in STATE.

    Prints JSON: the rates by name, the next predictable event, and the minimum yield of the active ones then.
    """
    moment = model.load_moment(state)
    with user_code():
        decision = studies.decision.decide(moment, sharing)
    print_json(decision.to_dict())
