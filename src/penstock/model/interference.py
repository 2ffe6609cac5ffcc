"""Interference in a scenario: a CSV that says how much bandwidth so many applications had together (P3 §1, fig. 1).

    applications,bandwidth
    1,9.8 GB/s
    2,9.1 GB/s
    4,8.3 GB/s

The median of the runs with k applications over that with one is the efficiency e_k. More never get more out of a
storage than fewer, so what measurements say against it is noise: neighbours that rise are pooled into their mean,
weighted by runs (the nearest falling sequence, by least squares). Counts between two measured ones lie on the line
between them; beyond the last it holds.
"""

from __future__ import annotations

import csv
from itertools import pairwise
from pathlib import Path
from statistics import median

from penstock.errors import InvalidScenario
from penstock.files import reading
from penstock.model.units import Refusal, quantity, whole

COLUMNS = ("applications", "bandwidth")
_ACCEPTED = "expected a CSV with the columns applications and bandwidth"
MOST = 10_000  # applications


def read_interference(file: Path) -> list[float]:
    """The efficiencies [1, e_2, e_3, …] of a file."""
    with reading(file, InvalidScenario, _ACCEPTED), file.open(newline="", encoding="utf-8-sig") as stream:
        rows = csv.DictReader(stream)
        if not set(COLUMNS) <= set(rows.fieldnames or ()):
            raise InvalidScenario(f"{file}: has the columns {', '.join(rows.fieldnames or ()) or 'none'}; {_ACCEPTED}")
        runs = [_run(row, rows.line_num, file) for row in rows]
    measured: dict[int, list[float]] = {}
    for count, rate in runs:
        measured.setdefault(count, []).append(rate)
    if 1 not in measured:
        raise InvalidScenario(f"{file}: has no run of 1 application; efficiencies are relative to one alone")
    return _fitted(measured)


def _run(row: dict[str, str], line: int, file: Path) -> tuple[int, float]:
    try:
        count = whole(row["applications"], "a count is a whole number ≥ 1", most=MOST)
        rate = quantity(row["bandwidth"], "bytes/s")
    except Refusal as refusal:
        raise InvalidScenario(f"{file}:{line}: a cell {refusal}") from None
    return count, rate


def _fitted(measured: dict[int, list[float]]) -> list[float]:
    alone = median(measured[1])
    pools: list[list[float]] = []  # [efficiency, runs, counts], falling
    for count in sorted(measured):
        share = 1.0 if count == 1 else min(1.0, median(measured[count]) / alone)
        pools.append([share, float(len(measured[count])), 1.0])
        while len(pools) > 1 and pools[-1][0] > pools[-2][0]:
            (one, runs, places), (other, more, further) = pools.pop(-2), pools.pop()
            pools.append([(one * runs + other * more) / (runs + more), runs + more, places + further])
    falling = [share for share, _, places in pools for _ in range(int(places))]
    return _filled(sorted(measured), falling)


def _filled(counts: list[int], shares: list[float]) -> list[float]:
    """One for every count from 1 on; 1 for one alone."""
    found = [1.0]
    for (start, low), (stop, high) in pairwise(zip(counts, shares, strict=True)):
        found += [low + (high - low) * (k - start) / (stop - start) for k in range(start + 1, stop + 1)]
    return found
