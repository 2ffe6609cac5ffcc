"""A study of burst buffers: who has which part, in proportion to what the smallest needs, and a common part for all."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from penstock.model import Scenario
from penstock.model.load import ScenarioLike, as_scenario
from penstock.studies.buffer_words import check_division
from penstock.studies.buffers.script import Division
from penstock.studies.sizing import Sizing
from penstock.studies.sizing.lead import Infeasible, lead_of
from penstock.studies.sizing.schedule import BufferSchedule
from penstock.studies.sizing.sizes import Progress, sized
from penstock.studies.sizing.traffic import Traffic

T = TypeVar("T")


@dataclass(frozen=True)
class Split:
    """How a buffer of any capacity is divided; `sizing` is the smallest one that removes all contention."""

    scenario: Scenario
    sizing: Sizing
    common: float  # the part of the capacity that anybody may use
    lead: float = math.inf  # how long before its release the input of an application may be fetched
    infeasible: Infeasible | None = None  # no size is enough with that lead or port: the parts are those of any
    kept: dict[float, Any] = field(default_factory=dict, repr=False, compare=False)  # by capacity, for every strategy

    def once(self, capacity: float, make: Callable[[], T]) -> T:
        """What `make` gives for a capacity, made for the first who asks."""
        if capacity not in self.kept:
            self.kept[capacity] = make()
        found: T = self.kept[capacity]
        return found

    @property
    def partition(self) -> str:
        """Whose rules the smallest buffer keeps: static, dynamic or isolated."""
        return self.sizing.partition

    @property
    def size(self) -> float:
        """S, bytes."""
        return self.sizing.size

    @cached_property
    def traffic(self) -> Traffic:
        """The demand of all applications."""
        if self.partition != "isolated" and self.infeasible is None:
            return self.sizing.traffic
        return Traffic(self.scenario, self.lead)

    @cached_property
    def schedule(self) -> BufferSchedule:
        """How the smallest buffer works; where everybody was looked at alone, that of the static one."""
        if self.partition != "isolated":
            return self.sizing.schedule
        return _possible(self.scenario, "static", self.lead)[0].schedule

    @property
    def parts(self) -> Mapping[str, float]:
        """What each application has for itself, as a part of the capacity; what the scenario says counts more.

        They may add up to more than 1: what there is no room for at its entry, an application gets later, if ever.
        """
        buffer = self.scenario.platform.burst_buffer
        if buffer is not None and buffer.shares:
            return {name: (1.0 - self.common) * buffer.shares.get(name, 0.0) for name in self.traffic.names}
        shares = self.sizing.shares or {}
        whole = sum(shares.values()) if self.partition == "isolated" else self.size
        if whole <= 0.0:  # nobody needs anything
            return dict.fromkeys(self.traffic.names, 0.0)
        return {name: (1.0 - self.common) * shares.get(name, 0.0) / whole for name in self.traffic.names}

    def division(self, capacity: float, waits: bool = False) -> Division:
        """Who has what of so many bytes."""
        parts = self.parts
        whole = capacity * np.array([parts[name] for name in self.traffic.names])
        return Division(whole, (1.0 - self.common) * capacity, self.common * capacity, self.lead, waits)


def split(
    scenario: ScenarioLike,
    partition: str = "static",
    common: float | None = None,
    *,
    lead: float | None = None,
    progress: Progress | None = None,
) -> Split:
    """Divide a buffer by the smallest one of a partition; `common` of it is for everybody."""
    check_division(partition, common)
    scenario = as_scenario(scenario)
    lead = lead_of(scenario, lead)
    sizing, late = _possible(scenario, partition, lead, progress)
    all_of_it = 1.0 if partition == "dynamic" else 0.0
    return Split(scenario, sizing, all_of_it if common is None else common, lead, late)


def _possible(
    scenario: Scenario, partition: str, lead: float, progress: Progress | None = None
) -> tuple[Sizing, Infeasible | None]:
    """The smallest buffer, and why there is none if so: then that of any lead, or that of any bandwidth of its own."""
    found = sized(Traffic(scenario, lead), partition, progress=progress)
    late = found.infeasible
    if late is not None and math.isfinite(lead):
        found = sized(Traffic(scenario), partition, progress=progress)
    if found.infeasible is not None:
        late, traffic = found.infeasible, Traffic(scenario)
        found = sized(traffic.behind(traffic.limits._replace(port=math.inf)), partition, progress=progress)
    return found, late
