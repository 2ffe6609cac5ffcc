"""Running a scenario with a burst buffer: the Python face of `penstock buffer` (P5 §7)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from penstock.buffering import Strategy, find
from penstock.buffers.bound import least_stretch
from penstock.buffers.planning import plan_of
from penstock.buffers.result import Buffered, Filling
from penstock.buffers.script import script_of
from penstock.buffers.split import Split
from penstock.buffers.split import split as split_by
from penstock.engine.program import Floats
from penstock.engine.stepping import Progress
from penstock.engine.tier import Script
from penstock.engine.tier_run import execute_tier
from penstock.errors import InvalidOption
from penstock.model import Scenario
from penstock.sharing import Sharing
from penstock.sizing.traffic import Traffic


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

    `strategy` divides the bandwidth of the file system: one of `penstock.buffering`, or a sharing policy, which knows
    nothing of the buffer. `split` saves sizing the smallest buffer again.

    >>> job = {"name": "a", "bandwidth": 4, "phases": [{"compute": 1}, {"write": 12}]}
    >>> document = {"version": 1, "platform": {"bandwidth": 1}, "applications": [job]}
    >>> buffer(Scenario.from_document(document), 3.0, partition="dynamic").max_stretch
    2.5
    """
    if not 0.0 <= capacity < np.inf:
        raise InvalidOption(f"the capacity is {capacity!r}; accepted is a number of bytes ≥ 0")
    chosen = strategy if isinstance(strategy, Sharing) else find(strategy)
    split = split or split_by(scenario, partition, common)
    traffic, space = split.traffic, split.space(capacity)
    script = script_of(scenario, space, split.common * capacity)
    plan = plan_of(split.schedule) if isinstance(chosen, Strategy) and chosen.plans else None
    run = execute_tier(script, traffic.limits, chosen, plan, names=traffic.names, record=timeline, progress=progress)
    stretch = stretch_of(run.completion, traffic)
    alone = alone_stretch(script, traffic, capacity)
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
        bound_max_stretch=max(float(alone.max()), least_stretch(traffic, capacity)),
        bound_mean_stretch=float(alone.mean()),
        end=run.end,
        events=run.events,
        seconds=run.seconds,
        filling=Filling(run.time, run.output, run.input) if timeline else None,
    )


def stretch_of(completion: Floats, traffic: Traffic) -> Floats:
    """How many times as long as alone; who does nothing at all takes no longer."""
    alone = traffic.completion - traffic.release
    taken = completion - traffic.release
    return np.divide(taken, alone, out=np.ones_like(taken), where=alone > 0.0)


def alone_stretch(script: Script, traffic: Traffic, capacity: float) -> Floats:
    """The stretch of each application if it had the file system and all of the buffer to itself."""
    completion = np.empty(script.release.size)
    for k in range(completion.size):
        own, one = slice(script.first[k], script.first[k + 1]), slice(k, k + 1)
        phases = ("kind", "amount", "starts", "stops", "read", "written")
        alone = Script(
            first=np.array([0, own.stop - own.start]),
            **{name: getattr(script, name)[own] for name in phases},
            **{name: getattr(script, name)[one] for name in ("nodes", "read_cap", "write_cap", "release")},
            space=np.array([capacity]),
            common=0.0,
        )
        completion[k] = execute_tier(alone, traffic.limits, find("fair"), names=traffic.names[one]).completion[0]
    return stretch_of(completion, traffic)
