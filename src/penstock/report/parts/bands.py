"""A timeline turned into what a plot can carry: mean rates and shares of time between a limited number of edges.

Segments of one application follow each other, so the bytes it has moved by any instant are a linear interpolation
between its breakpoints. Means between two edges are differences of that curve: exact when the edges are the
breakpoints themselves, and an honest average when there are too many of those to draw.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock.engine.timeline import Timeline
    from penstock.kernels.arrays import Floats, Ints


class Spans(NamedTuple):
    """Stretches of time, each of one application in one state: neighbours of the same state are one span."""

    application: Ints
    start: Floats
    stop: Floats
    moving: NDArray[np.bool_]  # transferring; otherwise waiting


def edges(timeline: Timeline, most: int) -> Floats:
    """Every instant at which a rate changes, or `most` equal intervals if there are more."""
    instants = np.unique(np.concatenate([[timeline.begin, timeline.end], timeline.start, timeline.stop]))
    instants = instants[(instants >= timeline.begin) & (instants <= timeline.end)]
    # Instants that differ by rounding alone would make slivers whose mean rate is noise.
    apart = np.diff(instants) > 1e-6 * (timeline.end - timeline.begin)
    instants = instants[np.concatenate([[True], apart])]
    return instants if len(instants) <= most else np.linspace(timeline.begin, timeline.end, most + 1)


def mean_rates(timeline: Timeline, at: Floats) -> Floats:
    """Mean rate of every application (rows) between neighbouring edges (columns), in bytes/s."""
    return _means(timeline, timeline.rate, at)


def time_shares(timeline: Timeline, at: Floats) -> tuple[Floats, Floats]:
    """Shares of each interval that every application spends transferring, and waiting."""
    moving = (timeline.rate > 0).astype(float)
    return _means(timeline, moving, at), _means(timeline, 1.0 - moving, at)


def present_shares(timeline: Timeline, at: Floats) -> Floats:
    """Shares of each interval during which an application runs at all."""
    first, last = timeline.started[:, None], timeline.stopped[:, None]
    inside = np.minimum(at[1:], last) - np.maximum(at[:-1], first)
    return np.clip(inside / np.diff(at), 0.0, 1.0)


def spans(timeline: Timeline) -> Spans:
    """The segments without those changes of rate that leave the state as it was."""
    order = np.lexsort((timeline.start, timeline.application))
    application, moving = timeline.application[order], timeline.rate[order] > 0
    start, stop = timeline.start[order], timeline.stop[order]
    tolerance = 1e-9 * max(abs(timeline.begin), abs(timeline.end))
    opens = np.ones(len(order), dtype=bool)
    opens[1:] = (
        (application[1:] != application[:-1]) | (moving[1:] != moving[:-1]) | (start[1:] > stop[:-1] + tolerance)
    )
    first = np.flatnonzero(opens)
    last = np.append(first[1:], len(order)) - 1 if len(order) else first
    return Spans(application[first], start[first], stop[last], moving[first])


def _means(timeline: Timeline, height: Floats, at: Floats) -> Floats:
    means = np.zeros((len(timeline.names), len(at) - 1))
    order = np.lexsort((timeline.start, timeline.application))
    bounds = np.searchsorted(timeline.application[order], np.arange(len(timeline.names) + 1))
    width = np.diff(at)
    for i, (low, high) in enumerate(pairwise(bounds)):
        if low == high:
            continue
        own = order[low:high]
        start, stop = timeline.start[own], timeline.stop[own]
        total = np.concatenate([[0.0], np.cumsum((stop - start) * height[own])])
        instants = np.column_stack([start, stop]).ravel()
        reached = np.column_stack([total[:-1], total[1:]]).ravel()
        means[i] = np.diff(np.interp(at, instants, reached)) / width
    return means
