"""The engine against the loop in C and against SimGrid: the same instances, the same results, how much time."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.instance import write_instance
from benchmarks.peers.build import build_peer, missing, run_peer
from benchmarks.rows import Row
from benchmarks.timing import peer_seconds, race
from penstock import generate
from penstock.engine.link.execution import Run, execute
from penstock.engine.program import Program
from penstock.policies.sharing import find
from penstock.policies.sharing.policy import Outlook
from penstock.studies.study import Study

SEED, PRESSURE = 1, 1.1


class Size(NamedTuple):
    """How large an instance, how often each contender runs it, and how often a C loop repeats it each time."""

    applications: int
    horizon: float
    rounds: int
    repeats: int = 1


# With the usual horizon of 2e6 s the C loop needs almost four minutes for 6,000 applications.
FULL = (Size(60, 2e6, 15, 5), Size(600, 2e6, 3), Size(6000, 6e5, 2))
QUICK = (Size(60, 3e5, 3, 5), Size(600, 1e5, 2), Size(6000, 3e4, 1))
# Between 3e5 s and 5e5 s two events of this instance fall so close together that the tolerance decides, and SimGrid has
# another one: from there on its run differs.
SHORT_WINDOW = 2e5


def study_of(applications: int, horizon: float) -> Study:
    """The synthetic workload of P1 §6.2.1 in the size asked for."""
    return Study(
        generate(
            "synthetic", SEED, pressure=PRESSURE, applications=applications, small=applications // 3, horizon=horizon
        )
    )


def engine_rows(quick: bool) -> list[Row]:
    """Fair-share in all sizes against all peers that this machine can build."""
    small, medium, large = QUICK if quick else FULL
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "instance"
        return [
            *_ratios(small, file, {"fluid": 2.0, "fluid-simd": None, "simgrid": 20.0}),
            *_agreement(small, file),
            *_ratios(medium, file, {"fluid": None}),
            *_ratios(large, file, {"fluid": 0.15}),
        ]


def _ratios(size: Size, file: Path, promises: dict[str, float | None]) -> list[Row]:
    """One row per peer; a promise is how long the engine may take, or how much faster than SimGrid it must be."""
    study = study_of(size.applications, size.horizon)
    write_instance(study.program, file)
    outlook, policy = study.outlook, find("fair-share")
    events = execute(study.program, policy, outlook).events
    contenders: dict[str, Callable[[], float]] = {"engine": lambda: execute(study.program, policy, outlook).seconds}
    reasons = {name: missing(name) for name in promises}
    for name, reason in reasons.items():
        if reason is None:
            repeats = 1 if name == "simgrid" else size.repeats
            contenders[name] = partial(peer_seconds, build_peer(name), file, repeats)
    best = race(contenders, size.rounds)
    title = f"{size.applications:,} applications, {events:,} events"
    return [_ratio(title, name, promise, best, reasons[name]) for name, promise in promises.items()]


def _ratio(title: str, name: str, promise: float | None, best: dict[str, float], reason: str | None) -> Row:
    what = f"{title}: against {name}"
    faster = name == "simgrid"
    unit, most, least = ("× faster", None, promise) if faster else ("×", promise, None)
    if reason is not None:
        return Row(what, None, unit, most, least, reason)
    ratio = best[name] / best["engine"] if faster else best["engine"] / best[name]
    return Row(what, ratio, unit, most, least, f"{_seconds(best['engine'])} to {_seconds(best[name])}")


def _agreement(size: Size, file: Path) -> list[Row]:
    """How far events and progress of the peers are from ours in a short window, where results must be the same."""
    program = study_of(size.applications, size.horizon).program._replace(end=SHORT_WINDOW)
    write_instance(program, file)
    run = execute(program, find("fair-share"), Outlook(program.begin, program.end, program.work.size))
    rows = []
    for name in ("fluid", "simgrid"):
        what = f"{size.applications} applications, {SHORT_WINDOW:,.0f} s: difference to {name}"
        if reason := missing(name):
            rows.append(Row(what, None, "", 1e-9, note=reason))
        else:
            peer = run_peer(build_peer(name), file, 1)
            rows.append(Row(what, _difference(program, run, peer.events, peer.progress), "", 1e-9))
    return rows


def _difference(program: Program, run: Run, events: int, progress: np.ndarray) -> float:
    """The largest relative difference of the number of events and of anyone's progress."""
    ours = program.progress + run.compute_done + run.io_seconds
    return max(abs(run.events / events - 1.0), float(np.max(np.abs(ours - progress) / np.maximum(ours, 1.0))))


def _seconds(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 1.0 else f"{1e3 * seconds:.1f} ms"
