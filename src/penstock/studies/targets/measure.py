"""From a run to the allotment that users see."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from penstock.kernels.arrays import Ints
from penstock.studies.targets.arrangement import Arrangement, shares_of_time, target_stress
from penstock.studies.targets.execution import TargetsOutcome
from penstock.studies.targets.result import Allotment, Striped, TargetUse
from penstock.studies.targets.site import Site


def measured(
    site: Site, arrangement: Arrangement, fared: TargetsOutcome, out: Sequence[int] | Ints, **names: Any
) -> Allotment:
    """The allotment that came of it; `out` are targets that are not in service, `names` says how it was decided."""
    demand, run = site.demand, fared.run
    serving = np.ones(demand.targets, dtype=bool)
    serving[np.asarray(out, dtype=np.int64)] = False
    carried = target_stress(demand, arrangement)
    scale = demand.targets / int(serving.sum())
    return Allotment(
        load=demand.load(arrangement.option) * scale,
        least_load=demand.load(demand.lightest) * scale,
        interval=run.end,
        mean_io_slowdown=fared.mean_io_slowdown,
        machine_idletime=fared.machine_idletime,
        imbalance=float(np.ptp(carried[serving])),
        events=run.events,
        seconds=run.seconds,
        applications=_applications(site, arrangement, fared),
        targets=tuple(
            TargetUse(
                name=target.name,
                limit=target.bandwidth,
                applications=int(np.count_nonzero(arrangement.places == i)),
                stress=float(carried[i]),
                busy=float(run.busy[i] / run.end),
                in_service=bool(serving[i]),
            )
            for i, target in enumerate(site.targets)
        ),
        **names,
    )


def _applications(site: Site, arrangement: Arrangement, fared: TargetsOutcome) -> tuple[Striped, ...]:
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
        )
        for i, (name, places) in enumerate(zip(demand.names, arrangement.of_each(demand), strict=True))
    )
