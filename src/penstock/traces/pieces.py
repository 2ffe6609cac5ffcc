"""When bytes of a log moved: pieces of time with volumes spread evenly, and how far that may be from the truth.

The distance between two ways to place the same bytes in time is their Wasserstein-1 distance, the mean displacement of
a byte: ∫|F − G| dt / V, F and G being the bytes moved by time t.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from penstock.kernels.arrays import Bools, Floats, Ints

ABSURD = 1e18  # bytes in a record: so many, or more, are a broken counter
FEW = 4_000  # pieces that are kept as they are
CELLS = 4_000


class IoPieces(NamedTuple):
    """A row per piece. `doubt` is the most by which its bytes may be displaced, on average, in seconds."""

    start: Floats
    end: Floats
    volume: Floats
    writes: Bools
    doubt: Floats

    @property
    def total(self) -> float:
        """Bytes."""
        return float(self.volume.sum())

    @property
    def bound(self) -> float:
        """Seconds by which a byte is displaced at most, on average."""
        return float(np.sum(self.volume * self.doubt)) / self.total if self.total else 0.0

    def only(self, chosen: Bools | Ints) -> IoPieces:
        """Some of the pieces, in that order."""
        return IoPieces._make(column[chosen] for column in self)

    def shifted(self, seconds: float) -> IoPieces:
        """The same, later."""
        return self._replace(start=self.start + seconds, end=self.end + seconds)

    def clipped(self, begin: float, end: float) -> IoPieces:
        """Moved into an interval where they lie outside."""
        return self._replace(start=np.clip(self.start, begin, end), end=np.clip(self.end, begin, end))


NONE = IoPieces(np.zeros(0), np.zeros(0), np.zeros(0), np.zeros(0, bool), np.zeros(0))


def joined(parts: Iterable[IoPieces]) -> IoPieces:
    """All pieces of several."""
    return IoPieces._make(np.concatenate(columns) for columns in zip(NONE, *parts, strict=True))


def coarse(pieces: IoPieces, seconds: float) -> IoPieces:
    """Fewer pieces: those of one direction that start, and end, within one 4,000th of the run become one.

    No byte moves further than that. A thousand logs of ten thousand operations would not fit into memory otherwise.
    """
    if len(pieces.start) <= FEW:
        return pieces
    cell = seconds / CELLS
    first, last = np.floor(pieces.start / cell), np.floor(pieces.end / cell)
    place = 2.0 * (first * (CELLS + 2) + last) + pieces.writes
    order = np.argsort(place, kind="stable")
    some, place = pieces.only(order), place[order]
    begins = np.flatnonzero(np.diff(place, prepend=-np.inf))
    volume = np.add.reduceat(some.volume, begins)
    return IoPieces(
        np.minimum.reduceat(some.start, begins),
        np.maximum.reduceat(some.end, begins),
        volume,
        some.writes[begins],
        np.add.reduceat(some.volume * some.doubt, begins) / volume + cell,
    )


class Curve(NamedTuple):
    """Bytes moved by an instant, linear between the instants listed."""

    at: Floats
    moved: Floats

    def by(self, instants: Floats | float) -> Floats:
        """Bytes moved by these instants."""
        moved: Floats = np.asarray(np.interp(instants, self.at, self.moved))
        return moved


def curve(start: Floats, end: Floats, volume: Floats) -> Curve:
    """The sum of all pieces; one without length is a step, given a width that no clock can tell."""
    if not len(start):
        return Curve(np.zeros(1), np.zeros(1))
    least = 1e-9 * max(1.0, float(np.abs(end).max()))
    until = np.maximum(end, start + least)
    rate = volume / (until - start)
    instants = np.concatenate([start, until])
    change = np.concatenate([rate, -rate])
    order = np.argsort(instants, kind="stable")
    at, rates = instants[order], np.cumsum(change[order])
    moved = np.concatenate([[0.0], np.cumsum(np.maximum(rates[:-1], 0.0) * np.diff(at))])
    # Rates that cancel leave rounding behind; the total is known.
    return Curve(at, moved * (volume.sum() / moved[-1]) if moved[-1] else moved)


def distance(one: Curve, other: Curve) -> float:
    """The mean displacement between two placements of the same bytes, in seconds."""
    at = np.union1d(one.at, other.at)
    gap = one.by(at) - other.by(at)
    width, left, right = np.diff(at), gap[:-1], gap[1:]
    crosses = left * right < 0
    even = (np.abs(left) + np.abs(right)) / 2.0
    with np.errstate(invalid="ignore", divide="ignore"):
        crossed = (left**2 + right**2) / (2.0 * np.abs(left - right))
    total = float(one.moved[-1])
    return float(np.sum(width * np.where(crosses, crossed, even))) / total if total else 0.0
