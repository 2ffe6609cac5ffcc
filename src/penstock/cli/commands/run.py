"""`penstock run`: a command that waits for its turn, and whose processes share one granted rate."""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli.parts.child_process import ENDING, Signals, attend, replace_us, start
from penstock.cli.parts.phase_options import Direction, JobOption, Targets, Volume, announced, surroundings, targets_of

if TYPE_CHECKING:
    from penstock.client.config import ClientConfig
    from penstock.client.events import Begin
    from penstock.client.link import Link
    from penstock.client.shared_bucket import SharedBucket

LOOK = 0.02  # seconds, while waiting for the grant
COUNT = 0.5  # seconds between two looks at what was moved

Json = Annotated[bool, typer.Option("--json", help="At the end, one JSON object on the error stream.")]
Command = Annotated[list[str], typer.Argument(metavar="COMMAND [ARGUMENT]", help="What to run.")]


def run(
    command: Command,
    volume: Volume = None,
    direction: Direction = "write",
    targets: Targets = None,
    job: JobOption = None,
    json: Json = False,
) -> None:
    """Announce the I/O of COMMAND, wait until it may begin, and run it; its exit code and signals are passed on.

    Programs in it that use penstock.client share the granted rate. Without a controller COMMAND simply runs.
    """
    from penstock.client.events import Begin  # noqa: PLC0415
    from penstock.client.phases import UNKNOWN  # noqa: PLC0415

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
        from penstock.cli.parts.light_output import as_json  # noqa: PLC0415

        print(as_json({**turn.summary(), "exit": ended}, indent=0), file=sys.stderr)
    if ended < 0:
        signals.die(-ended)
    raise typer.Exit(ended)


def _bucket(job: str) -> SharedBucket | None:
    """The bucket that the processes of a command share; without a place for it they are not paced, but run."""
    from penstock.client.shared_bucket import SharedBucket, new_path  # noqa: PLC0415

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
        from penstock.client.config import for_many  # noqa: PLC0415
        from penstock.client.link import Link  # noqa: PLC0415

        self._volume = begin.volume if known else 0.0
        self._announced = begin.volume
        self._bucket = bucket
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
        """Tell the controller what was moved: what the processes paid for or, if none of them did, the volume."""
        self._count()
        self._ended, self._moved = time.monotonic(), self._bucket.moved
        self._link.end(self._moved or self._volume)
        self._link.leave()
        self._bucket.remove()

    def summary(self) -> dict[str, Any]:
        """What became of it; times in seconds, `moved` is what programs that count told."""
        began = self._ended if self._began is None else self._began
        told = {"waited": began - self._posted, "seconds": self._ended - began, "moved": self._moved}
        return {"job": self._env["PENSTOCK_JOB"], "announced": self._announced, **told}

    def _count(self) -> None:
        """Announce more when the processes move more than was announced."""
        more = self._bucket.moved - self._announced
        if more > 0.0:
            more = max(more, self._announced * (0.125 if self._volume else 1.0))
            self._announced += more
            self._link.extend(more)
