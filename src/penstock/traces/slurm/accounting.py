"""Jobs from what `sacct` prints, as columns.

Rows of steps (`123.batch`, `123.0`) are folded into their job, parts of a heterogeneous job (`123+1`) into the first;
tasks of an array are jobs of their own, and so are the runs of a job that was requeued (`sacct -D`). Bytes are
those of TRESUsageInTot and TRESUsageOutTot, `fs/disk`, summed over steps: an upper bound, for caches and every file
system are in it. MaxDiskRead times the number of tasks is never taken: the largest task is not the mean.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from penstock.errors import InvalidOption
from penstock.kernels.arrays import Bools, Floats, Ints
from penstock.traces.columns import texts
from penstock.traces.pieces import ABSURD
from penstock.traces.result import Skipped, number_of
from penstock.traces.slurm.folding import Rows, folded
from penstock.traces.slurm.rows import read_rows

MOST_NODES = 10_000_000
# Why a job is left out, by its place in the list of checks; the first in the list means that nothing is wrong.
WRONG = (
    "", "never started", "has no end and no elapsed time", "ends before it starts", "ran for no time at all",
    "is there twice, with the same start and end", "has an absurd number of nodes", "has an absurd number of bytes",
)  # fmt: skip
SOUND = ("never started", "ran for no time at all")


@dataclass(frozen=True)
class Accounting:
    """A row per run of a job, by start. `read` and `written` are NaN where sacct did not say."""

    id: list[str]
    raw_id: list[str]  # the number that the job itself knows, where it was printed
    user: list[str]
    name: list[str]
    state: list[str]
    start: Floats
    end: Floats
    nodes: Ints
    read: Floats
    written: Floats
    skipped: tuple[Skipped, ...]

    def __len__(self) -> int:
        return len(self.id)


def read_accounting(file: str | Path, fields: Iterable[str] | None = None) -> Accounting:
    """The jobs of a file that `sacct -P` or `sacct --json` wrote; `fields` names the columns where no header does."""
    path = Path(file)
    with _opened(path) as stream:
        first = stream.read(64).lstrip()
    if first.startswith(b"{"):
        from penstock.traces.slurm.json_rows import read_json  # noqa: PLC0415

        return _jobs(*read_json(path), path)
    return _jobs(*read_rows(path, fields), path)


def _opened(path: Path) -> Any:
    try:
        if path.is_dir():
            raise InvalidOption(f"{path}: is a directory; expected what sacct printed")
        return path.open("rb")
    except OSError as error:
        raise InvalidOption(f"{path}: cannot be read: {error.strerror}") from None


def _jobs(given: Rows, broken: int, path: Path) -> Accounting:
    """Rows of jobs, with those of steps folded in."""
    rows = folded(given)
    main = rows.jobs
    if not len(main):
        raise InvalidOption(f"{path}: has no job; expected rows of sacct with a job id each")
    start, end = rows.start[main], rows.end[main]
    end = np.where(np.isnan(end), start + rows.elapsed[main], end)
    usable, skipped = _usable(rows, main, start, end, path)
    order = usable[np.argsort(start[usable], kind="stable")]
    if broken:
        skipped.append(Skipped(str(path), f"{number_of(broken, 'row')} with more or fewer fields than the header"))
    chosen = main[order]
    ids = texts(rows.base, chosen)
    return Accounting(
        id=ids,
        raw_id=ids if rows.raw is rows.base else texts(rows.raw, chosen),
        user=texts(rows.user, chosen),
        name=texts(rows.name, chosen),
        state=texts(rows.state, chosen),
        start=start[order],
        end=end[order],
        nodes=np.maximum(rows.nodes[chosen], 0),
        read=rows.read[chosen],
        written=rows.written[chosen],
        skipped=tuple(skipped),
    )


def _usable(rows: Rows, main: Ints, start: Floats, end: Floats, path: Path) -> tuple[Ints, list[Skipped]]:
    """Jobs that ran, and why the others did not: each reason once, with the number of jobs and the first of them."""
    wrong = [
        np.isnan(start),
        np.isnan(end),
        end < start,
        end == start,
        _repeated(rows.base[1][main], start, end),
        ~((rows.nodes[main] >= 0) & (rows.nodes[main] < MOST_NODES)),
        _absurd(rows.read[main]) | _absurd(rows.written[main]),
    ]
    reasons = np.select(wrong, list(range(1, len(wrong) + 1)), default=0)
    skipped = []
    for code in range(1, len(WRONG)):
        hit = np.flatnonzero(reasons == code)
        if len(hit):
            first = texts(rows.base, main[hit[:1]])[0]
            more = f" (and {number_of(len(hit) - 1, 'more job')})" if len(hit) > 1 else ""
            words = WRONG[code]
            skipped.append(Skipped(str(path), f"job {first} {words}{more}", damaged=words not in SOUND))
    return np.flatnonzero(reasons == 0), skipped


def _repeated(ids: Ints, start: Floats, end: Floats) -> Bools:
    """Runs that were printed before: the same job at the same time, as in two files that overlap."""
    order = np.lexsort((end, start, ids))
    same = (np.diff(ids[order]) == 0) & (np.diff(start[order]) == 0) & (np.diff(end[order]) == 0)
    again = np.zeros(len(ids), bool)
    again[order[1:][same]] = True
    return again


def _absurd(volume: Floats) -> Bools:
    return (volume < 0) | (volume >= ABSURD)
