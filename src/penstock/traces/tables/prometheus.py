"""Prometheus: the JSON of `/api/v1/query_range` over counters of bytes per job, as exporters of job_stats keep them.

The direction is in a metric's name or labels. Prometheus' own label `job` names what was scraped, not a job: labels
such as `jobid` are looked for, or the one that was named. Counters are differenced; one that shrinks was reset; a
series that vanishes and comes back starts afresh.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from penstock.errors import InvalidOption
from penstock.files import reading
from penstock.traces.result import Skipped
from penstock.traces.tables.moved import Moved, differences, gathered

LABELS = ("jobid", "job_id", "slurm_job_id", "slurm_jobid", "slurmjobid")
_LONG = 5.0  # steps without a sample: the series had vanished


def read_prometheus(file: Path, label: str | None = None) -> Moved:
    """The bytes of every job between scrapes."""
    listed = _result(file)
    rows, skipped, steps = [], [], []
    for entry in listed:
        metric, samples = entry.get("metric") or {}, _samples(entry.get("values") or ())
        job = next((metric[each] for each in ((label,) if label else LABELS) if metric.get(each)), None)
        writes = _writes(metric)
        if job is None or writes is None or not samples:
            skipped.append(Skipped(str(file), f"a series {_why(job, writes, label)}: {_shown(metric)}"))
            continue
        times = np.array([time for time, _ in samples])
        step = float(np.median(np.diff(times))) if len(times) > 1 else 0.0
        steps.append(step)
        for part in _unbroken(samples, step):
            rows += [(str(job), writes, *interval) for interval in differences(part)]
    resolution = float(np.median([step for step in steps if step] or [0.0])) or None
    return gathered(rows, resolution)._replace(skipped=tuple(skipped))


def _result(file: Path) -> list[dict[str, Any]]:
    with reading(file, InvalidOption):
        try:
            document = json.loads(file.read_bytes())
        except ValueError as error:
            raise InvalidOption(f"{file}: is not valid JSON: {error}") from None
    data = document.get("data") if isinstance(document, dict) else None
    if not isinstance(data, dict) or data.get("resultType") != "matrix":
        raise InvalidOption(f"{file}: is no range of Prometheus; expected what /api/v1/query_range answers")
    return [entry for entry in data.get("result") or () if isinstance(entry, dict)]


def _samples(values: Any) -> list[tuple[float, float]]:
    pairs = ((float(time), float(value)) for time, value in values)
    return sorted(pair for pair in pairs if math.isfinite(pair[1]))


def _writes(metric: dict[str, str]) -> bool | None:
    words = " ".join([metric.get("__name__", ""), *(metric.get(each, "") for each in ("operation", "direction", "op"))])
    if "writ" in words:
        return True
    return False if "read" in words else None


def _unbroken(samples: list[tuple[float, float]], step: float) -> list[list[tuple[float, float]]]:
    parts: list[list[tuple[float, float]]] = [[]]
    for sample in samples:
        if parts[-1] and sample[0] - parts[-1][-1][0] > _LONG * step:
            parts.append([])
        parts[-1].append(sample)
    return parts


def _why(job: str | None, writes: bool | None, label: str | None) -> str:
    if job is None:
        return f"without the label {label or ' or '.join(LABELS[:2])}"
    return "that says neither read nor write" if writes is None else "without samples"


def _shown(metric: dict[str, str]) -> str:
    return ", ".join(f"{key}={value}" for key, value in sorted(metric.items()))[:80] or "no labels"
