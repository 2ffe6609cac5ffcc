"""A scenario compiled for a study, and what is true of it whatever the policy: worked out once, used by every run."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from penstock.engine.compile import compile_scenario
from penstock.engine.dedicated import Dedicated, dedicated, pressure
from penstock.engine.foresight import foresee
from penstock.engine.program import Program
from penstock.kernels.arrays import Ints
from penstock.metrics.bounds import interval_bound, volume_bound
from penstock.metrics.measure import Yardsticks
from penstock.metrics.weight import io_weight
from penstock.model import Scenario
from penstock.policies.sharing.foresight import Foresight
from penstock.policies.sharing.policy import Outlook, Sharing

Policy = str | Sharing | Callable[..., None]


@dataclass(frozen=True)
class Part:
    """Applications that share one bandwidth: all of a scenario, or those of one of its I/O nodes."""

    rows: Ints
    program: Program

    @cached_property
    def outlook(self) -> Outlook:
        """What policies may know before the start."""
        return outlook(self.program, dedicated(self.program))


@dataclass(frozen=True)
class Study:
    """A scenario and what is true of it whatever the policy, worked out when first asked for.

    Bounds may take longer than a run. Without them they are what is trivially true: none, and infinity.
    """

    scenario: Scenario
    bounds: bool = True

    @cached_property
    def program(self) -> Program:
        """The compiled scenario."""
        return compile_scenario(self.scenario)

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """Those who share a bandwidth; several where applications go through different I/O nodes."""
        if not self.scenario.by_io_node:
            rows = np.arange(len(self.program.names))
            return (Part(rows, self.program),)
        chosen = np.array([application.io_node for application in self.scenario.applications])
        groups = [np.flatnonzero(chosen == node) for node in np.unique(chosen)]
        return tuple(Part(rows, self.program.pick(rows)) for rows in groups)

    @cached_property
    def alone(self) -> Dedicated:
        """Every application run alone."""
        return dedicated(self.program)

    @cached_property
    def outlook(self) -> Outlook:
        """What policies may know before the start, were all to share one bandwidth."""
        return outlook(self.program, self.alone)

    @cached_property
    def foresight(self) -> Foresight:
        """What policies that plan ahead are told besides."""
        return foresee(self.scenario, self.program)

    def foresight_of(self, part: Part) -> Foresight:
        """The same for those who share one bandwidth."""
        return self.foresight if len(part.rows) == len(self.program.names) else self.foresight.pick(part.rows)

    @cached_property
    def volume_bound(self) -> float | None:
        """No policy has a higher minimum yield: all bytes must fit into the window."""
        if not self.bounds:
            return None
        bounds = [bound for part in self.parts if (bound := volume_bound(part.program)) is not None]
        return min(bounds, default=None)

    @cached_property
    def interval_bound(self) -> float:
        """Nor than this: every operation must fit between its earliest start and its deadline."""
        if not self.bounds:
            return math.inf
        return min(interval_bound(part.program) for part in self.parts)

    @cached_property
    def pressure(self) -> float | None:
        """I/O pressure."""
        of_one = pressure(self.program, self.alone)
        nodes = self.scenario.platform.io_nodes
        return of_one / nodes.count if of_one is not None and nodes and self.scenario.by_io_node else of_one

    @cached_property
    def io_weight(self) -> float:
        """I/O weight."""
        return io_weight(self.scenario)

    @cached_property
    def yardsticks(self) -> Yardsticks:
        """What runs are measured by."""
        return Yardsticks(self.alone, self.volume_bound, self.interval_bound, self.pressure, self.io_weight)


def outlook(program: Program, runs: Dedicated) -> Outlook:
    """What policies may know of a program before it starts."""
    return Outlook(program.begin, program.end, int(runs.started.sum()))
