"""A scenario as a study of burst buffers gives it to the loop."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from penstock.engine.compile import listed
from penstock.engine.tier.arrays import COMPUTING, READING, WRITING, Script
from penstock.kernels.arrays import Floats
from penstock.model import Scenario
from penstock.model.trace import READ, WRITE
from penstock.studies.sizing.traffic import caps_of

_KINDS = np.array([COMPUTING, READING, WRITING])  # in the order of the model's codes


class Division(NamedTuple):
    """Who has what of the buffer, from when on."""

    whole: Floats  # each application's own part
    device: float  # what these parts have together at a time
    common: float  # the part that anybody may use
    lead: float = math.inf  # how long before its release an application enters
    waits: bool = False  # whether it starts only when there is room for its whole part


def no_buffer(scenario: Scenario) -> Division:
    """Nobody has anything."""
    return Division(np.zeros(len(scenario.applications)), 0.0, 0.0)


def script_of(scenario: Scenario, division: Division) -> Script:
    """All phases that are not empty, and what each application may use of the buffer."""
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
    release = np.array([application.release for application in scenario.applications], dtype=np.float64)
    limit = np.array([math.inf if each.walltime is None else each.walltime for each in scenario.applications])
    return Script(
        first=np.cumsum([0] + [amount.size for amount in amounts]),
        kind=np.concatenate(kinds),
        amount=np.concatenate(amounts),
        starts=np.concatenate(starts),
        stops=np.concatenate(stops),
        read=np.concatenate(read),
        written=np.concatenate(written),
        nodes=np.array([float(application.nodes) for application in scenario.applications]),
        release=release,
        read_cap=np.ascontiguousarray(caps[:, 0]),
        write_cap=np.ascontiguousarray(caps[:, 1]),
        whole=np.asarray(division.whole, dtype=np.float64),
        entry=release if division.waits else np.maximum(0.0, release - division.lead),
        cut=release + limit,
        order=np.argsort(release, kind="stable"),
        device=division.device,
        common=division.common,
        efficiency=np.array(scenario.platform.interference or (), dtype=np.float64),
        begin=float(release.min()),
        waits=int(division.waits),
    )
