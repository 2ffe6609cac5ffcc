"""Where the names of points go in a plot: beside their points, and neither on one another nor on what is drawn.

Each label in turn tries places around its point and takes the one that covers least, counting the line that ties it to
its point, and is near.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from penstock.kernels.arrays import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes


SIZE = 8  # of the type
DISTANCES = (8.0, 14.0, 22.0, 32.0, 44.0, 58.0, 74.0)  # from the point; this and the next four in points of type
CLEAR = 1.5  # between a label and anything else
MARKER = 4.0  # from the middle of a point to its edge
LINE = 2.5  # half of what is kept clear for a line
LINE_FROM = 12.0  # distance from which a line ties a label to its point
DIRECTIONS = (0, 180, 45, 315, 135, 225, 90, 270, 22, 338, 158, 202, 68, 292, 112, 248)  # degrees, best first
PIECES = 12  # that a line is looked at as
OUTSIDE = 4.0  # how much worse it is to leave the axes than to cover something
NEAR = 2.0  # covered pixels that a label may cost for being a pixel nearer


class Label(NamedTuple):
    """A text, the point that it names (data of the axes), and its colour."""

    text: str
    x: float
    y: float
    colour: str


def place_labels(axes: Axes, labels: Sequence[Label], drawn: Iterable[Sequence[tuple[float, float]]]) -> None:
    """Write `labels` into `axes`, clear of the lines that were `drawn`; the figure has been laid out before."""
    if not labels:
        return
    scale, inside = axes.figure.dpi / 72.0, np.array(axes.get_window_extent().extents)
    points = axes.transData.transform([(each.x, each.y) for each in labels])
    lines = [axes.transData.transform(line) for line in drawn]
    taken = np.concatenate([boxes(points, MARKER * scale), *(along(line, LINE * scale) for line in lines)])
    distances = np.linalg.norm(points[:, None] - points[None], axis=2)
    # Whoever has many neighbours has the fewest places to choose from.
    crowd = (distances < max(DISTANCES) * scale).sum(axis=1)
    for number in np.argsort(-crowd, kind="stable").tolist():
        label, point, size = labels[number], points[number], _size(axes, labels[number].text)
        place = best_place(point, size, taken, inside, scale)
        taken = np.concatenate([taken, boxes(place[None], size / 2 + CLEAR * scale)])
        _write(axes, label, point, place, size)


def best_place(point: Floats, size: Floats, taken: Floats, inside: Floats, scale: float) -> Floats:
    """The middle of a label of some size that covers least of what is `taken` and leaves the box `inside` least."""
    angle = np.radians(np.tile(DIRECTIONS, len(DISTANCES)))
    away = np.repeat(DISTANCES, len(DIRECTIONS)) * scale
    places = point + np.stack([np.cos(angle), np.sin(angle)], axis=1) * (away[:, None] + size / 2)
    room = boxes(places, size / 2 + CLEAR * scale)
    ends = _nearest(point, places, size)
    # What is near the point is its own marker and bars.
    reach = np.minimum(1.0, LINE_FROM * scale / np.maximum(np.linalg.norm(ends - point, axis=1, keepdims=True), 1e-9))
    starts = point + reach * (ends - point)
    ties = [along(np.stack(pair), 0.5 * scale) for pair in zip(starts, ends, strict=True)]
    tied = np.repeat(np.arange(len(places)), [len(tie) for tie in ties])
    cost = shared(room, taken) + np.bincount(tied, shared(np.concatenate(ties), taken), len(places))
    cost += OUTSIDE * (np.prod(room[:, 2:] - room[:, :2], axis=1) - shared(room, inside[None])) + NEAR * away
    return np.array(places[np.argmin(cost)])


def boxes(middles: Floats, reach: float | Floats) -> Floats:
    """Boxes that reach as far from their middles, in both directions or in each."""
    return np.concatenate([middles - reach, middles + reach], axis=1)


def along(line: Floats, reach: float) -> Floats:
    """Boxes that cover a line: one where it is upright or level, else several."""
    parts = [np.linspace(start, end, (1 if (start == end).any() else PIECES) + 1) for start, end in pairwise(line)]
    if not parts:
        return np.empty((0, 4))
    start, end = np.concatenate([part[:-1] for part in parts]), np.concatenate([part[1:] for part in parts])
    return np.concatenate([np.minimum(start, end) - reach, np.maximum(start, end) + reach], axis=1)


def shared(some: Floats, others: Floats) -> Floats:
    """How much area each of some boxes has in common with all others."""
    low = np.maximum(some[:, None, :2], others[None, :, :2])
    high = np.minimum(some[:, None, 2:], others[None, :, 2:])
    area: Floats = np.prod(np.maximum(high - low, 0.0), axis=2).sum(axis=1)
    return area


def _nearest(point: Floats, middle: Floats, size: Floats) -> Floats:
    """Where a line from a point meets a label."""
    return np.clip(point, middle - size / 2, middle + size / 2)


def _write(axes: Axes, label: Label, point: Floats, place: Floats, size: Floats) -> None:
    """The text, and a line to its point if that is not next to it."""
    end, back = _nearest(point, place, size), axes.transData.inverted()
    if np.linalg.norm(end - point) > LINE_FROM * axes.figure.dpi / 72.0:
        tie = back.transform([point, end])
        axes.plot(*tie.T, color=label.colour, linewidth=0.6, alpha=0.7, zorder=1.5)
    x, y = back.transform(place)
    axes.text(x, y, label.text, color=label.colour, fontsize=SIZE, ha="center", va="center")


def _size(axes: Axes, text: str) -> Floats:
    """How wide and high a text is."""
    trial = axes.text(0, 0, text, fontsize=SIZE)
    extent = trial.get_window_extent()
    trial.remove()
    return np.array([extent.width, extent.height])
