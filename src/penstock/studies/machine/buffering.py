"""A study of a whole machine: who has which part of its burst buffer, and how early input is fetched."""

from __future__ import annotations

import math

import numpy as np

from penstock.engine.machine.execution import Behind
from penstock.errors import InvalidScenario, PenstockError, PolicyError
from penstock.kernels.arrays import Floats
from penstock.model import COMPUTE, Application, Plan, Read, Repeat, Scenario, Trace, Write
from penstock.model.plan import FOREVER_AHEAD
from penstock.policies.buffering.catalogue import check


def behind_of(scenario: Scenario) -> Behind:
    """By the plan, else by the platform."""
    plan, buffer = scenario.plan or Plan(), scenario.platform.burst_buffer
    _check_strategy(plan)
    capacity = plan.buffer.capacity if plan.buffer.capacity is not None else buffer and buffer.capacity
    none = np.zeros(len(scenario.applications))
    if not capacity:
        return Behind(0.0, none, 0.0)
    given = plan.buffer.shares or (buffer and buffer.shares)
    shares = _stated(scenario, given) if given else _worked_out(scenario)
    return Behind(float(capacity), shares, _lead(scenario, plan))


def _check_strategy(plan: Plan) -> None:
    """It plays no part here, but a name that nothing has is a mistake."""
    if plan.buffer.strategy is not None:
        try:
            check(plan.buffer.strategy)
        except PenstockError as error:
            raise PolicyError(f"plan.buffering.strategy: {error}") from None


def _stated(scenario: Scenario, given: dict[str, float]) -> Floats:
    for name, share in given.items():
        if share > 1.0:
            raise InvalidScenario(f"the share of {name!r} in the burst buffer is {share:g}; a part is at most 1")
    return np.array([given.get(each.name, 0.0) for each in scenario.applications])


def _lead(scenario: Scenario, plan: Plan) -> float:
    """As asked; by default at any time if all start with the run, else not before the release (models §8)."""
    given = plan.buffer.lead
    if given == FOREVER_AHEAD:
        return math.inf
    if isinstance(given, int | float):
        return float(given)
    begin = scenario.window.begin if scenario.window else 0.0
    together = all(max(begin, each.release) <= begin for each in scenario.applications)
    return math.inf if together else 0.0


def _worked_out(scenario: Scenario) -> Floats:
    """In proportion to what the smallest buffer would need of each (models §8).

    Where that cannot be worked out, because a window cuts the run off or targets and not a bandwidth are behind the
    buffer, in proportion to the largest burst of each.
    """
    platform = scenario.platform
    limited = platform.bandwidth or platform.read_bandwidth or platform.write_bandwidth
    if scenario.window is None and limited and platform.targets is None:
        from penstock.studies.buffers.split import split  # noqa: PLC0415 - loads the loop made for buffers

        parts = split(scenario.model_copy(update={"plan": None})).parts
        shares = np.array([parts[each.name] for each in scenario.applications])
        if shares.any():
            return shares
    bursts = np.array([_largest(each) for each in scenario.applications])
    whole = bursts.sum()
    return bursts / whole if whole > 0.0 else bursts


def _largest(application: Application) -> float:
    """The largest operation."""
    if isinstance(application.phases, Trace):
        moving = application.phases.kind != COMPUTE
        return float(application.phases.amount[moving].max(initial=0.0))
    return max((_burst(phase) for phase in application.phases), default=0.0)


def _burst(phase: object) -> float:
    if isinstance(phase, Repeat):
        return max((_burst(each) for each in phase.phases), default=0.0)
    return phase.amount if isinstance(phase, Read | Write) else 0.0
