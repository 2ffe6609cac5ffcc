"""What Typer finds wrong with a command line, as one sentence like all others."""

from __future__ import annotations

import re
from typing import Any, NoReturn

from penstock.errors import InvalidOption, nearest


def refuse_usage(error: Any) -> NoReturn:
    """Say what is wrong in one sentence; `error` is an exception of Typer's own, which would print four lines."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "penstock"
    raise InvalidOption(f"{_wrong(error, command)} `{command} --help` has more") from None


def no_such_command(group: str, word: str, known: list[str]) -> NoReturn:
    """Say that there is no such command, and which one may have been meant."""
    hint = "".join(f"did you mean {each!r}? " for each in nearest(word, known))
    raise InvalidOption(f"{group} has no command {word!r}; {hint}`{group} --help` has them all") from None


def _wrong(error: Any, command: str) -> str:
    option = getattr(error, "option_name", None)
    if option is not None and hasattr(error, "possibilities"):
        known = [name for each in error.ctx.command.params for name in each.opts] if error.ctx else []
        hint = "".join(f" did you mean {each}?" for each in nearest(option, known))
        return f"{command} has no option {option};{hint}"
    message = error.format_message().rstrip(".")
    if found := re.fullmatch(r"Missing (?:argument|option|parameter) '?(.+?)'?", message, re.DOTALL):
        return f"{command} needs {found[1]};"
    if found := re.fullmatch(r"Got unexpected extra arguments?(?:\(s\))? \((.+)\)", message, re.DOTALL):
        return f"{command} has no use for {found[1]!r};"
    if found := re.fullmatch(r"Invalid value for '?(.+?)'?: (.+)", message, re.DOTALL):
        return f"{found[1]}: {_lowered(found[2])};"
    return f"{_lowered(message)};"


def _lowered(text: str) -> str:
    return text[:1].lower() + text[1:]
