"""The progress of `penstock pace` on a terminal's error stream: how far, how fast, what is granted, how long yet."""

from __future__ import annotations

import sys
import time
from collections import deque
from types import TracebackType
from typing import TYPE_CHECKING, Self

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
        from rich.console import Console  # noqa: PLC0415
        from rich.progress import BarColumn, Progress, ProgressColumn  # noqa: PLC0415

        bar = self

        class Words(ProgressColumn):
            """What is drawn is looked up when it is drawn, so that nobody has to say that it changed."""

            def render(self, task: Task) -> Text:
                """The line beside the bar."""
                return bar.words()

        class Filled(BarColumn):
            """The bar itself."""

            def render(self, task: Task) -> object:  # type: ignore[override]
                """As far as the bytes are."""
                task.completed = bar.moved
                return super().render(task)

        console = Console(stderr=True)
        length = max(SHORTEST, min(LONGEST, console.width - WORDS))
        made = Progress(Filled(bar_width=length), Words(), console=console, transient=True, refresh_per_second=4)
        made.add_task("", total=self._size or None)
        return made

    def words(self) -> Text:
        """Bytes, rate, granted rate, time left."""
        from rich.text import Text  # noqa: PLC0415

        from penstock.report.live.table import rate, volume  # noqa: PLC0415
        from penstock.report.parts.quantities import duration  # noqa: PLC0415

        speed = self._speed()
        of = f" of {volume(self._size)}" if self._size else ""
        left = (self._size - self.moved) / speed if self._size and speed > 0 else None
        rest = f", {duration(max(0.0, left))} left" if left is not None else ""
        line = f"{volume(self.moved)}{of}, {rate(speed)}, {self._given()}{rest}"
        return Text(line, no_wrap=True, overflow="ellipsis")

    def _given(self) -> str:
        from penstock.report.live.table import rate  # noqa: PLC0415

        allowed = self._phase.rate
        if allowed is None:
            return "unpaced"
        if not self._phase.granted:
            return f"no grant: fallback {rate(allowed)}"
        return "waiting for a grant" if allowed == 0 else f"granted {rate(allowed)}"

    def _speed(self) -> float:
        now = time.monotonic()
        self._seen.append((now, self.moved))
        while len(self._seen) > 2 and now - self._seen[0][0] > WINDOW:
            self._seen.popleft()
        (since, before), (until, after) = self._seen[0], self._seen[-1]
        return (after - before) / (until - since) if until > since else 0.0
