"""What a study of targets measures: from a run to the allotment that users see."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from penstock.kernels.arrays import SAME, Bools, Floats, Ints
from penstock.metrics.losses import Lives, RunLosses, losses_of
from penstock.studies.targets.arrangement import Arrangement, shares_of_time, target_stress
from penstock.studies.targets.execution import TargetsOutcome
from penstock.studies.targets.result import Allotment, Striped, TargetUse
from penstock.studies.targets.site import Site


class _Lives(NamedTuple):
    """How long each was there and how far it got; bytes count at b(n_perf), whatever number of targets it had."""

    there: Bools  # False: it would have started when the run was over
    seconds: Floats  # in the run
    progress: Floats  # in the run, seconds of work alone
    yields: Floats  # over its whole life
    stretch: Floats  # NaN: not finished


def measured(
    site: Site, arrangement: Arrangement, fared: TargetsOutcome, out: Sequence[int] | Ints, **names: Any
) -> Allotment:
    """The allotment that came of it; `out` are targets that are not in service, `names` says how it was decided."""
    demand, run, lives = site.demand, fared.run, _lives(site, fared)
    interval = run.end - site.program.begin
    serving = np.ones(demand.targets, dtype=bool)
    serving[np.asarray(out, dtype=np.int64)] = False
    carried = target_stress(demand, arrangement)
    users = np.bincount(arrangement.places, minlength=demand.targets)
    scale = demand.targets / int(serving.sum())
    return Allotment(
        **vars(_losses(site, fared, lives)),
        load=demand.load(arrangement.option) * scale,
        least_load=demand.load(demand.lightest) * scale,
        until=fared.interval,
        interval=interval,
        mean_io_slowdown=fared.mean_io_slowdown,
        machine_idletime=fared.machine_idletime,
        imbalance=float(np.ptp(carried[serving])),
        events=run.events,
        seconds=run.seconds,
        applications=_applications(site, arrangement, fared, lives),
        targets=tuple(
            TargetUse(
                name=target.name,
                limit=target.bandwidth,
                applications=int(users[i]),
                stress=float(carried[i]),
                busy=float(run.busy[i] / interval),
                in_service=bool(serving[i]),
            )
            for i, target in enumerate(site.targets)
        ),
        **names,
    )


def _lives(site: Site, fared: TargetsOutcome) -> _Lives:
    program, run = site.program, fared.run
    start = program.start - run.origin
    progress = run.compute_done + run.moved / site.demand.bandwidth[site.demand.fastest]
    age = run.until + (run.origin - program.release)
    made = program.progress + progress
    return _Lives(
        there=start < (run.end - run.origin) * (1.0 - SAME),
        seconds=np.maximum(0.0, run.until - start),
        progress=progress,
        yields=np.divide(made, age, out=np.zeros_like(made), where=age > 0.0),
        stretch=np.where(run.completed, age / (site.dedicated + program.progress), np.nan),
    )


def _losses(site: Site, fared: TargetsOutcome, lives: _Lives) -> RunLosses:
    """Of those who took part."""
    there = np.flatnonzero(lives.there)
    return losses_of(
        Lives(
            [site.demand.names[i] for i in there],
            site.demand.nodes[there],
            lives.seconds[there],
            lives.progress[there],
            lives.yields[there],
            lives.stretch[there],
            fared.run.cut[there],
        )
    )


def _applications(site: Site, arrangement: Arrangement, fared: TargetsOutcome, lives: _Lives) -> tuple[Striped, ...]:
    demand, option, run = site.demand, arrangement.option, fared.run
    rho_io = demand.bandwidth[demand.fastest] / demand.bandwidth[option]
    none = np.isnan(fared.io_slowdown)
    shares = np.split(shares_of_time(demand, arrangement), np.cumsum(demand.count[option])[:-1])
    return tuple(
        Striped(
            name=name,
            nodes=int(demand.nodes[i]),
            count=int(demand.count[option[i]]),
            targets=tuple(places.tolist()),
            bandwidth=float(demand.bandwidth[option[i]]),
            stress=float(demand.stress[option[i]]),
            shares=tuple(shares[i].tolist()),
            io_slowdown=None if none[i] else float(fared.io_slowdown[i]),
            rho_io=float(rho_io[i]),
            rho_con=None if none[i] else float(fared.io_slowdown[i] / rho_io[i]),
            io_seconds=float(run.io_seconds[i]),
            moved=float(run.moved[i]),
            compute_done=float(run.compute_done[i]),
            start=float(site.program.start[i]),
            completion=float(run.origin + run.until[i]) if run.completed[i] else None,
            stretch=float(lives.stretch[i]) if run.completed[i] else None,
            yield_=float(lives.yields[i]) if lives.there[i] else None,
            cut=bool(run.cut[i]),
        )
        for i, (name, places) in enumerate(zip(demand.names, arrangement.of_each(demand), strict=True))
    )
