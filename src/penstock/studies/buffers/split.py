"""Who has which part of a burst buffer: in proportion to what the smallest one needs, and a common part for all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from penstock.errors import InvalidOption, InvalidScenario
from penstock.kernels.arrays import Floats
from penstock.model import Scenario
from penstock.studies.sizing import Sizing, size_buffer
from penstock.studies.sizing.schedule import BufferSchedule
from penstock.studies.sizing.sizes import PARTITIONS, Progress, sized
from penstock.studies.sizing.traffic import Traffic

T = TypeVar("T")
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Split:
    """How a buffer of any capacity is divided; `sizing` is the smallest one that removes all contention."""

    scenario: Scenario
    sizing: Sizing
    common: float  # the part of the capacity that anybody may use
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
        return self.sizing.traffic if self.partition != "isolated" else Traffic(self.scenario)

    @cached_property
    def schedule(self) -> BufferSchedule:
        """How the smallest buffer works; where everybody was looked at alone, that of the static one."""
        return self.sizing.schedule if self.partition != "isolated" else sized(self.traffic, "static").schedule

    @property
    def parts(self) -> Mapping[str, float]:
        """What each application has for itself, as a part of the capacity; what the scenario says counts more.

        Static parts of applications that follow each other may add up to more than 1.
        """
        buffer = self.scenario.platform.burst_buffer
        if buffer is not None and buffer.shares:
            return {name: (1.0 - self.common) * buffer.shares.get(name, 0.0) for name in self.traffic.names}
        shares = self.sizing.shares or {}
        whole = sum(shares.values()) if self.partition == "isolated" else self.size
        if whole <= 0.0:  # nobody needs anything: alike
            return dict.fromkeys(self.traffic.names, (1.0 - self.common) / len(self.traffic.names))
        return {name: (1.0 - self.common) * shares.get(name, 0.0) / whole for name in self.traffic.names}

    def space(self, capacity: float) -> Floats:
        """What each has of so many bytes."""
        return capacity * np.array([self.parts[name] for name in self.traffic.names])


def split(
    scenario: Scenario, partition: str = "static", common: float | None = None, *, progress: Progress | None = None
) -> Split:
    """Divide a buffer by the smallest one of a partition; `common` of it is for everybody."""
    check_division(partition, common)
    _check_shares(scenario)
    all_of_it = 1.0 if partition == "dynamic" else 0.0
    return Split(scenario, size_buffer(scenario, partition, progress=progress), all_of_it if common is None else common)


def check_division(partition: str, common: float | None) -> None:
    """Refuse an unknown partition, and a common part that it cannot have."""
    if partition not in PARTITIONS:
        raise InvalidOption(f"partition is {partition!r}; accepted: {', '.join(PARTITIONS)}")
    if common is not None and not 0.0 <= common <= 1.0:
        raise InvalidOption(f"common is {common:g}; accepted is a part of the buffer, from 0 to 1")
    if partition == "dynamic" and common not in (None, 1.0):
        raise InvalidOption(f"common is {common:g}; with partition dynamic all of the buffer is common: leave it out")


def _check_shares(scenario: Scenario) -> None:
    """Refuse shares of the scenario's own that do not fit together; those that follow each other may."""
    buffer = scenario.platform.burst_buffer
    if buffer is None or not buffer.shares:
        return
    traffic = Traffic(scenario)
    share = np.array([buffer.shares.get(name, 0.0) for name in traffic.names])
    for begin in traffic.begin:
        together = (traffic.begin <= begin) & (begin < traffic.end)
        if share[together].sum() > 1.0 + _ROUNDING:
            names = ", ".join(repr(name) for name, runs in zip(traffic.names, together, strict=True) if runs)
            raise InvalidScenario(
                f"platform.burst_buffer.shares add up to {share[together].sum():g} for {names}, which run together; "
                "shares are parts of the capacity, at most 1 in all"
            )
