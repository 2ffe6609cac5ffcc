"""Progress on the error stream, shown only once a command has taken longer than a second.

A terminal gets a bar. A file, as the log of a batch job, gets a line now and then.
"""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

from penstock.cli.rooms import rich

if TYPE_CHECKING:
    from rich.progress import Progress

PATIENCE = 1.0
BETWEEN_LINES = 30.0  # seconds


class ProgressLine:
    """`with ProgressLine() as line: line.show("fcfs", 0.3, "12 M events")`; a fraction of None is 'some way to go'."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._bar: Progress | None = None
        self._last_line = self._started

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._bar:
            self._bar.stop()

    def show(self, what: str, fraction: float | None = None, detail: str = "") -> None:
        """Say what is being done and how far it is."""
        if not sys.stderr.isatty():
            self._write_line(what, fraction, detail)
            return
        if self._bar is None:
            if time.monotonic() - self._started < PATIENCE:
                return
            self._bar = _bar()
        total = None if fraction is None else 1.0
        self._bar.update(self._bar.task_ids[0], description=what, total=total, completed=fraction or 0.0, detail=detail)

    def _write_line(self, what: str, fraction: float | None, detail: str) -> None:
        if time.monotonic() - self._last_line >= BETWEEN_LINES:
            self._last_line = time.monotonic()
            far = "" if fraction is None else f"{fraction:.0%}"
            print(f"penstock: {', '.join(filter(None, (what, far, detail)))}", file=sys.stderr, flush=True)


def _bar() -> Progress:
    parts = rich.progress
    bar = parts.Progress(
        parts.TextColumn("{task.description}"),
        parts.BarColumn(),
        parts.TextColumn("{task.fields[detail]}"),
        parts.TimeElapsedColumn(),
        console=rich.console.Console(stderr=True),
        transient=True,
    )
    bar.add_task("", total=None, detail="")
    bar.start()
    return bar
