"""Names in columns that are too narrow for them: broken after a hyphen, a dot or a space, not inside of a word."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.text import Text

_AT_LEAST = 16  # letters of a line, if there are so many
# A number stays with its per cent.
_PIECE = re.compile(r"(?:[^\s\-_./:,;]|\.(?=\d))*(?:[\-_./:,;]+\s?|\s(?!%)|\s%\S*\s?|$)")


@dataclass(frozen=True)
class Breakable:
    """Text that fits itself into its cell."""

    text: Text

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """From a readable piece of it to all of it in one line."""
        longest = max(map(len, _PIECE.findall(self.text.plain)), default=0)
        most = self.text.cell_len
        return Measurement(min(most, max(longest, _AT_LEAST)), most).with_maximum(options.max_width)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """As many lines as it takes."""
        yield self.within(options.max_width)

    def within(self, width: int) -> Text:
        r"""The text with a new line wherever one of so many letters is full.

        >>> Breakable(Text("climate-with-a-long-name")).within(12).plain
        'climate-\nwith-a-long-\nname'
        >>> Breakable(Text("climatewithoutahyphen")).within(12).plain
        'climatewithoutahyphen'
        """
        ends: list[int] = []
        begin = end = 0
        for piece in filter(None, _PIECE.findall(self.text.plain)):  # the last one is empty
            if end > begin and end + len(piece.rstrip()) - begin > width:
                ends.append(end)
                begin = end
            end += len(piece)
        lines = self.text.divide(ends)
        for line in lines:
            line.rstrip()
        return Text("\n").join(lines)
