"""Bursts of a trace to phases: what the job would do if it had the file system to itself, moving bytes at its cap.

A burst of V bytes takes V/b seconds at the cap b, less than was observed if others were in the way or if the job did
something else in between. Which of the two it was, no log says:

    compute       the rest of the time counts as computing: V/b lies around the centre of the burst's bytes, and a run
                  alone takes as long as was observed
    contention    the rest was waiting for others: computing is what lies between the bursts as observed, and a run
                  alone is shorter

The truth is between the two.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from penstock.kernels.arrays import Bools, Floats
from penstock.model import COMPUTE, READ, WRITE, Trace
from penstock.traces.bursts import Bursts, bursts, merged, per_bin
from penstock.traces.job import Job
from penstock.traces.pieces import Curve, IoPieces, curve, distance

Slack = Literal["compute", "contention"]
MODELLED = ("model", "accounting")  # sources that do not say when bytes moved
MOMENT = 1e-6  # seconds: what is closer touches
BURSTS = 100  # where a source cannot tell bursts apart


class Transfers(NamedTuple):
    """The bursts of a job in both directions, by their centre."""

    centre: Floats
    volume: Floats
    start: Floats
    end: Floats
    writes: Bools


class PlacedPhases(NamedTuple):
    """Phases, and by how much they displace a byte: what the source leaves open, plus what merging adds.

    Of a model it is None: nobody knows when those bytes moved.
    """

    phases: Trace
    transfers: int
    error_seconds: float | None


def transfers(job: Job, tolerance: float, count: int = BURSTS) -> Transfers:
    """The bursts of a job; a model's pieces are bursts already."""
    if job.source in MODELLED:
        own = job.pieces
        return Transfers((own.start + own.end) / 2.0, own.volume, own.start, own.end, own.writes)
    parts = []
    for writes in (False, True):
        own = job.pieces.only(job.pieces.writes == writes)
        if len(own.start):
            found = _bursts(job, own, tolerance, count)
            parts.append((*found, np.full(len(found.centre), writes)))
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)] if parts else [np.zeros(0)] * 5
    order = np.argsort(columns[0], kind="stable")
    return Transfers._make(column[order] for column in columns)


def _bursts(job: Job, own: IoPieces, tolerance: float, count: int) -> Bursts:
    if job.structure == "unknown":
        return per_bin(own, job.seconds, count)
    if job.source == "heatmap":
        # Bursts shorter than two bins look like one long one once bins are merged, so a bin stays a burst.
        alone = job.resolution is not None
        return merged(own, job.seconds, 0.0 if alone else tolerance)
    return bursts(own, job.seconds, tolerance)


def placed(job: Job, found: Transfers, bandwidth: float, slack: Slack) -> PlacedPhases:
    """The phases of a job whose cap is `bandwidth`, which must be able to move its bytes in its run time."""
    length = found.volume / bandwidth
    start = _apart(found.centre, length, found.volume, job.seconds)
    gaps = _idle(found) if slack == "contention" else np.diff(start, prepend=0.0) - np.concatenate([[0.0], length[:-1]])
    begun = (found.start[:1] if slack == "contention" else start[:1]) if len(start) else np.zeros(0)
    gaps[:1] = begun
    rest = job.seconds - (found.end.max() if slack == "contention" else start[-1] + length[-1]) if len(start) else 0.0
    last = float(max(rest, 0.0)) if len(start) else job.seconds
    trace = _trace(gaps, found, last)
    if job.source in MODELLED:
        return PlacedPhases(trace, len(start), None)
    added = _displaced(job.pieces, found.writes, start, length, found.volume)
    return PlacedPhases(trace, len(start), job.pieces.bound + added)


def _apart(centre: Floats, length: Floats, weight: Floats, seconds: float) -> Floats:
    """Where transfers start that are in order, do not overlap, fit into the run and lie close to their centres.

    Without the lengths before it, the start of each may not be less than that of its predecessor: the closest such
    sequence merges neighbours that collide into blocks (pool adjacent violators).
    """
    before = np.cumsum(length) - length
    wanted = (centre - length / 2.0 - before).tolist()
    heavy = weight.tolist()
    means: list[float] = []
    weights: list[float] = []
    sizes: list[int] = []
    for value, own in zip(wanted, heavy, strict=True):
        mean, mass, size = value, own, 1
        while means and means[-1] > mean:
            other, more = means.pop(), weights.pop()
            mean = (mean * mass + other * more) / (mass + more)
            mass += more
            size += sizes.pop()
        means.append(mean)
        weights.append(mass)
        sizes.append(size)
    room = max(0.0, seconds - float(length.sum()))
    starts: Floats = np.clip(np.repeat(means, sizes), 0.0, room) + before
    return starts


def _idle(found: Transfers) -> Floats:
    """Time before each burst in which none was seen."""
    until = np.maximum.accumulate(found.end) if len(found.end) else found.end
    return np.concatenate([[0.0], np.maximum(found.start[1:] - until[:-1], 0.0)])[: len(found.start)]


def _displaced(pieces: IoPieces, writes: Bools, start: Floats, length: Floats, volume: Floats) -> float:
    """The mean displacement of a byte, reads against reads and writes against writes."""
    total = 0.0
    for way in (False, True):
        own, some = pieces.only(pieces.writes == way), writes == way
        if some.any():
            seen = curve(own.start, own.end, own.volume)
            put: Curve = curve(start[some], start[some] + length[some], volume[some])
            total += own.total * distance(seen, put)
    return total / pieces.total if pieces.total else 0.0


def _trace(gaps: Floats, found: Transfers, last: float) -> Trace:
    """Compute, transfer, compute, transfer …; transfers of one direction with no time between them are one."""
    gaps, volume, writes = _joined(np.maximum(gaps, 0.0), found)
    count = len(gaps)
    kind, amount = np.zeros(2 * count + 1, np.int8), np.zeros(2 * count + 1)
    kind[0::2], amount[0:-1:2] = COMPUTE, gaps
    kind[1::2], amount[1::2] = np.where(writes, WRITE, READ), volume
    amount[-1] = last
    _round(kind, amount)
    kept = (kind != COMPUTE) | (amount > 0)
    return Trace(kind[kept], amount[kept])


def _joined(gaps: Floats, found: Transfers) -> tuple[Floats, Floats, Bools]:
    """A transfer that others slow down is seen in many pieces; the job posted it once."""
    if not len(gaps):
        return gaps, found.volume, found.writes
    first = (gaps > MOMENT) | np.concatenate([[True], found.writes[1:] != found.writes[:-1]])
    begins = np.flatnonzero(first)
    return gaps[begins], np.add.reduceat(found.volume, begins), found.writes[begins]


def _round(kind: NDArray[np.int8], amount: Floats) -> None:
    """Digits that mean something: computing to a microsecond, volumes to a billionth of all or to a byte."""
    still = kind == COMPUTE
    amount[still] = np.round(amount[still], 6)
    total = float(amount[~still].sum())
    digits = max(0, 9 - int(np.floor(np.log10(total)))) if total > 0 else 0
    amount[~still] = np.round(amount[~still], digits)
