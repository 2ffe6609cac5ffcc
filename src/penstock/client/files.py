"""Files that pace themselves in a job: what goes through them is paid for, from opening to closing as one phase."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from typing import Any

from penstock.client.phases import Phase, flat, size_of


class Paced:
    """A file object whose reads and writes are paced; all else is the file's own. Close it: that ends the phase."""

    def __init__(
        self, file: Any, volume: object = None, direction: str | None = None, targets: Iterable[str] = ()
    ) -> None:
        self._file = file
        if direction is None:
            direction = "write" if _can(file, "writable") else "read"
        if volume is None and direction == "read":
            volume = _left(file)
        self.phase = Phase(volume, direction, targets)
        self.phase.__enter__()

    def __enter__(self) -> Paced:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if line := self.readline():
            return line
        raise StopIteration

    def write(self, data: Any) -> int:
        """As the file's own."""
        return self.phase.write(self._file, data)

    def writelines(self, lines: Iterable[Any]) -> None:
        """As the file's own."""
        for line in lines:
            self.write(line)

    def read(self, size: int | None = -1) -> Any:
        """As the file's own."""
        return self.phase.read(self._file, -1 if size is None else size)

    def readinto(self, buffer: Any) -> int | None:
        """As the file's own, but for no more than a slice at a time."""
        self.phase.touches(self._file)
        view = flat(buffer)[: self.phase.slice]
        self.phase.pay(len(view))
        got: int | None = self._file.readinto(view)
        self.phase.refund(len(view) - (got or 0))
        self.phase.settle()
        return got

    def readline(self, size: int = -1) -> Any:
        """As the file's own; a line is paid for once its length is known."""
        self.phase.touches(self._file)
        line = self._file.readline(size)
        self.phase.acquire(size_of(line))
        return line

    def readlines(self, hint: int = -1) -> list[Any]:
        """As the file's own."""
        lines, total = [], 0
        for line in self:
            lines.append(line)
            total += len(line)
            if 0 < hint <= total:
                break
        return lines

    def close(self) -> None:
        """Close the file and end the phase."""
        try:
            self._file.close()
        finally:
            self.phase.exit()


def open_paced(path: Any, mode: str = "r", volume: object = None, *, targets: Iterable[str] = (), **how: Any) -> Paced:
    """As `open`, paced. Without a volume it is the file's size to read, and found out on the way to write."""
    direction = "read" if "r" in mode and "+" not in mode else "write"
    return Paced(open(path, mode, **how), volume, direction, targets)


def _can(file: Any, what: str) -> bool:
    ask = getattr(file, what, None)
    return bool(ask()) if ask is not None else hasattr(file, "write")


def _left(file: Any) -> float | None:
    """Bytes between here and the end of a regular file."""
    try:
        found = os.fstat(file.fileno())
        return max(0.0, found.st_size - file.tell()) if stat.S_ISREG(found.st_mode) else None
    except (AttributeError, OSError, ValueError):
        return None
