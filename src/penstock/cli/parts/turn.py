"""The turn of a command under `penstock run`: it waits for its grant, runs, and its processes share one granted rate.

Nothing here needs the libraries of a command line, because jobs wait for this to start.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from penstock.cli.parts.announcement import announced, surroundings, targets_of
from penstock.cli.parts.child_process import ENDING, Signals, attend, replace_us, start
from penstock.cli.parts.counted_io import CountedIO
from penstock.cli.parts.preload import agents_segment, pace_where, with_library
from penstock.cli.parts.strict import Starts, paid_for, strict_start
from penstock.client.bucket import boottime
from penstock.client.config import ClientConfig, as_name, for_many
from penstock.client.events import Begin
from penstock.client.link import Link
from penstock.client.operation import UNKNOWN
from penstock.client.pacing import shown_amount
from penstock.client.segment import Segment
from penstock.client.shared_bucket import SharedBucket, new_path
from penstock.errors import PenstockError
from penstock.report.parts.json_text import as_json

if TYPE_CHECKING:
    from penstock.client.agent.bypass import Bypass

LOOK = 0.02  # seconds, while waiting for the grant
COUNT = 0.5  # seconds between two looks at what was moved
ALIVE = 3.0  # seconds after which processes of a run that was killed go by their fallback
COMPARE = 4  # looks between two at what went past the library


def run_in_turn(
    command: list[str],
    volume: str | None = None,
    direction: str = "write",
    targets: str | None = None,
    job: str | None = None,
    json: bool = False,
    shim: bool = True,
    strict: bool = False,
) -> None:
    """Announce the I/O of a command, wait, run it, and end as it does; without a controller, become the command."""
    amount, places = announced(volume, direction), targets_of(targets)
    config = surroundings(job)
    if config is None:
        replace_us(command)
    if (shim or strict) and (agents := agents_segment(config)) is not None:
        if places:
            print(
                "penstock: --targets is not used: the agent of this node announces for all jobs here", file=sys.stderr
            )
        os.environ["PENSTOCK_JOB"] = config.settings.job
        if not strict:
            os.environ.update(with_library(os.environ, agents)[0])
        _run_inside(command, agents, (round(amount), direction), strict, json)
    # Inside another run, that one has the grant.
    if config.bucket is not None and (strict or json) and _is_segment(config.bucket):
        _run_inside(command, Path(config.bucket), (0, direction), strict, json)
    if config.address is None or config.bucket is not None:
        replace_us(command)
    bucket = _bucket(config.settings.job)
    if bucket is None:
        replace_us(command)
    starts = strict_start(bucket.path) if strict else start
    signals = Signals()
    turn = Turn(config, bucket, Begin(amount or UNKNOWN, direction, places), amount > 0.0, shim, starts)
    try:
        ended = turn.take(command, signals)
    finally:
        turn.end()
    if json:
        print(as_json({**turn.summary(), "exit": ended}, indent=0), file=sys.stderr)
    if ended < 0:
        signals.die(-ended)
    sys.exit(ended)


def _run_inside(command: list[str], path: Path, announced: tuple[int, str], strict: bool, json: bool) -> NoReturn:
    """Run on the segment of the agent of this node, or of another run, which has the connection.

    A known volume is told to the agent through it. Without anything to do at the end we become the command.
    """
    amount, direction = announced
    if strict:
        os.environ.update(paid_for(path))
    elif not amount and not json:
        replace_us(command)
    starts = strict_start(path) if strict else start
    signals, segment = Signals(), Segment(path)
    before, began = segment.counts(), time.monotonic()
    if amount:
        segment.announce(amount, direction)
    try:
        ended = attend(starts(command, os.environ, signals), signals, lambda: None, COUNT)
    finally:
        if amount:
            segment.end_announced()
    if json:  # who has the connection knows what went past, and names it
        moved, seconds = float(segment.counts().moved - before.moved), time.monotonic() - began
        told = {"announced": float(amount), "waited": 0.0, "seconds": seconds, "moved": moved, "past": 0.0}
        job = os.environ.get("PENSTOCK_JOB", "")
        print(as_json({"job": job, **told, "exit": ended}, indent=0), file=sys.stderr)
    if ended < 0:
        signals.die(-ended)
    sys.exit(ended)


def _is_segment(path: str) -> bool:
    try:
        Segment(Path(path)).close()
    except (OSError, PenstockError):
        return False
    return True


def _bucket(job: str) -> SharedBucket | None:
    """The bucket that the processes of a command share; without a place for it they are not paced, but run."""
    path = new_path(job)
    try:
        return SharedBucket.make(path)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        print(f"penstock: not paced: the bucket {path} cannot be made ({reason})", file=sys.stderr)
        return None


class Turn:
    """The member of a command: its announcement, and the bucket that its processes share."""

    def __init__(
        self, config: ClientConfig, bucket: SharedBucket, begin: Begin, known: bool, shim: bool, starts: Starts = start
    ) -> None:
        self._volume = begin.volume if known else 0.0
        self._announced = begin.volume
        self._bucket, self._direction = bucket, begin.direction
        self._bucket.reads = begin.direction == "read"
        env = {**os.environ, "PENSTOCK_JOB": config.settings.job, "PENSTOCK_BUCKET": str(bucket.path)}
        self._starts, strict = starts, starts is not start
        if strict:
            env |= paid_for(bucket.path)
        self._env, self._obstacle = with_library(env, bucket.path) if shim and not strict else (env, "")
        self._enforces = strict or (shim and not self._obstacle)
        self._counted = None if self._enforces else CountedIO(begin.direction)
        self._noted = 0.0  # what nobody paid for
        self._past = PastTheLibrary(bucket, begin.direction) if self._enforces else None
        self._keep_alive()
        self._link: Link = Link(for_many(config))
        self._posted = time.monotonic()
        self._began: float | None = None
        self._ended = self._moved = 0.0
        self._link.announce(self._bucket, begin)

    def take(self, command: list[str], signals: Signals) -> int:
        """Wait for the grant, then run the command; how it ended, a killing signal as a negative number."""
        while self._bucket.rate == 0.0:
            self._keep_alive()
            told = signals.next(LOOK)
            if told is not None and told.si_signo in ENDING:
                self._volume = 0.0
                return -told.si_signo
            if told is not None and told.si_signo == signal.SIGTSTP:
                os.kill(os.getpid(), signal.SIGSTOP)
        self._began = time.monotonic()
        self._look()
        return attend(self._starts(command, self._env, signals), signals, self._look, COUNT)

    def end(self) -> None:
        """Tell the controller what was moved: what the processes paid for, or what the kernel counted."""
        self._count()
        self._ended, self._moved = time.monotonic(), self._bucket.moved
        if self._past is not None and self._past.bytes:
            words = f"{shown_amount(self._past.bytes)} went past it ({self._past.how})"
            print(f"penstock: not all of this command was paced: {words}", file=sys.stderr)
        self._link.end(self._moved)
        self._link.leave()
        self._bucket.remove()

    def summary(self) -> dict[str, Any]:
        """What became of it; times in seconds, `moved` is what programs paid for, or the kernel counted."""
        began = self._ended if self._began is None else self._began
        told = {"waited": began - self._posted, "seconds": self._ended - began, "moved": self._moved}
        past = 0.0 if self._past is None else self._past.bytes
        return {"job": self._env["PENSTOCK_JOB"], "announced": self._announced, **told, "past": past}

    def _look(self) -> None:
        """Now and then: say that we live, see what was moved and how, and where the site's targets are."""
        self._keep_alive()
        if self._enforces:
            pace_where(self._bucket.segment, self._direction, self._link.member.paths)
        if self._past is not None and self._past.look():
            self._link.went_past(self._past.bytes, self._past.how)
        self._count()

    def _keep_alive(self) -> None:
        self._bucket.segment.keep_alive(boottime() + ALIVE)

    def _count(self) -> None:
        """Note what programs move that do not pay, and announce more when it is more than was announced."""
        if self._counted is not None:
            # Once a program pays, its own count is the better one: the kernel's has pipes and terminals in it.
            noted = self._counted.moved() or 0.0 if self._bucket.moved <= self._noted else 0.0
            self._bucket.add_moved(noted - self._noted)
            self._noted = noted
            if self._obstacle and noted:  # named by `status`, as on a machine that the library is not written for
                self._link.went_past(noted, as_name(self._obstacle))
        more = self._bucket.moved - self._announced
        if more > 0.0:
            more = max(more, self._announced * (0.125 if self._volume else 1.0))
            self._announced += more
            self._link.extend(more)


