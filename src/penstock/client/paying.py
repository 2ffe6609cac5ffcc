"""How Python in a job pays into a segment: by the library's compare-and-swap, or under a file lock where there is none.

The lock keeps processes without the library apart from each other. It cannot keep them apart from the library, but
where Python finds none, programs are not preloaded with one either.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from fcntl import LOCK_EX, LOCK_UN, flock
from math import isnan
from typing import Any, Protocol

from penstock.client.segment import Kind, Segment
from penstock.client.shim.library import NoLibrary, library

AT_ONCE = -(1 << 63)  # instead of a mark: all is served


class Payer(Protocol):
    """Adds to what is promised and to what was moved."""

    def promise(self, amount: int, now: int) -> int:
        """Promise so many bytes; the mark to wait for, or AT_ONCE. `now` in nanoseconds."""

    def add(self, word: int, amount: int) -> None:
        """Add to a word of the segment."""

    def credit(self, amount: int) -> None:
        """What this process moves next was paid for here: the library is not to ask for it again."""


class WithLibrary:
    """By the functions of the preloaded library, whether it is preloaded here or not."""

    def __init__(self, segment: Segment, functions: Any) -> None:
        from ctypes import addressof, c_char, c_int, c_int64, c_void_p  # noqa: PLC0415 - only who pays needs it

        self._keep = c_char.from_buffer(segment.memory)
        self._address = addressof(self._keep)
        self._try, self._add, self._credit = functions.penstock_try, functions.penstock_add, functions.penstock_credit
        self._try.argtypes, self._try.restype = (c_void_p, c_int, c_int64, c_int64), c_int64
        self._add.argtypes, self._add.restype = (c_void_p, c_int64), None
        self._credit.argtypes, self._credit.restype = (c_int64,), None

    def promise(self, amount: int, now: int) -> int:
        """Without a lock."""
        mark: int = self._try(self._address, Kind.BYTES, amount, now)
        return mark

    def add(self, word: int, amount: int) -> None:
        """Without a lock."""
        self._add(self._address + 8 * word, amount)

    def credit(self, amount: int) -> None:
        """To the library, which may be in front of this process's writes."""
        self._credit(amount)


class WithLock:
    """Under a lock that the kernel takes from a process that dies."""

    def __init__(self, segment: Segment) -> None:
        self._segment = segment
        self._lock = threading.Lock()

    def promise(self, amount: int, now: int) -> int:
        """Under the lock."""
        segment = self._segment
        served, rate, depth = segment.lane().served(now / 1e9, segment.alive_until)
        if isnan(rate):
            return AT_ONCE
        with self._lock, Held(segment.fd):
            mark = max(segment.promised(), int(served - depth)) + amount
            segment.set_promised(mark)
        return AT_ONCE if served >= mark else mark

    def add(self, word: int, amount: int) -> None:
        """Under the lock."""
        with self._lock, Held(self._segment.fd):
            self._segment.add(word, amount)

    def credit(self, amount: int) -> None:
        """There is nobody who would ask."""


class Held:
    """The lock on a segment. It belongs to the open file, which threads share: they need a lock among them, too."""

    __slots__ = ("_fd",)

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def __enter__(self) -> None:
        flock(self._fd, LOCK_EX)

    def __exit__(self, *_: object) -> None:
        flock(self._fd, LOCK_UN)


def payer_of(segment: Segment) -> Payer:
    """The best there is."""
    functions = _functions()
    return WithLock(segment) if functions is None else WithLibrary(segment, functions)


def _functions() -> Any:
    """Those of the library that this process is preloaded with, else of one that is there; None: there is none."""
    from ctypes import CDLL  # noqa: PLC0415

    load: tuple[Callable[[], Any], ...] = (lambda: CDLL(None), lambda: CDLL(str(library(compile_it=False))))
    for attempt in load:
        try:
            found = attempt()
            found.penstock_try  # noqa: B018 - raises if it is not there
        except (OSError, AttributeError, NoLibrary):
            continue
        return found
    return None
