"""`penstock run` without the libraries of a command line, which take longer to load than all that it does itself.

Every step of a job may begin with it. What is not plainly right is left to Typer, which says what is wrong with it.
"""

from __future__ import annotations

from typing import Any

VALUES = {"--volume": "volume", "--direction": "direction", "--targets": "targets", "--job": "job"}
FLAGS = {"--json": "json", "--shim": "shim", "--strict": "strict"}
NEGATED = {"--no-shim": "shim"}


def quick_arguments(words: list[str]) -> dict[str, Any] | None:
    """The arguments of `run_in_turn`; None if there is anything to say about them.

    >>> quick_arguments(["--volume", "10GB", "--", "tar", "-c", "results"])
    {'volume': '10GB', 'command': ['tar', '-c', 'results']}
    >>> quick_arguments(["--help"])
    """
    found: dict[str, Any] = {}
    rest = list(words)
    while rest and rest[0].startswith("-"):
        name, equals, value = rest.pop(0).partition("=")
        if name == "--" and not equals:
            break
        if name in FLAGS and not equals:
            found[FLAGS[name]] = True
        elif name in NEGATED and not equals:
            found[NEGATED[name]] = False
        elif name in VALUES and (equals or (rest and not rest[0].startswith("-"))):
            found[VALUES[name]] = value if equals else rest.pop(0)
        else:
            return None
    return {**found, "command": rest} if rest else None
