"""A whole machine compiled for a study: its resources, the flows that may cross them, and what runs are measured by."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from penstock.engine.compile import compile_with
from penstock.engine.dedicated import Dedicated, dedicated
from penstock.engine.foresight import foresee
from penstock.engine.machine.execution import Behind
from penstock.engine.machine.network import IN, OUT, Layout, Network, Resource, network_of, resources_of
from penstock.engine.program import Program
from penstock.kernels.arrays import Floats, Ints
from penstock.metrics.measure import Yardsticks
from penstock.metrics.weight import io_weight
from penstock.model import READ, Application, Scenario
from penstock.model.plan import LINK, TARGET, started
from penstock.policies.sharing.foresight import Foresight
from penstock.studies.machine.buffering import behind_of
from penstock.studies.machine.layout import layout_of, mapped

_ONE_LINK = {"io_nodes": None, "interference": None, "targets": None, "burst_buffer": None}


@dataclass(frozen=True)
class MachineStudy:
    """A scenario with a plan, and what is true of it whatever the sharing policies."""

    scenario: Scenario

    def __post_init__(self) -> None:
        object.__setattr__(self, "scenario", started(mapped(self.scenario)))

    @cached_property
    def layout(self) -> Layout:
        """Who goes where."""
        return layout_of(self.scenario)

    @cached_property
    def resources(self) -> list[Resource]:
        """All that is shared."""
        return resources_of(self.scenario)

    @cached_property
    def network(self) -> Network:
        """Flows and resources in arrays."""
        return network_of(self.scenario, self.resources, self.layout, self.behind.shares)

    @cached_property
    def behind(self) -> Behind:
        """How the burst buffer is used; nobody has a share where there is none."""
        return behind_of(self.scenario)

    @cached_property
    def _compiled(self) -> tuple[Program, Ints]:
        speed = self.network.speed
        caps, behind = [(row[IN], row[OUT]) for row in speed], self.network.buffered == 1
        program, kind = compile_with(self.scenario, caps, self.bandwidth, behind.tolist())
        return program, np.where(kind == READ, IN, OUT).astype(np.int64)

    @property
    def program(self) -> Program:
        """The phases; the cap of an operation is what it has alone."""
        return self._compiled[0]

    @property
    def kind(self) -> Ints:
        """Which way each operation goes."""
        return self._compiled[1]

    @cached_property
    def bandwidth(self) -> float:
        """What the storage moves at most: the file system, else all targets, else all I/O nodes."""
        links = [each.capacity for each in self.resources if each.kind == LINK]
        if links:
            return max(links)
        peaks: Floats = np.zeros(len(self.resources))
        # A target that divides its time moves as fast as the fastest transfer there.
        np.maximum.at(peaks, self.network.resource, self.network.peak[self.network.edge_flow])
        targets = [
            peaks[place] if each.capacity == 1.0 else each.capacity
            for place, each in enumerate(self.resources)
            if each.kind == TARGET
        ]
        return float(sum(targets) or sum(each.capacity for each in self.resources))

    @cached_property
    def alone(self) -> Dedicated:
        """Every application with the machine to itself."""
        return dedicated(self.program)

    @cached_property
    def foresight(self) -> Foresight:
        """What policies that plan ahead are told."""
        return foresee(self._at_speed, self.program)

    @cached_property
    def _at_speed(self) -> Scenario:
        """The same jobs on one link, each with the caps that it has alone on the machine."""
        applications = tuple(
            _capped(each, row) for each, row in zip(self.scenario.applications, self.network.speed, strict=True)
        )
        platform = self.scenario.platform.model_copy(update=_ONE_LINK | {"bandwidth": float(self.network.speed.max())})
        update = {"applications": applications, "platform": platform, "plan": None}
        return self.scenario.model_copy(update=update)

    @cached_property
    def pressure(self) -> float | None:
        """I/O pressure: of all that is shared, what is asked for most."""
        if not self.program.windowed:
            return None
        network, length = self.network, self.program.end - self.program.begin
        asked = np.zeros(network.capacity.size)
        for i, moved in enumerate(self.alone.transferred):
            for way, bytes_ in enumerate(self.by_way(i, float(moved))):
                own = network.first[4 * i + way], network.first[4 * i + way + 1]
                edges = slice(network.path[own[0]], network.path[own[1]])
                share = bytes_ / max(1, own[1] - own[0])
                np.add.at(asked, network.resource[edges], network.use[edges] * share)
        return float((asked / (network.capacity * length)).max())

    def by_way(self, i: int, moved: float) -> tuple[float, float]:
        """Bytes of a dedicated run that are written and read: as its operations have them, in all."""
        own = slice(self.program.first[i], self.program.first[i + 1])
        volume, out = self.program.volume[own], self.kind[own] == OUT
        whole = float(volume.sum())
        written = moved * float(volume[out].sum()) / whole if whole > 0.0 else 0.0
        return written, moved - written

    @cached_property
    def yardsticks(self) -> Yardsticks:
        """What runs are measured by; nobody is better off than alone."""
        best = float(self.alone.yields.min())
        return Yardsticks(self.alone, None, best, self.pressure, io_weight(self._at_speed))


def _capped(application: Application, speed: Floats) -> Application:
    caps = {"bandwidth": None, "write_bandwidth": float(speed[OUT]), "read_bandwidth": float(speed[IN])}
    return application.model_copy(update={**caps, "node_skew": 1.0, "io_node": None})
