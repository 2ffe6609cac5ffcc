"""`penstock pace`: bytes through a pipe, or from file to file, at the granted rate."""

from __future__ import annotations

import errno
import functools
import os
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from penstock.cli.parts.announcement import announced, targets_of
from penstock.cli.parts.leave import leave
from penstock.cli.parts.pace_bar import Bar
from penstock.cli.parts.phase_options import Direction, JobOption, Targets, Volume
from penstock.cli.rooms import report
from penstock.client import io_phase
from penstock.client.process import here
from penstock.errors import InvalidOption
from penstock.report.parts.json_text import as_json

if TYPE_CHECKING:
    from penstock.cli.parts.pace_bar import Bar
    from penstock.client import Phase

T = TypeVar("T")

Source = Annotated[Path | None, typer.Option("--in", metavar="FILE", help="What to read.  [default: standard input]")]
Sink = Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Where to write.  [default: standard output]")]
Json = Annotated[bool, typer.Option("--json", help="At the end, one JSON object on the error stream.")]


def pace(
    volume: Volume = None,
    source: Source = None,
    sink: Sink = None,
    direction: Direction = "write",
    targets: Targets = None,
    job: JobOption = None,
    json: Json = False,
) -> None:
    """Copy bytes at the rate that the controller grants, as in `tar c results | penstock pace > results.tar`.

    A terminal shows how far it is. Without a controller it copies unpaced.
    """
    if job is not None:
        os.environ["PENSTOCK_JOB"] = job
    size, places = announced(volume, direction), targets_of(targets)
    with _opened(source, sink) as (taken, given):
        size = size or _size(taken)
        began = time.monotonic()
        phase = io_phase(size or None, direction, places)
        bar = Bar(phase, size)
        try:
            with phase, bar:
                _copy(phase, bar, (taken, str(source or "standard input")), (given, str(sink or "standard output")))
                summary = _summary(phase, bar.moved, time.monotonic() - began)
        except KeyboardInterrupt:
            leave(f"interrupted; {bar.moved:,} bytes were copied", 130)
    _say(summary, json)


def _copy(phase: Phase, bar: Bar, taken: tuple[int, str], given: tuple[int, str]) -> None:
    while piece := _moved(bar, taken[1], "read", lambda: os.read(taken[0], phase.slice)):
        rest = memoryview(piece)
        phase.acquire(len(piece))
        while rest:
            rest = rest[_moved(bar, given[1], "written", functools.partial(os.write, given[0], rest)) :]
        bar.moved += len(piece)


def _moved(bar: Bar, where: str, verb: str, move: Callable[[], T]) -> T:
    """What `move` gives; its failure is told with how far we came."""
    try:
        return move()
    except OSError as error:
        if error.errno == errno.EPIPE:
            raise
        reason = (error.strerror or str(error)).lower()
        raise InvalidOption(f"{where} cannot be {verb} ({reason}) after {bar.moved:,} bytes") from None


@contextmanager
def _opened(source: Path | None, sink: Path | None) -> Iterator[tuple[int, int]]:
    """The descriptors to read from and to write to; a source that is the sink would be lost."""
    taken = given = -1
    try:
        taken = 0 if source is None else _open(source, os.O_RDONLY, "read")
        if sink is not None and os.path.exists(sink) and os.path.samestat(os.fstat(taken), os.stat(sink)):
            raise InvalidOption(f"{sink} is what is read, too; give another file to write")
        given = 1 if sink is None else _open(sink, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, "written")
        yield taken, given
    finally:
        for descriptor in (taken, given):
            if descriptor > 1:
                os.close(descriptor)


def _open(path: Path, flags: int, verb: str) -> int:
    try:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        return os.open(path, flags | os.O_CLOEXEC, 0o666)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = str(getattr(error, "strerror", None) or error).lower()
        raise InvalidOption(f"{path} cannot be {verb} ({reason})") from None


def _size(taken: int) -> float:
    """What is left to read of a regular file; 0 if nobody knows."""
    try:
        found = os.fstat(taken)
    except OSError:  # as standard input that is closed, which reading will tell
        return 0.0
    if not stat.S_ISREG(found.st_mode):
        return 0.0
    return float(max(0, found.st_size - os.lseek(taken, 0, os.SEEK_CUR)))


def _summary(phase: Phase, moved: int, seconds: float) -> dict[str, Any]:
    link, bucket = here().look()
    state = "shared" if bucket is not None else "off" if link is None else link.member.state.value
    return {
        "bytes": moved,
        "seconds": seconds,
        "rate": moved / seconds if seconds > 0 else None,
        "granted": phase.rate,
        "waited": phase.waited,
        "state": state,
    }


def _say(summary: dict[str, Any], json: bool) -> None:
    if json:
        print(as_json(summary, indent=0), file=sys.stderr)
    elif sys.stderr.isatty():
        words, took = report.live.table, report.parts.quantities.duration(summary["seconds"])
        moved, rate = words.volume(summary["bytes"]), words.rate(summary["rate"])
        print(f"penstock: {moved} in {took}, {rate}", file=sys.stderr)
