"""What commands that do many runs share: where these are done, how far they are, and what an interrupt leaves."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from penstock.cli.parts.leave import leave
from penstock.cli.parts.progress import ProgressLine
from penstock.cli.rooms import campaign, report
from penstock.errors import InvalidOption

if TYPE_CHECKING:
    from penstock.campaign import Report
    from penstock.campaign.executor import Executor

Workers = Annotated[int | None, typer.Option(metavar="N", help="How many processes.  [default: all cores]")]
On = Annotated[
    str,
    typer.Option(
        "--on",
        metavar="WHERE",
        help="Where runs are done: local, dask=ADDRESS (of a scheduler), or slurm=A,B,… with any of jobs=N, cores=N, "
        "queue=NAME, walltime=HH:MM:SS, memory=4GB, account=NAME, interface=NAME.",
    ),
]


def need_pyarrow() -> None:
    """Refuse to start what could not be kept."""
    if find_spec("pyarrow") is None:
        raise InvalidOption("campaigns keep their results in Parquet, which needs pyarrow; install penstock[parquet]")


def follow(place: Executor, line: ProgressLine, name: str, output: Path) -> Callable[[Report], None]:
    """What shows how far `name` is; workers elsewhere are told where to write, and what they wait for is shown too."""
    if isinstance(place, campaign.remote.Elsewhere):
        place.logs, place.show = output / "logs", lambda words: line.show(name, None, words)

    def show(so_far: Report) -> None:
        done = (so_far.before + so_far.ran) / so_far.runs
        line.show(name, done, report.campaign.table.progress_words(so_far))

    return show


@contextmanager
def interruptible(output: Path) -> Iterator[None]:
    """An interrupt, or the signal by which a batch system ends a job, ends the command with a sentence."""
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    except KeyboardInterrupt as stop:
        number = stop.args[0] if stop.args else signal.SIGINT
        leave(f"interrupted; what was found is in {output}, and the same command continues from there", 128 + number)
    finally:
        signal.signal(signal.SIGTERM, before)


def _interrupt(number: int, frame: object) -> NoReturn:
    raise KeyboardInterrupt(number)
