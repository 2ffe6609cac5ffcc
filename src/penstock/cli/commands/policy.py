"""`penstock policy`: which sharing policy a running controller decides by."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from penstock.cli.parts import choices
from penstock.cli.parts.controller import AddressOption, order
from penstock.cli.parts.options import Json
from penstock.cli.parts.output import tell

Name = Annotated[
    str | None,
    typer.Argument(
        metavar="NAME",
        help="A name from `penstock policies`, or my_policy.py:function; none: show it.",
        autocompletion=choices.policy("sharing")["autocompletion"],  # what is installed there may not be here
    ),
]


def policy(name: Name = None, address: AddressOption = None, json: Json = False) -> None:
    """Switch a running controller to another sharing policy, or show which one decides."""
    answer = order(address, "policy", name=None if name is None else _from_anywhere(name))
    verb = "decides" if name is None else "decides from now on"
    tell(answer, [f"{answer['policy']} {verb}."], json)


def _from_anywhere(name: str) -> str:
    """A policy's file as the controller finds it, whatever folder it runs in."""
    file, colon, function = name.partition(":")
    return f"{os.path.abspath(file)}{colon}{function}" if os.path.isfile(file) else name
