"""The dashboard's one connection to the controller, asked once a second by a thread, however many look on."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from penstock.errors import PenstockError
from penstock.live.core.waiting_words import ask_words

EVERY = 1.0  # seconds
FORESEE = 5.0  # seconds between two forecasts, which cost the controller more than a look
MOST_JOBS = 100  # that are told of; status says how many there are
MOST_WITH_IDLE = 500  # jobs: where more are known, only those with I/O under way are asked for


def few(status: Mapping[str, Any]) -> bool:
    """Whether so few jobs are known that idle ones are asked for, too."""
    return bool(status["applications"] <= MOST_WITH_IDLE)


class Asks(Protocol):
    """A connection to the controller, as `live.admin.Line` is one."""

    def ask(self, verb: str, **args: Any) -> Any:
        """What the controller answers."""

    def close(self) -> None:
        """Hang up."""


@dataclass(frozen=True)
class Seen:
    """What the controller answered, or why it did not."""

    time: float  # since 1970
    problem: str = ""  # why nobody answers
    since: float = 0.0  # since when that is so; 0: it answers
    status: Mapping[str, Any] = field(default_factory=dict)  # the last answer, also while nobody answers
    server: Mapping[str, Any] = field(default_factory=dict)
    jobs: tuple[Mapping[str, Any], ...] = ()
    foreseen: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)  # by application, as of `foreseen_at`
    foreseen_at: float = 0.0
    ask: str = ""  # whom a user asks, and the way out, in words

    @property
    def reachable(self) -> bool:
        """Whether this is an answer of now."""
        return not self.problem


class Poll:
    """Asks until it is stopped, and tells `heard` of every answer, from its own thread."""

    def __init__(self, dial: Callable[[], Asks], heard: Callable[[Seen], None], every: float = EVERY) -> None:
        self._dial, self._heard, self._every = dial, heard, every
        self._stopped = threading.Event()
        self._line: Asks | None = None
        self._last = Seen(0.0, "nobody has been asked yet", time.time())
        self._thread = threading.Thread(target=self._run, name="poll", daemon=True)

    def start(self) -> None:
        """Ask from now on."""
        self._thread.start()

    def stop(self) -> None:
        """Ask no more."""
        self._stopped.set()
        self._thread.join(10.0)

    def _run(self) -> None:
        due = time.monotonic()
        while not self._stopped.is_set():
            self._heard(self._look())
            due = max(due + self._every, time.monotonic())
            self._stopped.wait(max(0.05, due - time.monotonic()))
        self._hang_up()

    def _look(self) -> Seen:
        try:
            self._line = self._line or self._dial()
            status, server = self._line.ask("status"), self._line.ask("server")
            jobs = self._line.ask("top", count=MOST_JOBS, idle=few(status))
            foreseen, at, words = self._foreseen(self._line)
            self._last = Seen(time.time(), "", 0.0, status, server, tuple(jobs), foreseen, at, words)
        except PenstockError as error:
            self._hang_up()
            last, now = self._last, time.time()
            self._last = replace(last, time=now, problem=str(error), since=last.since or now)
        return self._last

    def _foreseen(self, line: Asks) -> tuple[Mapping[int, Mapping[str, Any]], float, str]:
        last, now = self._last, time.time()
        if now < last.foreseen_at + FORESEE:
            return last.foreseen, last.foreseen_at, last.ask
        told = line.ask("forecasts")
        return {each["app"]: each for each in told["jobs"]}, now, ask_words(told["contact"], told["opt_out"])

    def _hang_up(self) -> None:
        if self._line is not None:
            with suppress(OSError):
                self._line.close()
            self._line = None
