"""`sacct --json`: jobs with their steps inside. Numbers are bare or, since Slurm 23, {"set", "infinite", "number"}."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from penstock.errors import InvalidOption
from penstock.files import reading
from penstock.traces.columns import Coded, arrow
from penstock.traces.slurm.folding import Rows

_LARGEST = 2_000_000_000


def read_json(path: Path) -> tuple[Rows, int]:
    """A row per job; steps are summed here, so that none is left to fold. Entries that are no jobs are counted."""
    with reading(path, InvalidOption):
        if path.stat().st_size > _LARGEST:
            raise InvalidOption(f"{path}: has {path.stat().st_size:,} bytes; of so many jobs take sacct -P")
        try:
            document = json.loads(path.read_bytes())
        except ValueError as error:
            raise InvalidOption(f"{path}: is not valid JSON: {error}") from None
    listed = document.get("jobs") if isinstance(document, dict) else None
    if not isinstance(listed, list):
        raise InvalidOption(f"{path}: has no list of jobs; expected what sacct --json prints")
    jobs = [job for job in listed if isinstance(job, dict) and _number(job.get("job_id")) > 0]
    return _rows(jobs), len(listed) - len(jobs)


def _rows(jobs: list[dict[str, Any]]) -> Rows:
    times = [job.get("time") or {} for job in jobs]
    het = [job.get("het") or {} for job in jobs]
    return Rows(
        base=_coded(map(_id, jobs)),
        raw=_coded(f"{_number(job['job_id']):.0f}" for job in jobs),
        user=_coded(str(job.get("user") or "") for job in jobs),
        name=_coded(str(job.get("name") or "") for job in jobs),
        state=_coded(map(_state, jobs)),
        step=np.zeros(len(jobs), bool),
        part=np.array(
            [int(_number(each.get("job_offset"))) if _number(each.get("job_id")) > 0 else -1 for each in het]
        ),
        start=_instants(time.get("start") for time in times),
        end=_instants(time.get("end") for time in times),
        elapsed=np.array([_number(time.get("elapsed"), np.nan) for time in times]),
        nodes=np.array([int(_number(job.get("allocation_nodes"))) for job in jobs], np.int64),
        read=np.array([_moved(job, "requested") for job in jobs]),
        written=np.array([_moved(job, "consumed") for job in jobs]),
        summed=np.ones(len(jobs), bool),
    )


def _id(job: dict[str, Any]) -> str:
    """As sacct prints it: tasks of arrays by their array, parts of heterogeneous jobs by the first."""
    array, het = job.get("array") or {}, job.get("het") or {}
    if _number(het.get("job_id")) > 0:
        return f"{_number(het['job_id']):.0f}"
    task = array.get("task_id")
    if _number(array.get("job_id")) > 0 and _number(task, -1.0) >= 0:
        return f"{_number(array['job_id']):.0f}_{_number(task):.0f}"
    return f"{_number(job['job_id']):.0f}"


def _state(job: dict[str, Any]) -> str:
    state = job.get("state") or {}
    current = state.get("current") if isinstance(state, dict) else state
    return str(current[0] if isinstance(current, list) and current else current or "")


def _moved(job: dict[str, Any], way: str) -> float:
    """Bytes over all steps. TRESUsageIn is printed as "requested", TRESUsageOut as "consumed"."""
    total, known = 0.0, False
    for step in job.get("steps") or ():
        for entry in ((step.get("tres") or {}).get(way) or {}).get("total") or ():
            if (entry.get("type"), entry.get("name")) == ("fs", "disk"):
                total, known = total + _number(entry.get("count")), True
    return total if known else np.nan


def _number(value: Any, missing: float = 0.0) -> float:
    if isinstance(value, dict):
        value = value.get("number") if value.get("set", True) else None
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else missing


def _instants(values: Iterable[Any]) -> Any:
    seconds = np.array([_number(value) for value in values])
    return np.where(seconds > 0, seconds, np.nan)


def _coded(texts: Iterable[str]) -> Coded:
    listed = list(texts)
    known = {text: code for code, text in enumerate(dict.fromkeys(listed))}
    return arrow().array(list(known), arrow().string()), np.array([known[text] for text in listed], np.int64)
