"""Commands in sections, each under its own heading in `penstock --help`."""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup

FIRST = "Commands"


class Sections(TyperGroup):
    """A group that lists its commands by the panel that each was given."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """A heading and its commands, in the order in which they were added."""
        sections: dict[str, list[tuple[str, str]]] = {}
        longest = max(map(len, self.list_commands(ctx)))
        room = formatter.width - 6 - longest
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if command is not None and not command.hidden:
                panel = getattr(command, "rich_help_panel", None)
                heading = panel if isinstance(panel, str) else FIRST
                # Padded, so that the texts of all sections begin in the same column.
                sections.setdefault(heading, []).append((name.ljust(longest), command.get_short_help_str(room)))
        for heading, rows in sections.items():
            with formatter.section(heading):
                formatter.write_dl(rows)
