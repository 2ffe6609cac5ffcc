"""Whole runs under each policy against fair-share, on the same instance of 60 applications."""

from __future__ import annotations

from functools import partial

from benchmarks.engine import study_of
from benchmarks.rows import Row
from benchmarks.timing import race
from penstock.engine.link.execution import Run, execute
from penstock.policies.sharing import find
from penstock.studies.study import Study

PROMISES = {
    "fcfs": 1.5,
    "greedy-com": 1.5,
    "greedy-yield": 1.5,
    "lookahead-greedy-yield": 3.0,
    "periodic-greedy-yield": 3.0,
    "set-10": 4.0,
    "best-next-event": 100.0,
    "credited-yield": 1.5,
    "annealed-credit": 1.5,
    "loss-capped-srpt": 3.0,
    "reserve-credit": 3.0,
    "reserve-srpt": 3.0,
    "steady-reserve": 4.0,
    "list-fifo": 1.5,
    "list-most-remaining": 1.5,
    "list-bandwidth": 1.5,
}


def policy_rows(quick: bool) -> list[Row]:
    """How many times as long as fair-share each policy takes; decisions included, metrics not."""
    study = study_of(60, 3e5 if quick else 2e6)
    names = ["fair-share", *PROMISES]
    events = {name: _run(study, name).events for name in names}
    best = race({name: partial(_seconds, study, name) for name in names}, 2 if quick else 12)
    rows = []
    for name, promise in PROMISES.items():
        note = f"{events[name]:,} events, {1e9 * best[name] / events[name]:,.0f} ns each"
        rows.append(Row(f"{name} against fair-share", best[name] / best["fair-share"], "×", promise, note=note))
    return rows


def _seconds(study: Study, name: str) -> float:
    return _run(study, name).seconds


def _run(study: Study, name: str) -> Run:
    return execute(study.program, find(name), study.outlook, study.foresight)
