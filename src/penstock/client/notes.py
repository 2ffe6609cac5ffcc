"""What the job's threads and the thread of the link leave for each other, and the log in which both speak."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any, Protocol

from penstock.client.events import Begin


class _Named(logging.LoggerAdapter):  # type: ignore[type-arg]
    """Says who speaks: most jobs set up no logging, and then a line has nothing but its text."""

    def process(self, msg: Any, kwargs: Any) -> tuple[str, Any]:
        return f"penstock: {msg}", kwargs


log = _Named(logging.getLogger("penstock.client"))


class Pacer(Protocol):
    """What the link needs of a bucket."""

    @property
    def moved(self) -> float:
        """Bytes paid for so far."""

    def set_rate(self, rate: float | None, expiry: float = ..., fallback: float | None = ...) -> None:
        """Pace from now on."""


class PendingAnnouncement:
    """An announcement on its way: what it is about, and the word that it was answered."""

    def __init__(self, begin: Begin, pacer: Pacer, limit: float, shared: bool) -> None:
        self.begin, self.pacer, self.limit, self.shared = begin, pacer, limit, shared
        self.answered = threading.Event()

    def wait(self) -> None:
        """Until there is an answer, or it is overdue and the pacer goes on without."""
        self.answered.wait(self.limit)


class Left:
    """A phase that this process has left; it ends when nobody else is in it."""

    def __init__(self, pacer: Pacer, base: float, others: Callable[[], bool]) -> None:
        self.pacer, self.base, self.others = pacer, base, others
        self.ended = threading.Event()
