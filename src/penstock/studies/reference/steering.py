"""Steering in a search for a reference: a schedule as offsets, by application and time, that runs like a policy.

The key is that of a reserve credit, plus the offset in seconds of progress: who has a large one waits, who has a very
negative one goes first. With all offsets 0 it is close to `reserve-credit`; with the right ones it is any order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from penstock.kernels.arrays import SAME, Floats, FloatTable
from penstock.kernels.compile import total
from penstock.policies.sharing.foresight import Foresight
from penstock.policies.sharing.order import fill
from penstock.policies.sharing.policy import Outlook, Sharing, sharing
from penstock.policies.sharing.rules import NO_AGE, NO_LOSS
from penstock.policies.sharing.view import View

_CREDIT = 1.3


class SteeringPlan(NamedTuple):
    """`offsets` has a row for each stretch of `seconds` and a column for each application; the last row stays."""

    seconds: float
    horizon: float  # until when a loss can be made good, in seconds from the begin
    offsets: FloatTable


@sharing("steered", source="ours", losses=True, seconds=1.0, horizon=1.0, stretches=1.0)
def steered(view: View, rates: Floats) -> None:
    """Fill greedily, lowest yield first, with a credit for a large share of what waits and the offsets of a plan."""
    stretches = int(view.settings[2])
    applications = view.memory.size // stretches
    stretch = min(int(view.now * (1.0 + SAME) / view.settings[0]), stretches - 1)
    credit = _CREDIT * view.mean_loss * max(0.0, view.settings[1] - view.now)
    if view.mean_loss < NO_LOSS:
        credit = 0.0
    waiting = total(view.remaining, rates.size)
    for row in range(rates.size):
        age = max(view.now - view.release[row], NO_AGE)
        offset = view.memory[stretch * applications + view.application[row]]
        view.key[row] = (view.progress[row] + credit * view.remaining[row] / waiting + offset) / age
    fill(view, rates)


def steer(plans: Mapping[tuple[str, ...], SteeringPlan], label: str) -> Sharing:
    """A policy that keeps to a plan for each group of applications that share a bandwidth, by their names."""

    def prepare(foresight: Foresight, settings: Mapping[str, float]) -> Floats:
        return np.ascontiguousarray(plans[tuple(foresight.names)].offsets).ravel()

    def ticks(outlook: Outlook, settings: Mapping[str, float]) -> float:
        return settings["seconds"]

    first = next(iter(plans.values()))
    settings = {"seconds": first.seconds, "horizon": first.horizon, "stretches": float(len(first.offsets))}
    return replace(steered, name=label, prepare=prepare, ticks=ticks, settings=settings, defaults=settings)
