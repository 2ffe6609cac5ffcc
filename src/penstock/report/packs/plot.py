"""The plot of a packing: on every I/O node, who holds which processors when, and how much of that is waiting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PolyCollection
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator, PercentFormatter

from penstock.report.packs.table import packing_words
from penstock.report.parts.quantities import duration, fixed
from penstock.report.parts.theme import FAINT, INK, WAITING, WAITING_PALE, label, theme
from penstock.report.parts.time_axis import time_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from penstock.kernels.arrays import Floats
    from penstock.studies.packs import PackedJob, Packing

# From a job that hardly transfers to one that does so half of its time: one hue, readable in grey too.
_SHARES = LinearSegmentedColormap.from_list("io share", ["#dfe9f3", "#88b0d4", "#4477aa", "#1c3f66"])
_MOST_NODES = 12  # drawn; more would be lines
_NAMED_JOBS = 60
_SAME_TIME = 1e-9

Slots = list[tuple[int, int]]  # processors from … up to …


def packing_figure(packing: Packing) -> Figure:
    """A band per I/O node with a rectangle per job: from start to end, as high as the processors it holds."""
    with theme():
        shown = min(packing.io_nodes, _MOST_NODES)
        figure = Figure(figsize=(9.5, 1.4 + _height(shown) * shown), layout="constrained")
        rows = figure.subplots(shown, 1, sharex=True, squeeze=False)[:, 0]
        top = max([0.5, *(job.io_share for job in packing.jobs)])
        for node, axes in enumerate(rows):
            _draw_node(axes, packing, node, top)
            if len(packing.jobs) <= _NAMED_JOBS:
                _name_jobs(axes, packing, node, top, 0.14 / _height(shown))
        rows[0].set_title(_title(packing))
        time_axis(rows[-1], packing.begin, packing.makespan)
        _legend(figure, list(rows), packing, top)
        return figure


def slots(jobs: Sequence[PackedJob], processors: int) -> Iterator[tuple[PackedJob, Slots]]:
    """Which processors each job of an I/O node holds: the lowest free ones, several stretches of them if need be."""
    free = [(0, processors)]
    running: list[tuple[float, Slots]] = []
    for job in sorted(jobs, key=lambda job: (job.start, -job.nodes)):
        over = [held for end, held in running if end <= job.start * (1.0 + _SAME_TIME)]
        running = [(end, held) for end, held in running if end > job.start * (1.0 + _SAME_TIME)]
        free = _joined([*free, *(stretch for held in over for stretch in held)])
        held, free = _taken(free, job.nodes)
        running.append((job.end, held))
        yield job, held


def _joined(stretches: Slots) -> Slots:
    """Sorted, neighbours made one."""
    joined: Slots = []
    for low, high in sorted(stretches):
        if joined and joined[-1][1] == low:
            joined[-1] = (joined[-1][0], high)
        else:
            joined.append((low, high))
    return joined


def _taken(free: Slots, count: int) -> tuple[Slots, Slots]:
    """So many processors, in one piece if there is one that is large enough; and what stays free."""
    whole = [stretch for stretch in free if stretch[1] - stretch[0] >= count]
    held: Slots = []
    left = set(free)
    for low, high in whole[:1] or free:
        part = min(count, high - low)
        left.discard((low, high))
        held.append((low, low + part))
        if low + part < high:
            left.add((low + part, high))
        count -= part
        if count == 0:
            break
    return held, sorted(left)


def _draw_node(axes: Axes, packing: Packing, node: int, top: float) -> None:
    jobs = [job for job in packing.jobs if job.io_node == node]
    placed = [(job, stretch) for job, held in slots(jobs, packing.processors) for stretch in held]
    if placed:
        boxes = [_box(job.start, job.end, *stretch) for job, stretch in placed]
        colours = _SHARES([job.io_share / top for job, _ in placed])
        axes.add_collection(PolyCollection(boxes, facecolors=colours, edgecolors="white", linewidths=0.5))
        # All waiting of a job is drawn as one piece at its end.
        waiting = [_box(_waiting_from(job), job.end, *stretch) for job, stretch in placed]
        axes.add_collection(
            PolyCollection(waiting, facecolors=[WAITING_PALE], edgecolors=[WAITING], hatch="////", linewidths=0)
        )
        axes.add_collection(PolyCollection(boxes, facecolors="none", edgecolors="white", linewidths=0.5))
    for pack in packing.packs:
        if pack.io_node == node:
            outline = [_box(pack.start, pack.end, 0, packing.processors)]
            axes.add_collection(PolyCollection(outline, facecolors="none", edgecolors=[INK], linewidths=1.2))
    axes.set_xlim(packing.begin, packing.makespan + 0.005 * (packing.makespan - packing.begin))
    axes.set_ylim(0, packing.processors * 1.02)
    axes.set_ylabel(f"I/O node {node}\nprocessors")
    axes.yaxis.set_major_locator(MaxNLocator(3, integer=True))
    axes.grid(axis="x", color=FAINT, linewidth=0.5)
    axes.set_axisbelow(True)


def _waiting_from(job: PackedJob) -> float:
    return job.start + (job.end - job.start) / job.stretch


def _box(start: float, stop: float, low: int, high: int) -> Floats:
    return np.array([(start, low), (start, high), (stop, high), (stop, low)], dtype=float)


def _name_jobs(axes: Axes, packing: Packing, node: int, top: float, lowest: float) -> None:
    """Write the name into the highest rectangle of a job, if it is large enough to be read."""
    jobs = [job for job in packing.jobs if job.io_node == node]
    for job, held in slots(jobs, packing.processors):
        low, high = max(held, key=lambda stretch: stretch[1] - stretch[0])
        until = _waiting_from(job)
        readable = (until - job.start) / (packing.makespan - packing.begin) > 0.012 * len(label(job.name))
        if readable and high - low >= lowest * packing.processors:
            axes.annotate(
                label(job.name),
                ((job.start + until) / 2, (low + high) / 2),
                ha="center",
                va="center",
                fontsize=7,
                color="white" if job.io_share > 0.55 * top else INK,
            )


def _height(rows: int) -> float:
    """Of one I/O node, in inches."""
    return max(1.0, min(2.4, 6.0 / rows))


def _title(packing: Packing) -> str:
    outcome = f"ends after {duration(packing.makespan - packing.begin)}, max stretch {fixed(packing.max_stretch, 2)}"
    return f"{label(packing_words(packing), 90)}\n{outcome}"


def _legend(figure: Figure, rows: list[Axes], packing: Packing, top: float) -> None:
    handles = [
        Patch(facecolor=WAITING_PALE, edgecolor=WAITING, hatch="////", linewidth=0, label="waiting for I/O, summed")
    ]
    if packing.packs:
        handles.append(Patch(facecolor="none", edgecolor=INK, linewidth=1.2, label="a pack"))
    if packing.io_nodes > len(rows):
        handles.append(Patch(facecolor="none", label=f"{packing.io_nodes - len(rows)} more I/O nodes are not shown"))
    figure.legend(handles=handles, loc="outside lower left", ncols=len(handles))
    colours = ScalarMappable(Normalize(0.0, top), _SHARES)
    bar = figure.colorbar(
        colours, ax=rows, aspect=50, pad=0.01, fraction=0.02, format=PercentFormatter(1.0, decimals=0)
    )
    bar.set_label("I/O share of a job's time alone")
