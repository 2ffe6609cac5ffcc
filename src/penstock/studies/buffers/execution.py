"""Running a scenario with a burst buffer: the Python face of `penstock buffer` (P5 §7)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from penstock.engine.stepping import Progress
from penstock.engine.tier.execution import execute_tier
from penstock.errors import InvalidOption
from penstock.model import Scenario
from penstock.policies.buffering import Strategy, find
from penstock.policies.sharing import Sharing
from penstock.studies.buffers.bound import bounds, stretch_of
from penstock.studies.buffers.plan_ahead import plan_of
from penstock.studies.buffers.result import Buffered, Filling
from penstock.studies.buffers.script import script_of
from penstock.studies.buffers.split import Split
from penstock.studies.buffers.split import split as split_by


def buffer(
    scenario: Scenario,
    capacity: float,
    *,
    partition: str = "static",
    common: float | None = None,
    strategy: str | Strategy | Sharing | Callable[..., Any] = "fair",
    split: Split | None = None,
    timeline: bool = False,
    progress: Progress | None = None,
) -> Buffered:
    """Run `scenario` behind a buffer of `capacity` bytes, divided by the smallest buffer of a partition.

    `strategy` divides the bandwidth of the file system: one of `penstock.policies.buffering`, or a sharing policy,
    which knows nothing of the buffer. `split` saves sizing the smallest buffer again.

    >>> job = {"name": "a", "bandwidth": 4, "phases": [{"compute": 1}, {"write": 12}]}
    >>> document = {"version": 1, "platform": {"bandwidth": 1}, "applications": [job]}
    >>> buffer(Scenario.from_document(document), 3.0, partition="dynamic").max_stretch
    2.5
    """
    if not 0.0 <= capacity < np.inf:
        raise InvalidOption(f"the capacity is {capacity!r}; accepted is a number of bytes ≥ 0")
    capacity = float(capacity)
    chosen = strategy if isinstance(strategy, Sharing) else find(strategy)
    split = split or split_by(scenario, partition, common)
    traffic, space = split.traffic, split.space(capacity)
    script = script_of(scenario, space, float(split.common * capacity))
    plan = plan_of(split.schedule) if isinstance(chosen, Strategy) and chosen.plans else None
    run = execute_tier(script, traffic.limits, chosen, plan, names=traffic.names, record=timeline, progress=progress)
    stretch = stretch_of(run.completion, traffic)
    least = split.once(capacity, lambda: bounds(scenario, traffic, capacity))
    whole = split.partition == "dynamic"
    return Buffered(
        capacity=capacity,
        partition=split.partition,
        common=split.common,
        strategy=chosen.label if isinstance(chosen, Sharing) else chosen.name,
        names=traffic.names,
        shares=tuple(np.where(whole, capacity, space).tolist()),
        completion=tuple(run.completion.tolist()),
        stretch=tuple(stretch.tolist()),
        max_stretch=float(stretch.max()),
        mean_stretch=float(stretch.mean()),
        bound_max_stretch=least.max_stretch,
        bound_mean_stretch=least.mean_stretch,
        end=run.end,
        peak=run.peak,
        events=run.events,
        seconds=run.seconds,
        filling=Filling(run.time, run.output, run.input) if timeline else None,
    )
