"""The progress of `penstock pace` on a terminal's error stream: how far, how fast, what is granted, how long yet."""

from __future__ import annotations

import sys
import time
from collections import deque
from types import TracebackType
from typing import TYPE_CHECKING, Self

from penstock.cli.rooms import report, rich

if TYPE_CHECKING:
    from rich.progress import Progress, Task
    from rich.text import Text

    from penstock.client import Phase

WINDOW = 5.0  # seconds that the rate shown is a mean of
LONGEST, SHORTEST = 30, 5  # letters of the bar
WORDS = 78  # letters beside it, hardly ever more


class Bar:
    """Counts the bytes moved, in `moved`, and shows them where there is a terminal."""

    def __init__(self, phase: Phase, size: float) -> None:
        self.moved = 0
        self._phase, self._size = phase, size
        self._seen: deque[tuple[float, int]] = deque([(time.monotonic(), 0)])
        self._progress: Progress | None = None

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            self._progress = self._made()
            self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._progress is not None:
            self._progress.stop()
            self._progress = None

    def _made(self) -> Progress:
        parts, bar = rich.progress, self

        class Words(rich.progress.ProgressColumn):
            """What is drawn is looked up when it is drawn, so that nobody has to say that it changed."""

            def render(self, task: Task) -> Text:
                """The line beside the bar."""
                return bar.words()

        class Filled(rich.progress.BarColumn):
            """The bar itself."""

            def render(self, task: Task) -> object:  # type: ignore[override]
                """As far as the bytes are."""
                task.completed = bar.moved
                return super().render(task)

        console = rich.console.Console(stderr=True)
        length = max(SHORTEST, min(LONGEST, console.width - WORDS))
        made = parts.Progress(Filled(bar_width=length), Words(), console=console, transient=True, refresh_per_second=4)
        made.add_task("", total=self._size or None)
        return made

    def words(self) -> Text:
        """Bytes, rate, granted rate, time left."""
        speed = self._speed()
        of = f" of {report.live.table.volume(self._size)}" if self._size else ""
        left = (self._size - self.moved) / speed if self._size and speed > 0 else None
        rest = f", {report.parts.quantities.duration(max(0.0, left))} left" if left is not None else ""
        line = f"{report.live.table.volume(self.moved)}{of}, {report.live.table.rate(speed)}, {self._given()}{rest}"
        return rich.text.Text(line, no_wrap=True, overflow="ellipsis")

    def _given(self) -> str:
        allowed = self._phase.rate
        if allowed is None:
            return "unpaced"
        if not self._phase.granted:
            return f"no grant: fallback {report.live.table.rate(allowed)}"
        return "waiting for a grant" if allowed == 0 else f"granted {report.live.table.rate(allowed)}"

    def _speed(self) -> float:
        now = time.monotonic()
        self._seen.append((now, self.moved))
        while len(self._seen) > 2 and now - self._seen[0][0] > WINDOW:
            self._seen.popleft()
        (since, before), (until, after) = self._seen[0], self._seen[-1]
        return (after - before) / (until - since) if until > since else 0.0
