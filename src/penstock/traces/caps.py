"""How fast an application of a trace could move bytes if nobody were in its way: an estimate, never a measurement.

Logs tell how fast it was with others around. For one run that is a lower bound. Of several runs of the same thing those
count that were alone, moving ≥ 95 % of all bytes seen while they ran. Over a year of benchmark runs at two centres the
median of such runs was within 5 % of the truth, while the 90th percentile of all runs was twice too fast: caches
take some bursts at memory speed.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np

from penstock.errors import InvalidOption
from penstock.files import reading
from penstock.kernels.arrays import Floats
from penstock.model.units import Refusal, quantity
from penstock.traces.job import Job, Origin
from penstock.traces.phases import Transfers
from penstock.traces.pieces import Curve, curve

ALONE = 0.95
FULL = 0.999  # of its run time: what an application moves bytes in at most


class Cap(NamedTuple):
    """Bytes/s, and where the number comes from."""

    rate: float
    origin: Origin


def own_rate(job: Job, found: Transfers) -> float:
    """What one run shows: its bytes over the time its slowest process spent on them, or the rate of its bursts.

    Of the bursts, the rate that half of the bytes moved at, or faster. A single slow file makes the slowest process
    wait for long after the others have moved everything; then the bursts are nearer to what the job can do.
    """
    volume = job.pieces.total
    spent = volume / job.io_seconds if job.io_seconds else 0.0
    bursts = _burst_rate(found) if job.structure == "known" else 0.0
    return max(spent, bursts, least(job))


def least(job: Job) -> float:
    """The cap below which the job could not have moved its bytes in its time."""
    return job.pieces.total / (FULL * job.seconds)


def caps(jobs: Sequence[Job], rates: Sequence[float], cap: str | Path) -> list[Cap]:
    """A cap for each of the jobs, whose own rates are given."""
    if str(cap) not in ("alone", "median", "max"):
        return _from_file(jobs, rates, Path(cap))
    runs: dict[tuple[str, int], list[int]] = {}
    alone = coverage(jobs) >= ALONE
    for i, job in enumerate(jobs):
        if job.pieces.total and (cap != "alone" or alone[i]):
            runs.setdefault(job.application, []).append(i)
    return [
        _cap(job, rates[i], [rates[k] for k in runs.get(job.application, ())], str(cap)) for i, job in enumerate(jobs)
    ]


def _cap(job: Job, own: float, runs: list[float], cap: str) -> Cap:
    if len(runs) < 2:
        return Cap(own, "lower_bound")
    if cap == "max":
        return Cap(max(*runs, least(job)), "lower_bound")
    return Cap(max(median(runs), least(job)), "model")


def coverage(jobs: Sequence[Job]) -> Floats:
    """The share of each job in all bytes that these jobs moved while it ran."""
    moved = total_curve(jobs)
    start, end = np.array([job.start for job in jobs]), np.array([job.end for job in jobs])
    own = np.array([job.pieces.total for job in jobs])
    during = np.maximum(moved.by(end) - moved.by(start), own)
    shares: Floats = np.divide(own, during, out=np.ones(len(own)), where=during > 0)
    return shares


def total_curve(jobs: Sequence[Job]) -> Curve:
    """Bytes that all jobs together have moved by an instant."""
    columns = [(job.pieces.start + job.start, job.pieces.end + job.start, job.pieces.volume) for job in jobs]
    return curve(*(np.concatenate([np.zeros(0), *column]) for column in zip(*columns, strict=True)))


def peak(jobs: Sequence[Job]) -> float:
    """The highest rate of all jobs together over ten seconds, or over a tenth of the trace if that is shorter.

    Over less, memory that caches writes shows faster than any file system.
    """
    moved = total_curve(jobs)
    span = float(moved.at[-1] - moved.at[0])
    width = min(10.0, span / 10.0)
    if width <= 0:
        return 0.0
    starts = np.union1d(moved.at, moved.at - width)
    return float((moved.by(starts + width) - moved.by(starts)).max()) / width


def _burst_rate(found: Transfers) -> float:
    length = found.end - found.start
    some = length > 0
    if not some.any():
        return 0.0
    rate, volume = found.volume[some] / length[some], found.volume[some]
    order = np.argsort(rate)[::-1]
    half = np.searchsorted(np.cumsum(volume[order]), volume.sum() / 2.0)
    return float(rate[order][min(int(half), len(order) - 1)])


def _from_file(jobs: Sequence[Job], rates: Sequence[float], file: Path) -> list[Cap]:
    given = _read(file)
    return [
        Cap(max(given[job.executable], least(job)), "given") if job.executable in given else Cap(own, "lower_bound")
        for job, own in zip(jobs, rates, strict=True)
    ]


def _read(file: Path) -> dict[str, float]:
    """Caps by executable."""
    with reading(file, InvalidOption):
        rows = list(csv.DictReader(file.read_text("utf-8-sig").splitlines()))
    if not rows or not {"application", "bandwidth"} <= set(rows[0]):
        raise InvalidOption(f"{file}: caps are a CSV with the columns application, bandwidth")
    found = {}
    for line, row in enumerate(rows, start=2):
        try:
            found[row["application"]] = quantity(row["bandwidth"], "bytes/s")
        except Refusal as refusal:
            raise InvalidOption(f"{file}:{line}: bandwidth {refusal}") from None
    return found