class PastTheLibrary:
    """What the processes of a command moved without paying, by the kernel's count against that of the segment."""

    def __init__(self, bucket: SharedBucket, direction: str) -> None:
        self._segment, self._direction = bucket.segment, direction
        self._key = str(bucket.path), 0
        self._looks = 0
        self._bypass: Bypass | None = None
        self.bytes, self.how = 0.0, ""

    def look(self) -> bool:
        """Compare now and then; whether there is news."""
        self._looks += 1
        if self._looks < 2 or (self._looks > 6 and self._looks % COMPARE):
            return False
        from penstock.client.agent.bypass import Bypass, Bytes  # noqa: PLC0415 - not needed before the command runs

        self._bypass = self._bypass or Bypass()
        devices, paid = self._segment.devices, Bytes(*self._paid())
        found = self._bypass.compare({self._key: os.getuid()}, devices, {self._key: paid}).get(self._key)
        if found is None or found.bytes <= self.bytes:
            return False
        self.bytes, self.how = found.bytes, found.words
        return True

    def _paid(self) -> tuple[float, float]:
        """Bytes read and written. Where all files are paced, then in one direction: in the other none are missing."""
        counts, everywhere = self._segment.counts(), not self._segment.devices
        read = inf if everywhere and self._direction == "write" else float(counts.read)
        return read, inf if everywhere and self._direction == "read" else float(counts.written)
