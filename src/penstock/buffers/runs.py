"""Running a scenario with a burst buffer: the Python face of `penstock buffer` (P5 §7)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from penstock.buffering import Strategy, find
from penstock.buffers.bound import least_stretch
from penstock.buffers.result import Buffered, Filling
from penstock.buffers.script import script_of
from penstock.engine.program import Floats
from penstock.engine.stepping import Progress
from penstock.engine.tier import Script
from penstock.engine.tier_run import execute_tier
from penstock.errors import InvalidOption
from penstock.model import Scenario
from penstock.sharing import Sharing
from penstock.sizing.traffic import Limits, Traffic


def buffer(
    scenario: Scenario,
    capacity: float,
    shares: Mapping[str, float],
    strategy: str | Strategy | Sharing | Callable[..., Any] = "fair",
    *,
    timeline: bool = False,
    progress: Progress | None = None,
) -> Buffered:
    """Run `scenario` behind a buffer of `capacity` bytes; `shares` are S_k/S, parts of it by name."""
    traffic = Traffic(scenario)
    if not 0.0 <= capacity < np.inf:
        raise InvalidOption(f"the capacity is {capacity!r}; accepted is a number of bytes ≥ 0")
    if missing := [name for name in traffic.names if name not in shares]:
        raise InvalidOption(f"there is no share for application {missing[0]!r}; every one must have one, if it is 0")
    space = capacity * np.array([shares[name] for name in traffic.names])
    chosen = strategy if isinstance(strategy, Sharing) else find(strategy)
    script = script_of(scenario, space)
    run = execute_tier(script, *traffic.limits, chosen, record=timeline, progress=progress)
    alone_time = traffic.completion - traffic.release
    stretch = (run.completion - traffic.release) / alone_time
    alone = alone_stretch(script, traffic.limits, capacity)
    return Buffered(
        capacity=capacity,
        strategy=chosen.label if isinstance(chosen, Sharing) else chosen.name,
        names=traffic.names,
        shares=tuple(space.tolist()),
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


def alone_stretch(script: Script, limits: Limits, capacity: float) -> Floats:
    """The stretch of each application if it had the file system and all of the buffer to itself."""
    found = np.empty(script.release.size)
    for k in range(found.size):
        own = slice(script.first[k], script.first[k + 1])
        one = slice(k, k + 1)
        alone = Script(
            first=np.array([0, own.stop - own.start]),
            **{name: getattr(script, name)[own] for name in ("kind", "amount", "starts", "stops")},
            **{name: getattr(script, name)[one] for name in ("nodes", "read_cap", "write_cap", "release")},
            space=np.array([capacity]),
        )
        run = execute_tier(alone, *limits, find("fair"))
        found[k] = (run.completion[0] - alone.release[0]) / alone.stops[-1]
    return found
