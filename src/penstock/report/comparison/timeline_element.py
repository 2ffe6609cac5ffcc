"""A run as a part of a page that the reader's browser draws, so that it can be zoomed into: see parts/timeline.js.

Times are whole numbers of millionths of what is shown, rates thousandths of the capacity: no screen shows more.
"""

from __future__ import annotations

import io
import json
from base64 import b64encode
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from penstock.report.parts.bands import edges, mean_rates, spans
from penstock.report.parts.groups import GROUP_COLOURS, groups_of
from penstock.report.parts.pixels import state_pixels
from penstock.report.parts.quantities import rate_scale, time_scale
from penstock.report.parts.theme import label

if TYPE_CHECKING:
    from penstock.engine.timeline import Timeline
    from penstock.kernels.arrays import Floats, Ints

WHOLE = 1_000_000
MOST_STEPS = 400  # of the stacked bandwidth
MOST_SPANS = 1500  # beyond, rows become an image
_COLUMNS = 800
_LABELLED_ROWS = 36


def timeline_element(timeline: Timeline, name: str, alt: str) -> str:
    """The figure, its legend, and a line that says what the reader points at."""
    moved = timeline.rate * (timeline.stop - timeline.start)
    count = len(timeline.names)
    groups, names = groups_of(timeline.names, np.bincount(timeline.application, moved, count).astype(np.float64))
    data = escape(json.dumps(_data(timeline, groups, len(names)), separators=(",", ":"), ensure_ascii=False))
    colours = [*zip(GROUP_COLOURS, names, strict=False)]
    legend = "".join(f'<li><i style="background:{colour}"></i>{escape(shown)}</li>' for colour, shown in colours)
    states = '<li><i class="computing"></i>computing</li><li><i class="waiting"></i>waiting for I/O</li>'
    return (
        f'<figure><svg class="timeline" id="{name}" role="img" tabindex="0" aria-label="{escape(alt)}" '
        f'data-timeline="{data}"></svg><ul class="legend">{states}{legend}</ul><output></output>'
        '<noscript class="soft">A script draws this; scripts are switched off here.</noscript></figure>'
    )


def _data(timeline: Timeline, groups: Ints, count: int) -> dict[str, Any]:
    rates, times = rate_scale(timeline.capacity), time_scale(timeline.end - timeline.begin)
    step = -(-len(timeline.names) // _LABELLED_ROWS)
    at = edges(timeline, MOST_STEPS)
    layers = _layers(timeline, groups, count, at)
    return {
        "names": timeline.names,
        "labels": [(place, label(timeline.names[place])) for place in range(0, len(timeline.names), step)],
        "begin": timeline.begin,
        "end": timeline.end,
        "whole": WHOLE,
        "divisor": times.divisor,
        "unit": times.unit,
        "capacity": timeline.capacity / rates.divisor,
        "rate": rates.unit,
        "colours": GROUP_COLOURS[:count],
        "groups": groups.tolist(),
        "steps": _times(timeline, at),
        "layers": layers,
        "most": max(1.0, max(layers[-1], default=0) / 1000),  # into a buffer goes more than the storage takes
        "present": list(zip(_times(timeline, timeline.started), _times(timeline, timeline.stopped), strict=True)),
        **_rows(timeline, groups),
    }


def _times(timeline: Timeline, times: Floats) -> list[int]:
    share = (times - timeline.begin) / (timeline.end - timeline.begin)
    whole: list[int] = np.round(WHOLE * np.clip(share, 0.0, 1.0)).astype(int).tolist()
    return whole


def _layers(timeline: Timeline, groups: Ints, count: int, at: Floats) -> list[list[int]]:
    """What all groups up to each use together, in each step."""
    rates = mean_rates(timeline, at)
    layers = np.cumsum([rates[groups == group].sum(axis=0) for group in range(count)], axis=0)
    thousandths: list[list[int]] = np.round(1000 * layers / timeline.capacity).astype(int).tolist()
    return thousandths


def _rows(timeline: Timeline, groups: Ints) -> dict[str, Any]:
    """Spans while they can be told apart, else an image."""
    found = spans(timeline)
    if len(found.start) > MOST_SPANS:
        return {"spans": [], "image": _image(timeline, groups)}
    times = _times(timeline, found.start), _times(timeline, found.stop)
    moving = found.moving.astype(int).tolist()
    return {"spans": list(zip(found.application.tolist(), *times, moving, strict=True)), "image": ""}


def _image(timeline: Timeline, groups: Ints) -> str:
    from PIL import Image  # noqa: PLC0415 - comes with matplotlib, which draws the rest of the page

    buffer = io.BytesIO()
    Image.fromarray(state_pixels(timeline, groups, _COLUMNS)).save(buffer, "PNG", optimize=True)
    return f"data:image/png;base64,{b64encode(buffer.getvalue()).decode()}"
