"""What commands print that must start fast: as in `show`, without the libraries of a simulation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

PIPE_WIDTH = 120


def output() -> Console:
    """Standard output; a pipe has no width, and names that are cut for lack of it cannot be searched for."""
    from rich.console import Console  # noqa: PLC0415

    console = Console()
    return console if console.is_terminal else Console(width=max(PIPE_WIDTH, console.width))


def as_json(thing: object, indent: int = 2) -> str:
    """One JSON document; a number that JSON lacks becomes null. No indent: in one line."""
    import msgspec  # noqa: PLC0415

    text = msgspec.json.encode(thing)
    return (msgspec.json.format(text, indent=indent) if indent else text).decode()


def tell(answer: object, words: Iterable[RenderableType], json: bool) -> None:
    """An answer, for a program or in words and tables for a person."""
    if json:
        print(as_json(answer))
        return
    console = output()
    for each in words:
        if isinstance(each, str):
            console.print(each, highlight=False, markup=False, soft_wrap=True)
        else:
            console.print(each)
