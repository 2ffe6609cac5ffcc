"""Where the bytes of a whole machine were, in a page whose reader's browser draws it: see parts/passage.js."""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from penstock.report.machine.stages import BUSY, FULL_COLOUR, KINDS, SHADES, Stage, row_labels, stages_of, step_of
from penstock.report.parts.quantities import byte_scale, rate_scale, time_scale

if TYPE_CHECKING:
    from penstock.engine.passage import Passage
    from penstock.kernels.arrays import Floats

WHOLE = 1_000_000
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def passage_element(passage: Passage, name: str, alt: str) -> str:
    """The figure, its legend, and a line that says what the reader points at."""
    data = escape(json.dumps(_data(passage), separators=(",", ":"), ensure_ascii=False))
    there = [(SHADES[kind], KINDS[kind]) for kind in dict.fromkeys(passage.kinds)]
    shades = [*there, (FULL_COLOUR, "nothing left to give")]
    legend = "".join(f'<li><i style="background:{colour}"></i>{escape(words)}</li>' for colour, words in shades)
    return (
        f'<figure><svg class="timeline" id="{name}" role="img" tabindex="0" aria-label="{escape(alt)}" '
        f'data-picture="passage" data-timeline="{data}"></svg><ul class="legend">{legend}'
        "<li>the stronger the colour, the busier</li></ul><output></output>"
        '<noscript class="soft">A script draws this; scripts are switched off here.</noscript></figure>'
    )


def _data(passage: Passage) -> dict[str, Any]:
    times, stages = time_scale(passage.end - passage.begin), stages_of(passage)
    most = max(float(stage.values.max(initial=0.0)) for stage in stages if not stage.held) or 1.0
    return {
        "begin": passage.begin,
        "end": passage.end,
        "whole": WHOLE,
        "divisor": times.divisor,
        "unit": times.unit,
        "steps": passage.steps,
        "stages": [_stage(stage, passage.room if stage.held else most, passage) for stage in stages],
        "names": list(passage.names),
        "kinds": list(passage.kinds),
        "colours": SHADES,
        "full": FULL_COLOUR,
        "use": [_digits(line) for line in passage.use],
        "labels": row_labels(passage),
        "bottlenecks": _bottlenecks(passage),
    }


def _stage(stage: Stage, most: float, passage: Passage) -> dict[str, Any]:
    """Values in thousandths of the top, and a line: the mean, or what the buffer has room for."""
    scale = byte_scale(passage.room, pure=not rate_scale(most).unit) if stage.held else rate_scale(most)
    mean = float(stage.values.mean()) if stage.values.size else 0.0
    says = f"room for {scale.show(passage.room)}" if stage.held else f"mean {scale.show(mean)}"
    return {
        "title": stage.title,
        "colour": stage.colour,
        "values": np.round(1000 * stage.values / most).astype(int).tolist(),
        "most": most / scale.divisor,
        "unit": scale.unit,
        "line": 1000 if stage.held else round(1000 * mean / most),
        "says": says,
    }


def _digits(use: Floats) -> str:
    """A digit to the base of 36 for each step: what a reader can tell apart."""
    places = np.round(35 * np.clip(use, 0.0, 1.0)).astype(int)
    # Full is what has nothing left; what is nearly so must not look it.
    places[(places == 35) & (use < 0.985)] = 34
    return "".join(_DIGITS[place] for place in places)


def _bottlenecks(passage: Passage) -> list[tuple[int, int, str, int, str]]:
    span = passage.end - passage.begin
    return [
        (
            round(WHOLE * (each.start - passage.begin) / span),
            round(WHOLE * (each.stop - passage.begin) / span),
            each.name,
            round(100 * each.use),
            each.kind,
        )
        for each in passage.bottlenecks(step_of(span), BUSY)
    ]
