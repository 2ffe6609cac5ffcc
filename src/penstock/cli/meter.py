"""Progress on the error stream of a terminal, shown only once a command has taken longer than a second."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

PATIENCE = 1.0


class Meter:
    """`with Meter() as meter: meter.show("fcfs", 0.3, "12 M events")`; a fraction of None is 'some way to go'."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        console = Console(stderr=True)
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[detail]}"),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task("", total=None, detail="")
        self._shown = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._shown:
            self._bar.stop()

    def show(self, what: str, fraction: float | None = None, detail: str = "") -> None:
        """Say what is being done and how far it is."""
        if not self._shown and time.monotonic() - self._started > PATIENCE:
            self._bar.start()
            self._shown = True
        total = None if fraction is None else 1.0
        self._bar.update(self._task, description=what, total=total, completed=fraction or 0.0, detail=detail)
