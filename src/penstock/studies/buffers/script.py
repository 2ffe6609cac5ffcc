"""A scenario as the loop with a burst buffer reads it."""

from __future__ import annotations

import numpy as np

from penstock.engine.compile import listed
from penstock.engine.tier.arrays import COMPUTING, READING, WRITING, Script
from penstock.kernels.arrays import Floats
from penstock.model import Scenario
from penstock.model.trace import READ, WRITE
from penstock.studies.sizing.traffic import caps_of

_KINDS = np.array([COMPUTING, READING, WRITING])  # in the order of the model's codes


def script_of(scenario: Scenario, space: Floats, common: float) -> Script:
    """All phases that are not empty; `space` is each application's part of the buffer, `common` the one for all."""
    kinds, amounts, starts, stops, read, written = [], [], [], [], [], []
    caps = np.array([caps_of(application, scenario) for application in scenario.applications])
    for index, application in enumerate(scenario.applications):
        kind, amount = listed(application, index, scenario)
        filled = amount > 0.0
        kind, amount = kind[filled], amount[filled]
        stop = np.cumsum(amount / np.array([1.0, *caps[index]])[kind])
        kinds.append(_KINDS[kind])
        amounts.append(amount)
        starts.append(np.concatenate([[0.0], stop[:-1]]))
        stops.append(stop)
        read.append(np.cumsum(np.where(kind == READ, amount, 0.0)))
        written.append(np.cumsum(np.where(kind == WRITE, amount, 0.0)))
    return Script(
        first=np.cumsum([0] + [amount.size for amount in amounts]),
        kind=np.concatenate(kinds),
        amount=np.concatenate(amounts),
        starts=np.concatenate(starts),
        stops=np.concatenate(stops),
        read=np.concatenate(read),
        written=np.concatenate(written),
        nodes=np.array([float(application.nodes) for application in scenario.applications]),
        release=np.array([application.release for application in scenario.applications], dtype=np.float64),
        read_cap=np.ascontiguousarray(caps[:, 0]),
        write_cap=np.ascontiguousarray(caps[:, 1]),
        space=np.asarray(space, dtype=np.float64),
        common=common,
        begin=min(application.release for application in scenario.applications),
    )
