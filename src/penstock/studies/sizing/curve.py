"""The smallest buffer against the speed of the file system, and against how much longer applications may take.

The first is exact, point by point. The second is NP-hard (P5 §4, theorem 2), so it has two curves: a *bound*, below
which no schedule gets, and what a *heuristic* reaches, which slows the I/O of each application down evenly until it
ends as late as it may. Input may be fetched at any time in both.

The bound: an application that may end d seconds after C_min has, at any time t, written no more than at full speed from
its release, E(t), and no less than at full speed d seconds later, E(t - d). So of what applications must have written
by t, at least Σ E(t - d) - Σ E(s) - B·(t - s) is still in the buffer, for every s < t, and for any set of them. Input
that must be there ahead of its time is the same in reversed time. That forgets that an application can be late only
once: an operation of v bytes takes at least (v - S)/B, whoever else there is, and these times must fit together.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from penstock.errors import InvalidOption
from penstock.kernels.arrays import Floats, Ints
from penstock.model import Scenario
from penstock.model.load import ScenarioLike, as_scenario
from penstock.studies.sizing.sizes import sized
from penstock.studies.sizing.traffic import Limits, Traffic, caps_of

FACTORS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.25, 1.5, 1.75, 2.0)
STRETCHES = (1.0, 1.02, 1.05, 1.1, 1.15, 1.2, 1.3, 1.5)
_MOST_SETS = 32  # of applications that the bound looks at
_ROUNDING = 1e-12  # of all that moves: what a sum may be off by

Progress = Callable[[str, float], None]  # what, and how much of all is done


@dataclass(frozen=True)
class BandwidthPoint:
    """The smallest size for a file system that is so many times as fast; exact."""

    factor: float
    bandwidth: float  # of both directions, bytes/s
    size: float | None  # None: no size is enough with the buffer's own bandwidth
    cost: float | None


@dataclass(frozen=True)
class StretchPoint:
    """If everyone may take so many times as long: no size below `bound` will do, and `size` does."""

    stretch: float
    bound: float
    size: float
    cost: float | None  # of `size` and the file system as it is


@dataclass(frozen=True)
class Prices:
    """What storage costs, in any currency; None: not known."""

    per_tb: float | None = None  # of the buffer
    per_gbs: float | None = None  # of the file system

    def cost(self, size: float, bandwidth: float) -> float | None:
        """Of a buffer and a file system; None without prices."""
        if self.per_tb is None and self.per_gbs is None:
            return None
        return (self.per_tb or 0.0) * size / 1e12 + (self.per_gbs or 0.0) * bandwidth / 1e9


@dataclass(frozen=True)
class SizeCurve:
    """Both curves of one scenario under one partition."""

    partition: str
    prices: Prices
    bandwidth: tuple[BandwidthPoint, ...]
    stretch: tuple[StretchPoint, ...]

    @property
    def most(self) -> float:
        """The largest of the sizes for other speeds."""
        return max(point.size for point in self.bandwidth if point.size is not None)

    @property
    def now(self) -> BandwidthPoint:
        """The file system as it is."""
        return next(point for point in self.bandwidth if point.factor == 1.0)

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return asdict(self)


def size_curve(
    scenario: ScenarioLike, partition: str = "static", prices: Prices | None = None, *, progress: Progress | None = None
) -> SizeCurve:
    """The smallest size against the bandwidth of the file system, and against the stretch that is accepted."""
    scenario = as_scenario(scenario)
    traffic, prices = Traffic(scenario), prices or Prices()
    whole = both_of(traffic.limits)
    if math.isinf(whole):
        raise InvalidOption("the platform has no bandwidth that a curve could vary; give platform.bandwidth")
    steps = len(FACTORS) + len(STRETCHES)

    def size_of(demand: Traffic, what: str, done: int) -> float | None:
        if progress:
            progress(what, done / steps)
        found = sized(demand, partition, even=False)
        return found.size if found.infeasible is None else None

    across = []
    for done, factor in enumerate(FACTORS):
        read, write, joint, port = traffic.limits
        limits = Limits(factor * read, factor * write, factor * joint, port)
        size = size_of(traffic.behind(limits), f"bandwidth × {factor:g}", done)
        cost = None if size is None else prices.cost(size, factor * whole)
        across.append(BandwidthPoint(factor, factor * whole, size, cost))
        if factor == 1.0 and size is None:
            raise InvalidOption(
                "burst_buffer.bandwidth is too small for a buffer of any size, so there is no curve; size-buffer "
                "without --curve says why"
            )
    along: list[StretchPoint] = []
    for done, stretch in enumerate(STRETCHES, start=len(FACTORS)):
        size = size_of(Traffic(slowed(scenario, stretch)), f"stretch {stretch:g}", done)
        # Who may take longer need not; at stretch 1 there is a size.
        size = min(found for found in (size, *(point.size for point in along)) if found is not None)
        least = min(size, bound(traffic, stretch, partition))
        along.append(StretchPoint(stretch, least if stretch > 1.0 else size, size, prices.cost(size, whole)))
    return SizeCurve(partition, prices, tuple(across), tuple(along))


def both_of(limits: Limits) -> float:
    """What the file system moves in both directions together; a direction without a limit is left out."""
    each = sum(limit for limit in (limits.read, limits.write) if math.isfinite(limit))
    return min(limits.joint, each or math.inf)


def slowed(scenario: Scenario, stretch: float) -> Scenario:
    """Everyone moves its bytes so slowly that, with nobody in its way, it ends at `stretch` times C_min."""
    traffic = Traffic(scenario)
    alone = traffic.completion - traffic.release
    applications = []
    for index, application in enumerate(scenario.applications):
        own = slice(traffic.first[index], traffic.first[index + 1])
        caps = np.array(caps_of(application, scenario))
        moving = float((traffic.volume[own] / caps[1 - traffic.reading[own]]).sum())
        if moving > 0.0:
            read, write = caps / (1.0 + (stretch - 1.0) * alone[index] / moving)
            application = application.model_copy(update={"read_bandwidth": read, "write_bandwidth": write})  # noqa: PLW2901
        applications.append(application)
    return scenario.model_copy(update={"applications": tuple(applications)})


def bound(traffic: Traffic, stretch: float, partition: str) -> float:
    """A size below which somebody takes more than `stretch` times as long, under any schedule."""
    delay = (stretch - 1.0) * (traffic.completion - traffic.release)
    # Those that can be put off least make the hardest sets.
    order = np.argsort(delay, kind="stable")
    sets: list[Ints] = [order[: size + 1] for size in range(order.size)]
    if partition == "isolated":
        sets = list(order[:, None])
    elif order.size > _MOST_SETS:
        sets = [sets[place] for place in np.linspace(0, order.size - 1, _MOST_SETS).astype(int)]
    used = max(_least_used(traffic, members, delay) for members in sets)
    found = max(used, *(_least_to_be_in_time(traffic, index, late) for index, late in enumerate(delay)))
    return max(0.0, found - _ROUNDING * float(traffic.volume.sum()))


def _least_to_be_in_time(traffic: Traffic, index: int, delay: float) -> float:
    """The buffer with which one application alone takes only so much longer, if all of it is free each time."""
    own = slice(traffic.first[index], traffic.first[index + 1])
    volume, limits = traffic.volume[own], traffic.limits
    seconds = traffic.events[traffic.stop[own]] - traffic.events[traffic.start[own]]
    limit = np.where(traffic.reading[own], limits.read, limits.write)
    # Later by Σ ((v - S)/B - v/b)⁺: falls with S in straight lines, which bend where operations drop out.
    bends = np.maximum(0.0, volume - limit * seconds)
    bends[np.isinf(limit)] = 0.0
    order = np.argsort(-bends, kind="stable")
    bends, per_byte = bends[order], 1.0 / limit[order]
    below = np.append(bends[1:], 0.0)
    slope = np.cumsum(per_byte)  # once the first operations are all late
    late = np.cumsum(slope * (bends - below))  # at the lower end of each line
    place = int(np.searchsorted(late, delay, side="right"))
    if place == bends.size:
        return 0.0
    return float(below[place] + (late[place] - delay) / slope[place])


def _least_used(traffic: Traffic, members: Ints, delay: Floats) -> float:
    """What the buffer holds of these applications at its fullest, at the least."""
    own = np.isin(traffic.owner, members)
    start, stop = traffic.events[traffic.start[own]], traffic.events[traffic.stop[own]]
    volume, reading, later = traffic.volume[own], traffic.reading[own], delay[traffic.owner[own]]
    times = np.unique(np.concatenate([start, stop, start + later, stop + later]))
    used = np.zeros(times.size)
    for way, limit in ((False, traffic.limits.write), (True, traffic.limits.read)):
        if math.isfinite(limit) and times.size:
            chosen = reading == way
            first, last = start[chosen], stop[chosen]
            most = _moved(times, first, last, volume[chosen])
            least = _moved(times, first + later[chosen], last + later[chosen], volume[chosen])
            carried = limit * (times - times[0])
            if way:
                used += np.maximum(0.0, np.maximum.accumulate((least - carried)[::-1])[::-1] + carried - most)
            else:
                used += np.maximum(0.0, np.maximum.accumulate(carried - most) + least - carried)
    return float(used.max(initial=0.0))


def _moved(times: Floats, start: Floats, stop: Floats, volume: Floats) -> Floats:
    """What has moved at each time, each volume evenly between its start and its stop."""
    rate = volume / (stop - start)
    change = np.zeros(times.size)
    np.add.at(change, np.searchsorted(times, start), rate)
    np.subtract.at(change, np.searchsorted(times, stop), rate)
    moved: Floats = np.concatenate([[0.0], np.cumsum(np.cumsum(change)[:-1] * np.diff(times))])
    return moved
