"""The model of one moment of a shared file system, for `penstock decide`: who has posted I/O, how far each has come."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Self

from pydantic import model_validator

from penstock.kernels.arrays import SAME
from penstock.model.problems import Path, reject
from penstock.model.record import Bytes, BytesPerSecond, Count, Name, Record, Seconds


class Pending(Record):
    """An application with an I/O operation posted and not finished."""

    name: Name
    bandwidth: BytesPerSecond  # what it can use at most
    remaining: Bytes
    posted: Seconds
    release: Seconds
    progress: Seconds  # ideal seconds since its release
    omega: Seconds | None = None  # mean length of its iterations so far
    nodes: Count = 1
    rate: BytesPerSecond | None = None  # in force until now; None: it waits
    left: Seconds = 0.0  # what it takes alone after this operation, for policies that plan ahead


class Busy(Record):
    """An application that computes: released, not finished, and with no I/O operation posted."""

    release: Seconds
    progress: Seconds  # ideal seconds since its release
    name: Name | None = None


class Moment(Record):
    """All a sharing policy may know, as a document."""

    capacity: BytesPerSecond
    now: Seconds
    end: Seconds | None = None
    active: tuple[Pending, ...]
    begin: Seconds = 0.0  # of the window
    computing: tuple[Busy, ...] = ()  # for policies that look at what all have lost

    @model_validator(mode="after")
    def _check(self) -> Self:
        reject("Moment", self._problems())
        return self

    def _problems(self) -> Iterator[tuple[Path, object, str]]:
        if self.end is not None and self.end <= self.now:
            yield ("end",), self.end, f"is {self.end:g}; the window ends after now, {self.now:g}"
        if self.begin > self.now:
            yield ("begin",), self.begin, f"is {self.begin:g}; the window begins before now, {self.now:g}, or at it"
        names = Counter(pending.name for pending in self.active)
        for place, pending in enumerate(self.active):
            where: Path = ("active", place)
            if names[pending.name] > 1:
                yield (*where, "name"), pending.name, f"is {pending.name!r}, which is there twice; names are unique"
            for key in ("posted", "release"):
                if (time := getattr(pending, key)) > self.now:
                    yield (*where, key), time, f"is {time:g}; it lies before now, {self.now:g}, or at it"
            if pending.posted < pending.release:
                problem = f"is {pending.posted:g}; I/O is posted after the release, {pending.release:g}, or at it"
                yield (*where, "posted"), pending.posted, problem
            yield from _progress_problems(pending, self.now, where)
            if pending.remaining == 0:
                yield (*where, "remaining"), 0, "is 0; an active application has bytes left to transfer"
        for place, busy in enumerate(self.computing):
            where = ("computing", place)
            if busy.release > self.now:
                problem = f"is {busy.release:g}; it lies before now, {self.now:g}, or at it"
                yield (*where, "release"), busy.release, problem
            yield from _progress_problems(busy, self.now, where)


def _progress_problems(one: Pending | Busy, now: float, where: Path) -> Iterator[tuple[Path, object, str]]:
    """What cannot have happened since the release."""
    progress, lead = one.progress, max(0.0, now - one.release)
    if progress > lead * (1 + SAME):
        yield (*where, "progress"), progress, f"is {progress:g}; at most now − release = {lead:g} seconds have passed"
