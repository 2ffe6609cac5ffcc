"""Which jobs run on this node, by the word of its hooks: read from the spool, and kept in a file of the agent's own.

A start is taken at once, whether or not there is a controller. An end stays in the spool until the controller has
answered it, so that it outlives a restart of the agent; what came after it need not wait for that.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from penstock.client.amounts import parse_amount
from penstock.client.config import as_name
from penstock.errors import PenstockError
from penstock.files import write_whole
from penstock.wire.spool import Event, Spool

MOST_UNANSWERED = 500  # ends that are kept for a controller that does not answer; leases end without them


class JobStarted(msgspec.Struct, frozen=True):
    """A job begins on this node."""

    job: str
    uid: int
    gid: int
    restart: int = 0
    volume: float = 0.0  # bytes of one phase, if its user said so


class JobEnded(msgspec.Struct, frozen=True):
    """A life of a job is over on this node: none of its processes is left."""

    job: str
    restart: int = 0
    file: str = ""  # of the spool, that is to be answered


class Roster:
    """The jobs of this node. `file` is where they are kept; without one a new agent begins with none."""

    def __init__(self, spool: Spool, file: Path | None = None) -> None:
        self._spool, self._file = spool, file
        self._jobs: dict[tuple[str, int], JobStarted] = {}
        self._told: dict[str, Event] = {}  # ends that wait for an answer, by their file
        self.problem = ""
        with suppress(OSError, msgspec.DecodeError):
            if file is not None:
                for each in msgspec.json.decode(file.read_bytes(), type=list[JobStarted]):
                    self._jobs[each.job, each.restart] = each

    @property
    def folder(self) -> str:
        """Where hooks leave word."""
        return self._spool.path

    def running(self) -> Sequence[JobStarted]:
        """Jobs that are here by what was read so far."""
        return list(self._jobs.values())

    def read(self) -> list[JobStarted | JobEnded]:
        """What is new, in order; nothing is told twice."""
        news: list[JobStarted | JobEnded] = []
        try:
            for event in self._spool.pending():
                if event.file not in self._told and (each := self._take(event)) is not None:
                    news.append(each)
            self.problem = ""
        except PenstockError as error:
            self.problem = str(error)
        if news:
            self._keep()
        return news

    def answered(self, file: str) -> None:
        """The controller knows of an end."""
        if (event := self._told.pop(file, None)) is not None:
            with suppress(PenstockError):
                self._spool.answered(event)

    def _take(self, event: Event) -> JobStarted | JobEnded | None:
        job, key = as_name(event.job), (as_name(event.job), event.restart)
        if event.kind == "job_end":
            self._jobs.pop(key, None)
            self._told[event.file] = event
            if len(self._told) > MOST_UNANSWERED:
                self.answered(next(iter(self._told)))
            return JobEnded(job, event.restart, event.file)
        if event.kind != "job_start" or event.uid < 0:
            self._spool.drop(event, "the agent of a node takes the start and the end of a job, with its user")
            return None
        volume = _volume(event.volume)
        started = self._jobs[key] = JobStarted(job, event.uid, max(event.gid, 0), event.restart, volume)
        self._keep()
        self._spool.answered(event)
        return started

    def _keep(self) -> None:
        if self._file is not None:
            with suppress(PenstockError):
                write_whole(self._file, msgspec.json.encode(list(self._jobs.values())))


def _volume(text: str) -> float:
    """What a user said; a word that is no volume says nothing."""
    try:
        return parse_amount(text, "volume") if text else 0.0
    except PenstockError:
        return 0.0
