"""What the engine tells policies that plan ahead: the program as described, before noise, totals beyond the window."""

from __future__ import annotations

import math

import numpy as np

from penstock.engine.compile import CompiledApplication, limits, nominal_chain
from penstock.engine.program import Program
from penstock.engine.tally import Tally, tally
from penstock.kernels.arrays import Floats
from penstock.model import Application, Scenario, Trace
from penstock.policies.sharing.foresight import Foresight


def foresee(scenario: Scenario, program: Program) -> Foresight:
    """The nominal jobs of a compiled scenario, with at least the operations that the program has."""
    totals = [tally(each.phases, *limits(each, scenario)) for each in scenario.applications]
    operations = np.array([_operations(*each, scenario) for each in zip(scenario.applications, totals, strict=True)])
    chains = _nominal(scenario, program, operations)
    endless = np.array([application.endless for application in scenario.applications])
    mean_work, mean_seconds = zip(*(_mean(total) for total in totals), strict=True)
    return Foresight(
        names=program.names,
        start=program.start,
        first=np.cumsum([0] + [chain.volume.size for chain in chains]),
        work=np.concatenate([chain.work for chain in chains]),
        seconds=np.concatenate([chain.volume / chain.limit for chain in chains]),
        rest=np.where(endless, np.inf, [_rest(*each) for each in zip(totals, chains, strict=True)]),
        operations=operations,
        mean_work=np.array(mean_work),
        mean_seconds=np.array(mean_seconds),
        until=program.release + program.walltime,
    )


def _nominal(scenario: Scenario, program: Program, operations: Floats) -> list[CompiledApplication]:
    if scenario.noise == 0.0:
        return [_chain_of(program, i) for i in range(operations.size)]
    # The first one is foreseen even if it lies outside the window, in which noise may bring it, or keep it out.
    counts = np.maximum(np.diff(program.first), np.minimum(1.0, operations))
    horizon = program.end - program.start
    return [
        nominal_chain(application, scenario, horizon[i], int(counts[i]))
        for i, application in enumerate(scenario.applications)
    ]


def _chain_of(program: Program, i: int) -> CompiledApplication:
    own = slice(program.first[i], program.first[i + 1])
    parts = (program.work[own], program.volume[own], program.limit[own])
    return CompiledApplication(*parts, float(program.tail[i]), bool(program.endless[i]), np.empty(0, np.int8))


def _operations(application: Application, total: Tally, scenario: Scenario) -> float:
    """How many it has in all: of a loop without end no number, or, if it only computes, those before it."""
    if not application.endless or isinstance(application.phases, Trace):
        return total.operations
    if total.operations > 0:
        return math.inf
    return tally(application.phases[:-1], *limits(application, scenario)).operations


def _rest(total: Tally, chain: CompiledApplication) -> float:
    """Seconds after the operations of `chain`, which ends early if it is marked endless."""
    if not chain.endless:
        return chain.tail
    listed: Floats = chain.work + chain.volume / chain.limit
    return max(0.0, total.compute + total.transfer - float(listed.sum()))


def _mean(total: Tally) -> tuple[float, float]:
    """Seconds of compute and of I/O per operation."""
    if total.operations == 0:
        return math.inf, 0.0
    return total.compute / total.operations, total.transfer / total.operations
