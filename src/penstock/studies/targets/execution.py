"""Running an arrangement, and how the applications fared until the first of them ended (P4 §2.3)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from penstock.engine.stepping import Progress
from penstock.engine.targets.execution import TargetRun, execute_on_targets
from penstock.engine.targets.stripes import stripes_of
from penstock.kernels.arrays import Floats
from penstock.policies.sharing.policy import Sharing
from penstock.studies.targets.arrangement import Arrangement
from penstock.studies.targets.site import Site


class TargetsOutcome(NamedTuple):
    """What came of a run: per application its slowdown (NaN if it moved nothing), and the two objectives."""

    run: TargetRun
    io_slowdown: Floats
    machine_idletime: float

    @property
    def mean_io_slowdown(self) -> float | None:
        """Over those that moved something."""
        moved = self.io_slowdown[~np.isnan(self.io_slowdown)]
        return float(moved.mean()) if moved.size else None


def fare(site: Site, arrangement: Arrangement, policy: Sharing, progress: Progress | None = None) -> TargetsOutcome:
    """Let the applications run on their targets."""
    demand, option = site.demand, arrangement.option
    count = demand.count[option]
    stripes = stripes_of(count, arrangement.places, demand.bandwidth[option] / count, demand.limit, policy)
    names = [target.name for target in site.targets]
    foresight = site.foresight if policy.prepare else None
    run = execute_on_targets(site.program, stripes, names, policy, foresight, progress)
    best = demand.bandwidth[demand.fastest]
    slowdown = np.divide(run.io_seconds * best, run.moved, out=np.full(best.size, np.nan), where=run.moved > 0.0)
    computing = float(demand.nodes @ run.compute_done) / (demand.machine * run.end)
    return TargetsOutcome(run, slowdown, 1.0 - computing)
