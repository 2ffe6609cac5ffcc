"""Slow and obvious: what PyDarshan says of a log, and how far apart two placements of bytes are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np


def records(file: Path, module: str) -> Iterator[dict[str, Any]]:
    """The records of a module as PyDarshan's own reader gives them."""
    from darshan.backend import cffi_backend as backend  # noqa: PLC0415 - loads pandas

    log = backend.log_open(str(file))
    try:
        if module in backend.log_get_modules(log):
            while (record := backend.log_get_record(log, module, dtype="dict")) is not None:
                yield record
    finally:
        backend.log_close(log)


def counted(file: Path, module: str) -> dict[int, tuple[int, int]]:
    """Bytes read and written by file."""
    found: dict[int, tuple[int, int]] = {}
    prefix = module.replace("-", "")
    for record in records(file, module):
        read, written = (int(record["counters"][f"{prefix}_BYTES_{way}"]) for way in ("READ", "WRITTEN"))
        before = found.get(record["id"], (0, 0))
        found[record["id"]] = before[0] + read, before[1] + written
    return found


def totals(file: Path, *modules: str) -> tuple[int, int]:
    """Bytes read and written by all files of some modules."""
    each = [volume for module in modules for volume in counted(file, module).values()]
    return sum(read for read, _ in each), sum(written for _, written in each)


def traced(file: Path) -> dict[str, list[tuple[float, float, float]]]:
    """What DXT saw of POSIX: (start, end, bytes) of reads and of writes."""
    found: dict[str, list[tuple[float, float, float]]] = {"read": [], "write": []}
    for record in records(file, "DXT_POSIX"):
        for way, listed in found.items():
            listed += [
                (s["start_time"], s["end_time"], s["length"]) for s in record[f"{way}_segments"] if s["length"] > 0
            ]
    return found


def played(phases: Any, bandwidth: float) -> dict[str, list[tuple[float, float, float]]]:
    """Phases walked through one after the other by a job that is alone."""
    found: dict[str, list[tuple[float, float, float]]] = {"read": [], "write": []}
    now = 0.0
    for phase in phases:
        ((kind, amount),) = phase.items()
        length = amount if kind == "compute" else amount / bandwidth
        if kind != "compute":
            found[kind].append((now, now + length, amount))
        now += length
    return found


def displacement(one: dict[str, Any], other: dict[str, Any]) -> float:
    """The mean distance of a byte between two placements: quantile by quantile, reads and writes apart."""
    total, volume = 0.0, 0.0
    for way in ("read", "write"):
        if one[way]:
            own = sum(row[2] for row in one[way])
            total += own * float(np.mean(np.abs(_quantiles(one[way]) - _quantiles(other[way]))))
            volume += own
    return total / volume


def _quantiles(rows: list[tuple[float, float, float]], count: int = 40_000) -> Any:
    """When each of `count` equal parts of the bytes moved, by counting through small steps of every row."""
    times, weights = [], []
    for start, end, volume in rows:
        steps = 64 if end > start else 1
        times.append(start + (np.arange(steps) + 0.5) / steps * (end - start))
        weights.append(np.full(steps, volume / steps))
    at, weight = np.concatenate(times), np.concatenate(weights)
    order = np.argsort(at, kind="stable")
    reached = np.cumsum(weight[order])
    wanted = (np.arange(count) + 0.5) / count * reached[-1]
    return at[order][np.searchsorted(reached, wanted)]
