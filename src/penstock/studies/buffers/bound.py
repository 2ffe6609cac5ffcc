"""A study of burst buffers: lower bounds on the stretch behind one of a given size, which no strategy can beat.

**Alone.** An application that has, for each direction, the file system and all of the buffer to itself ends as early as
it ever could: what it writes and reads at most is what the file system takes and gives, and what the buffer evens out.

**Together.** Nobody starts an operation before the time at which it would start alone, and who is to end with stretch
ρ must have ended each of its operations early enough for what follows. So for all s < t, the bytes of the operations
that start after s at the earliest and must be over by t at the latest have moved between the two, but for what the
buffer held:

    Σ volumes ≤ B·(t - s) + X

The smallest ρ for which this holds for every s and t is the bound, found by bisection. Under a joint limit both
directions count together, against 2·X: at s the buffer may hold input, at t output.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types

from penstock.engine.tier.arrays import COMPUTING, WRITING
from penstock.kernels.arrays import Floats, Ints
from penstock.kernels.compile import inlined, kernel
from penstock.model import Scenario
from penstock.studies.buffers.script import no_buffer, script_of
from penstock.studies.sizing.excess import first_excess, scratch_of
from penstock.studies.sizing.traffic import Traffic

_F = types.float64[::1]
_I = types.int64[::1]

_CLOSE = 1e-9


class StretchBounds(NamedTuple):
    """No strategy, and no way to divide the buffer, is better."""

    max_stretch: float
    mean_stretch: float


def bounds(scenario: Scenario, traffic: Traffic, capacity: float) -> StretchBounds:
    """Bounds for a buffer of that capacity."""
    alone = alone_stretch(scenario, traffic, capacity)
    return StretchBounds(max(float(alone.max()), least_stretch(traffic, capacity)), float(alone.mean()))


def stretch_of(completion: Floats, traffic: Traffic) -> Floats:
    """How many times as long as alone; who does nothing at all takes no longer."""
    alone = traffic.completion - traffic.release
    taken = completion - traffic.release
    return np.divide(taken, alone, out=np.ones_like(taken), where=alone > 0.0)


@inlined
def _passing(amount: float, cap: float, limit: float, slack: float) -> float:
    """Seconds for so many bytes at `cap`, of which `slack` need not pass the file system meanwhile."""
    return max(amount / cap, (amount - slack) / limit)


@kernel(types.float64(_I, _F, *[types.float64] * 7))
def _alone(
    kind: Ints,
    amount: Floats,
    begin: float,
    lead: float,
    read_cap: float,
    write_cap: float,
    read_limit: float,
    write_limit: float,
    capacity: float,
) -> float:
    """When an application ends at the earliest: for each direction it has a file system and a buffer to itself.

    Output drains, and input is fetched, as fast as ever possible, input also a lead before the begin.
    """
    now, output = begin, 0.0
    ahead = min(begin, lead)
    fetched = min(capacity, ahead * read_limit) if ahead > 0.0 else 0.0
    for phase in range(kind.size):
        if kind[phase] == COMPUTING:
            seconds = amount[phase]
        elif kind[phase] == WRITING:
            seconds = _passing(amount[phase], write_cap, write_limit, capacity - output)
            output += amount[phase]
        else:
            seconds = _passing(amount[phase], read_cap, read_limit, fetched)
            fetched -= amount[phase]
        now += seconds
        output = max(0.0, output - write_limit * seconds)
        fetched = max(0.0, min(capacity, fetched + read_limit * seconds))
    return now


def alone_stretch(scenario: Scenario, traffic: Traffic, capacity: float) -> Floats:
    """No application can be stretched less: each alone, with a buffer and a file system for each direction."""
    script = script_of(scenario, no_buffer(scenario))
    completion = np.empty(script.release.size)
    for k in range(completion.size):
        own = slice(script.first[k], script.first[k + 1])
        caps, limits = (script.read_cap[k], script.write_cap[k]), (traffic.limits.read, traffic.limits.write)
        times = script.release[k], traffic.lead
        completion[k] = _alone(script.kind[own], script.amount[own], *times, *caps, *limits, capacity)
    return stretch_of(completion, traffic)


def least_stretch(traffic: Traffic, capacity: float) -> float:
    """The largest stretch is at least this, whatever is done with a buffer of that capacity."""
    limits = traffic.limits
    ways = [(~traffic.reading, limits.write, capacity), (traffic.reading, limits.read, capacity)]
    if traffic.joint_binds:
        ways.append((np.ones_like(traffic.reading), limits.joint, 2.0 * capacity))
    checks = [_Check(traffic, np.flatnonzero(own), limit, held) for own, limit, held in ways if np.isfinite(limit)]
    return max([1.0, *(check.least() for check in checks if check.start.size)])


class _Check:
    """Whether a stretch is possible, for the operations that share one limit."""

    def __init__(self, traffic: Traffic, own: Ints, limit: float, held: float) -> None:
        events, owner = traffic.events, traffic.owner[own]
        self.limit, self.held = limit, held
        self.start = events[traffic.start[own]]
        self.volume = traffic.volume[own]
        self.release = traffic.release[owner]
        self.alone = traffic.completion[owner] - self.release
        self.after = traffic.completion[owner] - events[traffic.stop[own]]
        order = np.argsort(self.start, kind="stable")
        self.ranked = self.start[order]
        self.place = np.empty_like(order)
        self.place[order] = np.arange(order.size)
        self.scratch = scratch_of(self.start.size)

    def possible(self, stretch: float) -> bool:
        deadline = self.release + stretch * self.alone - self.after
        order = np.argsort(deadline, kind="stable")
        columns = self.place[order], self.ranked, self.volume[order], deadline[order]
        slack = 1e-12 * float(self.limit * self.ranked[-1] + self.held)
        return first_excess(*columns, self.limit, self.held + slack, *self.scratch) < 0

    def least(self) -> float:
        """The smallest stretch that is possible."""
        low, high = 1.0, 2.0
        if self.possible(low):
            return low
        while not self.possible(high):
            low, high = high, 2.0 * high
        while high - low > _CLOSE * low:
            middle = (low + high) / 2.0
            low, high = (low, middle) if self.possible(middle) else (middle, high)
        return low
