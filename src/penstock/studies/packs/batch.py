"""The study of packs: the jobs to be mapped as an I/O node sees them, and the I/O nodes they are mapped to."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from penstock.engine.tally import tally
from penstock.errors import InvalidOption, InvalidScenario
from penstock.kernels.arrays import Floats
from penstock.model import IoNodes, Scenario
from penstock.model.needs import need_io_nodes
from penstock.studies.study import Study

MOST_IO_NODES = 10_000


class Batch:
    """The jobs as an I/O node sees them; `io_nodes` overrides how many nodes there are."""

    def __init__(self, scenario: Scenario, io_nodes: int | None) -> None:
        self.machine = machine = _machine(scenario, io_nodes)
        self.study = Study(_on_one_node(scenario, machine))
        self.names = tuple(application.name for application in scenario.applications)
        self.processors = np.array([application.nodes for application in scenario.applications], dtype=np.int64)
        release = np.array([application.release for application in scenario.applications])
        # Times count from the first release: what is the same instant must not depend on the calendar.
        self.begin = float(release.min())
        self.release: Floats = release - self.begin
        limits = [application.walltime for application in scenario.applications]
        self.walltime: Floats = np.array([math.inf if limit is None else limit for limit in limits])
        rate = machine.bandwidth
        self.io: Floats = np.array([tally(each.phases, rate, rate).transfer for each in scenario.applications])

    @cached_property
    def seconds(self) -> Floats:
        """T_i: how long each takes alone, as announced."""
        return self.study.foresight.alone()

    @property
    def real_seconds(self) -> Floats:
        """How long each takes alone in reality."""
        return self.study.alone.listed

    @property
    def alpha(self) -> float:
        """P3's average I/O occupation, were no processor ever idle."""
        return float(self.machine.nodes * self.io.sum() / (self.processors @ self.seconds))

    @property
    def bound(self) -> float:
        """No schedule ends earlier, counted from the first release.

        Every job takes its time from its release on; and of all jobs that come at a time or later, all processor time
        and all I/O time is still to come then.
        """
        real = self.study.program
        computing = float(self.processors @ self.real_seconds) / self.machine.nodes
        moving = float(real.volume.sum()) / real.capacity
        all_together = max(computing, moving) / self.machine.count
        return max(float((self.release + self.real_seconds).max()), all_together, self._bound_of_later_ones)

    @property
    def _bound_of_later_ones(self) -> float:
        real, order = self.study.program, np.argsort(-self.release, kind="stable")
        owner = np.repeat(np.arange(order.size), np.diff(real.first))
        moving = np.cumsum(np.bincount(owner, real.volume, order.size)[order]) / real.capacity
        computing = np.cumsum((self.processors * self.real_seconds)[order]) / self.machine.nodes
        after = self.release[order]
        later = after > 0.0
        ends: Floats = after + np.maximum(computing, moving) / self.machine.count
        return float(ends[later].max(initial=0.0))


def _machine(scenario: Scenario, io_nodes: int | None) -> IoNodes:
    need_io_nodes(scenario)
    platform = scenario.platform
    machine = platform.io_nodes or IoNodes(count=1, bandwidth=platform.bandwidth or 0.0, nodes=platform.nodes or 0)
    for application in scenario.applications:
        if application.nodes > machine.nodes:
            raise InvalidScenario(
                f"application {application.name!r} needs {application.nodes:,} nodes; an I/O node has {machine.nodes:,}"
            )
    if io_nodes is None:
        return machine
    if type(io_nodes) is not int or not 1 <= io_nodes <= MOST_IO_NODES:
        raise InvalidOption(f"io_nodes is {io_nodes!r}; accepted is a whole number from 1 to {MOST_IO_NODES:,}")
    return machine.model_copy(update={"count": io_nodes})


def _on_one_node(scenario: Scenario, machine: IoNodes) -> Scenario:
    """The same jobs on a platform that is one I/O node; when they come is up to a queue, and nobody is cut off."""
    shared = {"bandwidth": machine.bandwidth, "interference": machine.interference, "io_nodes": None}
    platform = scenario.platform.model_copy(update=shared)
    anywhere = {"release": 0.0, "io_node": None, "walltime": None}
    jobs = tuple(application.model_copy(update=anywhere) for application in scenario.applications)
    return scenario.model_copy(update={"platform": platform, "applications": jobs})
