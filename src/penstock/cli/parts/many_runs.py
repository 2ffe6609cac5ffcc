"""What commands that do many runs share: where these are done, how far they are, and what an interrupt leaves."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from penstock.cli.parts.progress import ProgressLine
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
        help="Where runs are done: local, dask=ADDRESS (of a scheduler), or slurm=jobs=N,cores=N,queue=NAME,"
        "walltime=HH:MM:SS,memory=4GB,account=NAME,interface=NAME (each may be left out).",
    ),
]


def need_pyarrow() -> None:
    """Refuse to start what could not be kept."""
    if find_spec("pyarrow") is None:
        raise InvalidOption("campaigns keep their results in Parquet, which needs pyarrow; install penstock[parquet]")


def follow(place: Executor, line: ProgressLine, name: str, output: Path) -> Callable[[Report], None]:
    """What shows how far `name` is; workers elsewhere are told where to write, and what they wait for is shown too."""
    from penstock.campaign.remote import Elsewhere  # noqa: PLC0415
    from penstock.report.campaign.table import progress_words  # noqa: PLC0415

    if isinstance(place, Elsewhere):
        place.logs, place.show = output / "logs", lambda words: line.show(name, None, words)

    def show(report: Report) -> None:
        line.show(name, (report.before + report.ran) / report.runs, progress_words(report))

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


def leave(sentence: str, code: int) -> NoReturn:
    """End the command with a sentence and an exit code."""
    print(f"penstock: {sentence}", file=sys.stderr)
    raise typer.Exit(code)
