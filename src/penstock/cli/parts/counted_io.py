"""What the command of a `penstock run` and all that it starts have moved, by the kernel's own count (`/proc/PID/io`).

The kernel adds what a process moved to its parent when the parent has seen it end, so what has ended is in our own
count, and the rest is that of our descendants. Pipes and terminals are in it, too: it is what was asked to be moved.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_COUNTS = {"read": "rchar", "write": "wchar"}
_PROC = Path("/proc")


class CountedIO:
    """Bytes since this was made; None where the kernel does not count."""

    def __init__(self, direction: str) -> None:
        self._name = _COUNTS[direction]
        self._most = 0.0
        self._before = self._now()

    def moved(self) -> float | None:
        """So far; never less than was seen before, for a process that ends may be missing for a moment."""
        now = self._now()
        if now is None or self._before is None:
            return None
        self._most = max(self._most, now - self._before)
        return self._most

    def _now(self) -> float | None:
        ended = self._ended()
        return None if ended is None else ended + sum(self._of(_PROC / str(pid)) or 0.0 for pid in _descendants())

    def _ended(self) -> float | None:
        """Of those that have ended: our own count without what our threads moved."""
        ours = self._of(_PROC / "self")
        threads = [self._of(path) or 0.0 for path in (_PROC / "self" / "task").iterdir()]
        return None if ours is None else max(0.0, ours - sum(threads))

    def _of(self, process: Path) -> float | None:
        with suppress(OSError, ValueError):
            for line in (process / "io").read_text().splitlines():
                name, _, count = line.partition(":")
                if name == self._name:
                    return float(count)
        return None


def _descendants() -> Iterator[int]:
    waiting = [os.getpid()]
    while waiting:
        for path in (_PROC / str(waiting.pop()) / "task").glob("*/children"):
            with suppress(OSError):
                found = [int(pid) for pid in path.read_text().split()]
                yield from found
                waiting += found
