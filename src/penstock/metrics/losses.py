"""What is lost to waiting: node-hours, and who suffers most. It holds for jobs that come and go (models §8).

With arrivals most applications are absent most of the time, so shares of the whole window say nothing. Everybody counts
for as long as they were there: from release or the begin of the run to completion, cut-off or the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from penstock.kernels.arrays import SAME, Bools, Floats

HOUR = 3600.0


@dataclass(frozen=True, kw_only=True)
class RunLosses:
    """Of one run. None: nobody took part, or nobody finished."""

    node_hours_lost: float  # nodes · (time there - progress made), of those cut off by their walltime all time there
    node_hours_used: float  # nodes · time there
    lost_share: float | None  # the first over the second
    worst: str | None  # the first in the scenario of those with the lowest yield
    mean_yield: float | None  # weighted by nodes · time there
    p95_stretch: float | None  # of the finished
    unfinished: int


class Lives(NamedTuple):
    """Applications in the order of the scenario, those that took part in the run only; one entry for each."""

    names: Sequence[str]
    nodes: Floats
    seconds: Floats  # there, in the run
    progress: Floats  # made in the run, seconds of work alone
    yields: Floats  # over the whole life
    stretch: Floats  # NaN: not finished
    cut: Bools  # cut off by the walltime


def losses_of(lives: Lives) -> RunLosses:
    """What these applications lost."""
    if not len(lives.names):
        nothing = {"lost_share": None, "worst": None, "mean_yield": None, "p95_stretch": None}
        return RunLosses(node_hours_lost=0.0, node_hours_used=0.0, unfinished=0, **nothing)
    there = lives.nodes * lives.seconds
    lost = lives.nodes * np.where(lives.cut, lives.seconds, lives.seconds - lives.progress)
    used, finished = float(there.sum()), lives.stretch[~np.isnan(lives.stretch)]
    return RunLosses(
        node_hours_lost=float(lost.sum()) / HOUR,
        node_hours_used=used / HOUR,
        lost_share=float(lost.sum()) / used if used > 0.0 else None,
        worst=lives.names[int(np.argmax(lives.yields <= (1.0 + SAME) * lives.yields.min()))],
        mean_yield=float(there @ lives.yields) / used if used > 0.0 else None,
        p95_stretch=float(np.percentile(finished, 95)) if finished.size else None,
        unfinished=len(lives.names) - finished.size,
    )
