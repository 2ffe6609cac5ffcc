"""The turn of a command: it waits for its grant, runs, and its processes share one granted rate.

Nothing here needs the libraries of a command line, because jobs wait for this to start.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import Any

from penstock.cli.parts.announcement import announced, surroundings, targets_of
from penstock.cli.parts.child_process import ENDING, Signals, attend, replace_us, start
from penstock.cli.parts.counted_io import CountedIO
from penstock.client.config import ClientConfig, for_many
from penstock.client.events import Begin
from penstock.client.link import Link
from penstock.client.phases import UNKNOWN
from penstock.client.shared_bucket import SharedBucket, new_path
from penstock.report.parts.json_text import as_json

LOOK = 0.02  # seconds, while waiting for the grant
COUNT = 0.5  # seconds between two looks at what was moved


def run_in_turn(
    command: list[str],
    volume: str | None = None,
    direction: str = "write",
    targets: str | None = None,
    job: str | None = None,
    json: bool = False,
) -> None:
    """Announce the I/O of a command, wait, run it, and end as it does; without a controller, become the command."""
    amount, places = announced(volume, direction), targets_of(targets)
    config = surroundings(job)
    # Inside another run, that one has the grant.
    if config is None or config.address is None or config.bucket is not None:
        replace_us(command)
    bucket = _bucket(config.settings.job)
    if bucket is None:
        replace_us(command)
    signals = Signals()
    turn = Turn(config, bucket, Begin(amount or UNKNOWN, direction, places), known=amount > 0.0)
    try:
        ended = turn.take(command, signals)
    finally:
        turn.end()
    if json:
        print(as_json({**turn.summary(), "exit": ended}, indent=0), file=sys.stderr)
    if ended < 0:
        signals.die(-ended)
    sys.exit(ended)


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

    def __init__(self, config: ClientConfig, bucket: SharedBucket, begin: Begin, known: bool) -> None:
        self._volume = begin.volume if known else 0.0
        self._announced = begin.volume
        self._bucket = bucket
        self._counted, self._noted = CountedIO(begin.direction), 0.0  # what nobody paid for
        self._env = {**os.environ, "PENSTOCK_JOB": config.settings.job, "PENSTOCK_BUCKET": str(bucket.path)}
        self._link: Link = Link(for_many(config))
        self._posted = time.monotonic()
        self._began: float | None = None
        self._ended = self._moved = 0.0
        self._link.announce(self._bucket, begin)

    def take(self, command: list[str], signals: Signals) -> int:
        """Wait for the grant, then run the command; how it ended, a killing signal as a negative number."""
        while self._bucket.rate == 0.0:
            told = signals.next(LOOK)
            if told is not None and told.si_signo in ENDING:
                self._volume = 0.0
                return -told.si_signo
            if told is not None and told.si_signo == signal.SIGTSTP:
                os.kill(os.getpid(), signal.SIGSTOP)
        self._began = time.monotonic()
        return attend(start(command, self._env, signals), signals, self._count, COUNT)

    def end(self) -> None:
        """Tell the controller what was moved: what the processes paid for, or what the kernel counted."""
        self._count()
        self._ended, self._moved = time.monotonic(), self._bucket.moved
        self._link.end(self._moved)
        self._link.leave()
        self._bucket.remove()

    def summary(self) -> dict[str, Any]:
        """What became of it; times in seconds, `moved` is what programs paid for, or the kernel counted."""
        began = self._ended if self._began is None else self._began
        told = {"waited": began - self._posted, "seconds": self._ended - began, "moved": self._moved}
        return {"job": self._env["PENSTOCK_JOB"], "announced": self._announced, **told}

    def _count(self) -> None:
        """Note what programs move that do not pay, and announce more when it is more than was announced."""
        # Once a program pays, its own count is the better one: the kernel's has pipes and terminals in it.
        noted = self._counted.moved() or 0.0 if self._bucket.moved <= self._noted else 0.0
        self._bucket.add_moved(noted - self._noted)
        self._noted = noted
        more = self._bucket.moved - self._announced
        if more > 0.0:
            more = max(more, self._announced * (0.125 if self._volume else 1.0))
            self._announced += more
            self._link.extend(more)
