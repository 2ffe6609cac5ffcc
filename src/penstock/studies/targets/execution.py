"""A study of targets runs an arrangement: how applications fared until the first of them ended (P4 §2.3), or in all."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from penstock.engine.dedicated import dedicated
from penstock.engine.stepping import Progress
from penstock.engine.targets.execution import TargetRun, execute_on_targets
from penstock.engine.targets.stripes import Stripes, stripes_of
from penstock.kernels.arrays import Floats
from penstock.policies.sharing.policy import Outlook, Sharing
from penstock.studies.target_words import FIRST
from penstock.studies.targets.arrangement import Arrangement
from penstock.studies.targets.site import Site


class TargetsOutcome(NamedTuple):
    """What came of a run: per application its slowdown (NaN if it moved nothing), and the two objectives."""

    run: TargetRun
    interval: str  # where metrics stop
    io_slowdown: Floats
    machine_idletime: float

    @property
    def mean_io_slowdown(self) -> float | None:
        """Over those that moved something."""
        moved = self.io_slowdown[~np.isnan(self.io_slowdown)]
        return float(moved.mean()) if moved.size else None


def fare(
    site: Site,
    arrangement: Arrangement,
    policy: Sharing,
    interval: str | None = None,
    progress: Progress | None = None,
) -> TargetsOutcome:
    """Let the applications run on their targets."""
    demand, option, watched = site.demand, arrangement.option, site.watched(interval)
    count = demand.count[option]
    peak = demand.bandwidth[option] / count
    stripes = stripes_of(count, arrangement.places, peak, demand.limit, policy, site.efficiency)
    run = execute_on_targets(
        site.program,
        stripes,
        [target.name for target in site.targets],
        policy,
        _outlook(site, stripes),
        site.foresight if policy.prepare else None,
        progress,
        deadline=site.deadline,
        first=watched == FIRST,
    )
    best = demand.bandwidth[demand.fastest]
    slowdown = np.divide(run.io_seconds * best, run.moved, out=np.full(best.size, np.nan), where=run.moved > 0.0)
    computing = float(demand.nodes @ run.compute_done) / (demand.machine * (run.end - site.program.begin))
    return TargetsOutcome(run, watched, slowdown, 1.0 - computing)


def _outlook(site: Site, stripes: Stripes) -> Outlook:
    """What policies may know before the start: in a window, how many operations everybody would start alone."""
    program = site.program
    if not program.windowed:
        return Outlook(program.begin, program.end, program.volume.size)
    alone = program._replace(limit=np.repeat(1.0 / stripes.alone, np.diff(program.first)))
    return Outlook(program.begin, program.end, int(dedicated(alone).started.sum()))
