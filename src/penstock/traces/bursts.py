"""From thousands of pieces of a log to the few bursts that a reader would draw, with every byte kept near its time.

Pieces closer than `tolerance` of the run time belong together. Such a cluster becomes one burst as long as the bytes of
all bursts are displaced by `tolerance` of the run time at most, on average; clusters that would be displaced least go
first. What is left of that budget is spent inside the other clusters: neighbours merge, cheapest first, at a cost of

    2·v₁·v₂/(v₁ + v₂)·|c₁ − c₂|

byte-seconds, v being volumes and c the centres of their bytes. A gap alone would merge what lies half a run apart,
merging alone would split what everybody calls one burst.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from penstock.kernels.arrays import Bools, Floats, Ints
from penstock.traces.merging_few import merge_few
from penstock.traces.pieces import IoPieces, curve

FEW = 5_000  # bursts that are merged without compiled code


class Bursts(NamedTuple):
    """Bursts by their centre; `start` and `end` are where their pieces began and ended."""

    centre: Floats
    volume: Floats
    start: Floats
    end: Floats


def bursts(pieces: IoPieces, seconds: float, tolerance: float) -> Bursts:
    """The bursts of pieces that all read, or all write, in a run of so many seconds."""
    each = _singly(pieces)
    cluster = _clusters(each.start, each.end, tolerance * seconds)
    whole = _grouped(each, cluster)
    moved = _displacement(each, whole, cluster)
    budget = tolerance * seconds * pieces.total
    order = np.argsort(moved, kind="stable")
    spent = np.cumsum(moved[order])
    kept = np.zeros(len(moved), bool)
    kept[order[spent <= budget]] = True
    left = budget - float(moved[kept].sum())
    split = _merged(_chosen(each, ~kept[cluster]), left)
    return _sorted(Bursts._make(np.concatenate(two) for two in zip(_chosen(whole, kept), split, strict=True)))


def merged(pieces: IoPieces, seconds: float, tolerance: float) -> Bursts:
    """As `bursts`, by merging alone: bins of several heat maps touch, so that gaps say nothing."""
    return _merged(_singly(pieces), tolerance * seconds * pieces.total)


def per_bin(pieces: IoPieces, seconds: float, count: int) -> Bursts:
    """A burst in each of `count` equal parts of the run that has bytes: for sources that cannot tell bursts apart."""
    edges = np.linspace(0.0, seconds, count + 1)
    volume = np.diff(curve(pieces.start, pieces.end, pieces.volume).by(edges))
    busy = volume > 1e-9 * volume.sum()
    volume *= pieces.total / volume[busy].sum()
    return Bursts(((edges[:-1] + edges[1:]) / 2.0)[busy], volume[busy], edges[:-1][busy], edges[1:][busy])


def _singly(pieces: IoPieces) -> Bursts:
    """Each piece a burst, by their centres."""
    centre = (pieces.start + pieces.end) / 2.0
    return _sorted(Bursts(centre, pieces.volume, pieces.start, pieces.end))


def _clusters(start: Floats, end: Floats, gap: float) -> Ints:
    """The number of each piece's cluster. Pieces are in the order of their centres, so a long one may start early."""
    until = np.maximum.accumulate(end)
    first = np.minimum.accumulate(start[::-1])[::-1]
    opens = first[1:] > until[:-1] + gap
    return np.concatenate([[0], np.cumsum(opens)]).astype(np.int64)


def _grouped(each: Bursts, group: Ints) -> Bursts:
    count = int(group[-1]) + 1 if len(group) else 0
    first = np.searchsorted(group, np.arange(count))
    volume: Floats = np.bincount(group, each.volume, count).astype(float)
    centre = np.bincount(group, each.volume * each.centre, count) / volume
    return Bursts(centre, volume, np.minimum.reduceat(each.start, first), np.maximum.reduceat(each.end, first))


def _displacement(each: Bursts, whole: Bursts, group: Ints) -> Floats:
    """Byte-seconds by which one burst per group displaces its bytes."""
    moved = each.volume * np.abs(each.centre - whole.centre[group])
    return np.bincount(group, moved, len(whole.centre)).astype(float)


def _chosen(each: Bursts, some: Bools) -> Bursts:
    return Bursts._make(np.ascontiguousarray(column[some]) for column in each)


def _sorted(each: Bursts) -> Bursts:
    order = np.argsort(each.centre, kind="stable")
    return Bursts._make(np.ascontiguousarray(column[order]) for column in each)


def _merged(each: Bursts, budget: float) -> Bursts:
    count = len(each.centre)
    if count < 2:
        return each
    if count <= FEW:
        return _grouped(each, merge_few(each.centre.tolist(), each.volume.tolist(), budget))
    from penstock.traces.merging import merge_cheapest  # noqa: PLC0415 - loads the compiler, 100 MB of it

    group = np.empty(count, np.int64)
    centre, volume = each.centre.copy(), each.volume.copy()
    left, right, stamp = np.arange(count) - 1, np.arange(count) + 1, np.zeros(count, np.int64)
    heap, owner, issued = np.empty(3 * count), np.empty(3 * count, np.int64), np.empty(3 * count, np.int64)
    merge_cheapest(centre, volume, left, right, stamp, heap, owner, issued, group, budget)
    return _grouped(each, group)
