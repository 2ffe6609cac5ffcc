"""Running a scenario with a burst buffer: the Python face of `penstock buffer` (P5 §7)."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np

from penstock.engine.stepping import Progress
from penstock.engine.tier.arrays import Script
from penstock.engine.tier.execution import TierRun, execute_tier
from penstock.errors import InvalidOption
from penstock.kernels.arrays import Floats
from penstock.metrics.losses import Lives, losses_of
from penstock.model import Scenario
from penstock.model.load import ScenarioLike, as_scenario
from penstock.policies.buffering import Strategy, find
from penstock.policies.sharing import Sharing
from penstock.studies.buffer_words import check_admission
from penstock.studies.buffers.bound import StretchBounds, bounds, stretch_of
from penstock.studies.buffers.plan_ahead import plan_of
from penstock.studies.buffers.result import Buffered, Filling, Without
from penstock.studies.buffers.script import script_of
from penstock.studies.buffers.split import Split
from penstock.studies.buffers.split import split as split_by

DAY = 86400.0


def buffer(
    scenario: ScenarioLike,
    capacity: float,
    *,
    partition: str = "static",
    common: float | None = None,
    lead: float | None = None,
    admit: str = "now",
    strategy: str | Strategy | Sharing | Callable[..., Any] = "fair",
    split: Split | None = None,
    against_none: bool = False,
    timeline: bool = False,
    progress: Progress | None = None,
) -> Buffered:
    """Run `scenario` behind a buffer of `capacity` bytes, divided by the smallest buffer of a partition.

    `strategy` divides the bandwidth of the file system: one of `penstock.policies.buffering`, or a sharing policy,
    which knows nothing of the buffer. `lead` says how long before its release the input of an application may be
    fetched (by default at any time if all are released at 0, else not before), `admit` whether applications start at
    once, with what is left of the buffer, or wait for their parts of it. `split` saves sizing the smallest buffer
    again; it has its own lead. `against_none` runs it without a buffer, too.

    >>> job = {"name": "a", "bandwidth": 4, "phases": [{"compute": 1}, {"write": 12}]}
    >>> document = {"version": 1, "platform": {"bandwidth": 1}, "applications": [job]}
    >>> buffer(Scenario.from_document(document), 3.0, partition="dynamic").max_stretch
    2.5
    """
    if not _is_size(capacity):
        raise InvalidOption(f"the capacity is {capacity!r}; accepted is a number of bytes ≥ 0")
    capacity = float(capacity)
    chosen = strategy if isinstance(strategy, Sharing) else find(strategy)
    scenario = as_scenario(scenario)
    split = split or split_by(scenario, partition, common, lead=lead)
    check_admission(admit, split.partition)
    traffic, division = split.traffic, split.division(capacity, admit == "wait")
    script = script_of(scenario, division)
    plan = plan_of(split.schedule) if isinstance(chosen, Strategy) and chosen.plans else None
    run = execute_tier(script, traffic.limits, chosen, plan, names=traffic.names, record=timeline, progress=progress)
    found = _measured(scenario, split, script, run, capacity)
    without = None
    if against_none:
        none = buffer(scenario, 0.0, split=split, admit=admit, strategy=chosen, progress=progress)
        without = Without(none.max_stretch, none.mean_stretch, none.node_hours_lost)
    return Buffered(
        **found,
        capacity=capacity,
        partition=split.partition,
        common=split.common,
        strategy=chosen.label if isinstance(chosen, Sharing) else chosen.name,
        lead=split.lead,
        admit=admit,
        infeasible=split.infeasible,
        names=traffic.names,
        shares=tuple(np.where(split.partition == "dynamic", capacity, division.whole).tolist()),
        end=run.end,
        peak=run.peak,
        through_buffer=run.through,
        drive_writes_per_day=_drive_writes(run, script, capacity),
        events=run.events,
        seconds=run.seconds,
        without=without,
        filling=Filling(run.time, run.output, run.input) if timeline else None,
    )


def _measured(scenario: Scenario, split: Split, script: Script, run: TierRun, capacity: float) -> dict[str, Any]:
    """How the applications fared: all metrics that follow from when they ended."""
    traffic, cut = split.traffic, np.isnan(run.completion)
    stretch, absolute = stretch_of(run.completion, traffic), run.completion / traffic.completion
    seconds = run.ended - script.release
    yields = np.divide(run.achieved, seconds, out=np.ones_like(seconds), where=seconds > 0.0)
    lost = losses_of(Lives(traffic.names, script.nodes, seconds, run.achieved, yields, stretch, cut))
    # Who is cut off leaves the file system to others, which the bounds know nothing of.
    least = StretchBounds(1.0, 1.0) if cut.any() else split.once(capacity, lambda: bounds(scenario, traffic, capacity))
    return {
        **vars(lost),
        "completion": tuple(run.completion.tolist()),
        "stretch": tuple(stretch.tolist()),
        "stretch_p5": tuple(absolute.tolist()),
        "cut": tuple(cut.tolist()),
        **_summary("stretch", stretch[~cut]),
        **_summary("stretch_p5", absolute[~cut]),
        "bound_max_stretch": least.max_stretch,
        "bound_mean_stretch": least.mean_stretch,
    }


def _summary(name: str, values: Floats) -> dict[str, float]:
    """The largest and the mean; NaN if there are none."""
    some = values.size > 0
    return {
        f"max_{name}": float(values.max()) if some else np.nan,
        f"mean_{name}": float(values.mean()) if some else np.nan,
    }


def _drive_writes(run: TierRun, script: Script, capacity: float) -> float | None:
    """How often what was written would fill the buffer in a day, from the first release until all was drained."""
    days = (run.end - script.begin) / DAY
    return run.through / capacity / days if capacity > 0.0 and days > 0.0 else None


def _is_size(capacity: object) -> bool:
    return isinstance(capacity, Real) and 0.0 <= float(capacity) < np.inf
