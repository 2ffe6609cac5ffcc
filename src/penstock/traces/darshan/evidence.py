"""When the bytes of a log moved, from the best that it has.

    DXT         every operation with its start and end: if it was not cut off and holds ≥ 98 % of the counters' bytes
    heat map    bytes per bin: each bin's bytes are somewhere in it, so half a bin is the most that they are displaced
    counters    first start and last end per file: a record's bytes, spread over that time, are displaced by half of it
                at most, however they really moved

Counters say how many bytes; DXT and heat maps are scaled to that, so that volumes are right whatever tells the times.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from penstock.kernels.arrays import Floats
from penstock.traces.darshan.layers import Counted, Layer
from penstock.traces.darshan.log import TRACED, Log
from penstock.traces.job import Source
from penstock.traces.pieces import IoPieces, joined
from penstock.traces.result import number_of

ENOUGH = 0.98
_BETTER: tuple[Source, ...] = ("dxt", "heatmap", "counters")


class Evidence(NamedTuple):
    """Pieces, and which kind of record placed most of the bytes."""

    pieces: IoPieces
    source: Source
    timed: bool
    flags: tuple[str, ...]


@dataclass
class _Tally:
    """What is noticed on the way."""

    by: dict[Source, float] = field(default_factory=lambda: dict.fromkeys(_BETTER, 0.0))  # bytes
    untimed: float = 0.0  # bytes
    flags: list[str] = field(default_factory=list)


def evidence(log: Log, counted: Counted) -> Evidence:
    """The pieces of a log, since its start."""
    parts: list[IoPieces] = []
    tally = _Tally()
    for layer in counted.layers:
        for writes in (False, True):
            volume = float((layer.counters.written if writes else layer.counters.read).sum())
            if volume > 0:
                source, pieces = _best(log, layer, writes, volume, tally)
                parts.append(pieces)
                tally.by[source] += volume
    pieces = joined(parts).clipped(0.0, log.seconds)
    timed = tally.untimed <= (1.0 - ENOUGH) * pieces.total
    return Evidence(pieces, _main(tally.by), timed, tuple(dict.fromkeys(tally.flags)))


def _main(by: dict[Source, float]) -> Source:
    """What placed 98 % of the bytes, or the weakest of those that placed any of the rest."""
    total = sum(by.values())
    reached = 0.0
    for source in _BETTER:
        reached += by[source]
        if reached >= ENOUGH * total > 0:
            return source
    return "counters"


def _best(log: Log, layer: Layer, writes: bool, volume: float, tally: _Tally) -> tuple[Source, IoPieces]:
    traced = _traced(log, layer, writes, volume, tally)
    if traced is not None:
        return "dxt", traced
    mapped = _mapped(log, layer, writes, volume)
    if mapped is not None:
        return "heatmap", mapped
    return "counters", _spread(log, layer, writes, tally)


def _traced(log: Log, layer: Layer, writes: bool, volume: float, tally: _Tally) -> IoPieces | None:
    module = log.modules.get(TRACED.get(layer.name, ""))
    found = log.segments.get(layer.name)
    if module is None or found is None:
        return None
    own = (found.writes == writes) & (found.length > 0) & np.isin(found.file, layer.counters.file)
    start, end, length = found.start[own], found.end[own], found.length[own]
    share = length.sum() / volume
    if module.partial or share < ENOUGH:
        tally.flags.append(f"DXT is not used: it has {share:.1%} of what {layer.name} moved")
        return None
    if not _sane(start, end, log.seconds):
        tally.flags.append("DXT is not used: its clocks run backwards or past the end")
        return None
    return IoPieces(start, np.maximum(start, end), length / share, np.full(len(start), writes), np.zeros(len(start)))


def _mapped(log: Log, layer: Layer, writes: bool, volume: float) -> IoPieces | None:
    """The heat map has no files: it serves only a layer that counts whole."""
    if log.heat_map is None or not layer.whole:
        return None
    bins = (log.heat_map.written if writes else log.heat_map.read).get(layer.name)
    if bins is None or (bins < 0).any() or not ENOUGH <= bins.sum() / volume <= 2 - ENOUGH:
        return None
    width, busy = log.heat_map.width, np.flatnonzero(bins)
    start: Floats = (width * busy).astype(float)
    share = bins.sum() / volume
    some = np.full(len(busy), writes)
    return IoPieces(start, start + width, bins[busy] / share, some, np.full(len(busy), width / 2.0))


def _spread(log: Log, layer: Layer, writes: bool, tally: _Tally) -> IoPieces:
    table = layer.counters
    volume = table.written if writes else table.read
    moved = volume > 0
    start, end = (table.write_from, table.write_to) if writes else (table.read_from, table.read_to)
    start, end, volume = start[moved], end[moved], volume[moved]
    odd = ~_within(start, end, log.seconds)
    if odd.any():
        tally.flags.append(
            f"{number_of(int(odd.sum()), 'record')} of {layer.name} without usable times: placed anywhere in the run"
        )
        start[odd], end[odd] = 0.0, log.seconds
        tally.untimed += float(volume[odd].sum())
    return IoPieces(start, end, volume, np.full(len(start), writes), (end - start) / 2.0)


def _sane(start: Floats, end: Floats, seconds: float) -> bool:
    # A few operations may end late by the clock of another node; a tenth of the bytes may not.
    return bool(_within(start, end, seconds).mean() > 0.9) if len(start) else True


def _within(start: Floats, end: Floats, seconds: float) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    late = max(2.0, 0.01 * seconds)
    usable: np.ndarray[tuple[int], np.dtype[np.bool_]] = (start >= 0) & (end >= start) & (end <= seconds + late)
    return usable & (end > 0)
