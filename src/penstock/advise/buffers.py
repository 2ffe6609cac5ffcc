"""Advice: would a burst buffer pay? What jobs gain behind one of growing size, that all may use.

Sizes are given as the time that the file system takes to drain them, since that is what a buffer bridges.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from penstock.advise.estimate import DayBlocks, Estimate
from penstock.advise.machine import machine_fate, storage_bandwidth, with_capacity
from penstock.advise.runs import Fate
from penstock.advise.sample import Goal, read_both_ways, sample_days
from penstock.metrics.losses import HOUR
from penstock.model import Scenario
from penstock.studies.buffers.pool import pooled

STRATEGY = "fair"
LADDER = (10.0, 60.0, 300.0, 1800.0, 7200.0)  # seconds of the file system's bandwidth
ENOUGH = 0.9  # of what the largest gains
_NONE = "none"


@dataclass(frozen=True)
class BufferSize:
    """One capacity and what it gains over no buffer; `node_hours_gain` is per day, None where nodes are unknown."""

    capacity: float
    drain_seconds: float
    min_yield_gain: Estimate
    node_hours_gain: Estimate | None

    def gain(self, goal: Goal) -> Estimate:
        """In the goal."""
        return self.node_hours_gain if goal == "node-hours" and self.node_hours_gain else self.min_yield_gain

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "capacity": self.capacity,
            "drain_seconds": self.drain_seconds,
            "min_yield_gain": self.min_yield_gain.to_dict(),
            "node_hours_gain": self.node_hours_gain and self.node_hours_gain.to_dict(),
        }


@dataclass(frozen=True)
class BufferAnswer:
    """All sizes, and the smallest that gains nearly all that the largest does; None if none gains anything."""

    goal: Goal
    sizes: tuple[BufferSize, ...]

    @property
    def chosen(self) -> BufferSize | None:
        """The smallest size that is worth nearly as much as the largest."""
        most = self.sizes[-1].gain(self.goal)
        if most.sign <= 0:
            return None
        return next(
            size
            for size in self.sizes
            if size.gain(self.goal).sign > 0 and size.gain(self.goal).value >= ENOUGH * most.value
        )

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        chosen = self.chosen
        shown = chosen or self.sizes[-1]
        return {
            "strategy": STRATEGY,
            "goal": self.goal,
            "verdict": "better" if chosen else "no evidence",
            "capacity": chosen and chosen.capacity,
            "min_yield_gain": shown.min_yield_gain.to_dict(),
            "node_hours_gain": shown.node_hours_gain and shown.node_hours_gain.to_dict(),
            "sizes": [size.to_dict() for size in self.sizes],
        }


def buffer_answer(
    readings: Sequence[Scenario], days: DayBlocks, goal: Goal, nodes_known: bool, overloaded: bool, sharing: str
) -> BufferAnswer:
    """What buffers of the sizes of the ladder give, in all readings of the site.

    A scenario with a plan is run as a whole machine, with `sharing` on every resource.
    """
    bandwidth = storage_bandwidth(readings[0]) or 0.0
    sample = read_both_ways([sample_days(_fates(each, bandwidth, sharing), days) for each in readings], overloaded)
    sizes = tuple(
        BufferSize(
            each * bandwidth,
            each,
            sample.gain("min-yield", str(each), _NONE),
            sample.gain("node-hours", str(each), _NONE) if nodes_known else None,
        )
        for each in LADDER
    )
    return BufferAnswer(goal, sizes)


def _fates(scenario: Scenario, bandwidth: float, sharing: str) -> dict[str, Fate]:
    sizes = {_NONE: 0.0} | {str(each): each * bandwidth for each in LADDER}
    return {name: _fate(scenario, capacity, sharing) for name, capacity in sizes.items()}


def _fate(scenario: Scenario, capacity: float, sharing: str) -> Fate:
    if scenario.plan is not None:
        return machine_fate(scenario, with_capacity(scenario, capacity), sharing)
    lives = pooled(scenario, capacity, STRATEGY)
    progress = np.where(lives.cut, 0.0, lives.progress)
    return Fate(lives.yields, lives.nodes * (lives.seconds - progress) / HOUR, lives.seconds)
