"""A study of a burst buffer that everybody may use, without any parts: no smallest one need be found."""

from __future__ import annotations

import numpy as np

from penstock.engine.tier.execution import execute_tier
from penstock.metrics.losses import Lives
from penstock.model import Scenario
from penstock.policies.buffering import find
from penstock.studies.buffers.bound import stretch_of
from penstock.studies.buffers.script import Division, script_of
from penstock.studies.sizing.traffic import Traffic


def pooled(scenario: Scenario, capacity: float, strategy: str = "fair") -> Lives:
    """How applications fare behind `capacity` bytes for all; input is fetched from the release on.

    >>> jobs = [{"name": name, "bandwidth": 1, "phases": [{"compute": 1}, {"write": 4}]} for name in ("a", "b")]
    >>> two = Scenario.from_document({"version": 1, "platform": {"bandwidth": 1}, "applications": jobs})
    >>> pooled(two, 0.0).seconds.tolist(), pooled(two, 4.0).seconds.tolist()
    ([9.0, 9.0], [5.0, 5.0])
    """
    traffic = Traffic(scenario, 0.0)
    nothing = np.zeros(len(scenario.applications))
    script = script_of(scenario, Division(nothing, 0.0, float(capacity), 0.0))
    run = execute_tier(script, traffic.limits, find(strategy), None, names=traffic.names)
    seconds = run.ended - script.release
    yields = np.divide(run.achieved, seconds, out=np.ones_like(seconds), where=seconds > 0.0)
    stretch, cut = stretch_of(run.completion, traffic), np.isnan(run.completion)
    return Lives(traffic.names, script.nodes, seconds, run.achieved, yields, stretch, cut)
