"""`penstock campaign`: many runs, kept in a directory, and what they say; its commands, one file each.

`penstock campaign FILE -o DIR` runs one; a first word that is no command of the group is taken for the file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from penstock.cli.group import LazyGroup, group_of
from penstock.cli.table import CAMPAIGN, RUN
from penstock.errors import InvalidOption, nearest


class FileOrCommand(LazyGroup):
    """A group whose commands may be left out: then the first word is a campaign file."""

    package = "penstock.cli.commands.campaign"
    rows = CAMPAIGN

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the hidden command in its place."""
        if args and args[0] not in self.commands and args[0] != "--help":
            _check_word(args[0], [name for name in self.commands if name != RUN])
            args = [RUN, *args]
        return super().parse_args(ctx, args)

    def format_usage(self, ctx: Any, formatter: Any) -> None:
        """Both ways to call it."""
        formatter.write_usage(ctx.command_path, "FILE -o DIR [OPTIONS]")
        names = "|".join(row.name for row in self.rows if not row.hidden)
        formatter.write_usage(ctx.command_path, f"{names} … [OPTIONS]")


campaign = group_of(
    FileOrCommand,
    "campaign",
    "Run the campaign in FILE (workloads × settings × seeds × plans), or show what one has found. "
    "`penstock campaign FILE --help` has the options of running.",
)


def _check_word(word: str, commands: list[str]) -> None:
    """Refuse what is neither a command nor a file, and more likely a misspelt command."""
    if word.startswith("-") or Path(word).suffix or Path(word).exists():
        return
    near = nearest(word, commands)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise InvalidOption(
        f"{word}: no such file; {hint}a campaign is a .yaml file, and commands are {', '.join(commands)}"
    )
