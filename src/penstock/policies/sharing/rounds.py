"""Sharing over several resources: each is shared by a policy, and a flow moves at the least of what it is granted.

A flow of rate r takes share·r of every resource that it crosses. In rounds: every resource with flows that are not
frozen yet is asked for their grants, on what the frozen ones leave of it. A flow's least grant is the smallest of its
resources. A resource is *settled* if it grants each of its flows that flow's least: these flows are frozen there. So
the tightest resource is settled first, and what its flows do not use elsewhere is offered to others in the next round.
Where resources wait for each other in a circle, the flow that gets least of what it could use is frozen; what that
leaves unused is offered once more.

With one `fair-share` everywhere this is the max-min allocation in the fraction of its limit that each flow gets. Arrays
in, arrays out: who asks a policy, and what it is shown, is the business of `Ask`.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf

import numpy as np
from numpy.typing import NDArray

from penstock.kernels.arrays import SAME, Floats, Ints

Flags = NDArray[np.bool_]
# Resource, its flows that ask, what they can use of it at most, what is left of it, all rates so far → their grants.
Ask = Callable[[int, Ints, Floats, float, Floats], Floats]
_AGAIN = 8  # times that what circles left unused is offered once more, at most


def share_out(share: Floats, capacity: Floats, limit: Floats, able: Floats, posted: Floats, ask: Ask) -> Floats:
    """The rate of every flow; `share` has a row for each resource.

    `limit` is what a flow could use, and a weight for some policies; `able`, at most that, is what it is given at most.
    """
    rates = np.where((share > 0.0).any(axis=0), 0.0, able)
    for _ in range(_AGAIN):
        more, circled = _pass(share, capacity - share @ rates, limit - rates, able - rates, posted, rates, ask)
        rates = rates + more
        if not circled or not (more > SAME * limit).any():
            break
    return rates


def _pass(
    share: Floats, room: Floats, limit: Floats, able: Floats, posted: Floats, before: Floats, ask: Ask
) -> tuple[Floats, bool]:
    """What every flow gets of `room`, and whether resources waited for each other in a circle."""
    given, circled = np.zeros(limit.size), False
    open_flows = _can_gain(share, room, limit, able)
    while open_flows.any():
        grants = _grants(share, room - share @ given, limit, open_flows, before + given, ask)
        least = np.minimum(grants.min(axis=0), able)
        settled = _settled(share, grants, least, limit, able, open_flows)
        if not settled.any():
            circled = True
            settled[_worst_off(least, limit, posted, open_flows)] = True
        given[settled] = least[settled]
        open_flows &= ~settled
    return given, circled


def _can_gain(share: Floats, room: Floats, limit: Floats, able: Floats) -> Flags:
    """The flows that cross something, could use more than next to nothing, and find room everywhere."""
    fitting = np.divide(room[:, np.newaxis], share, out=np.full(share.shape, inf), where=share > 0.0).min(axis=0)
    gains: Flags = (share > 0.0).any(axis=0) & (np.minimum(able, fitting) > SAME * limit)
    return gains


def _grants(share: Floats, room: Floats, limit: Floats, open_flows: Flags, rates: Floats, ask: Ask) -> Floats:
    """What each resource would let each open flow move; infinity where it does not cross."""
    grants = np.full(share.shape, inf)
    for k in range(len(share)):
        flows = np.flatnonzero(open_flows & (share[k] > 0.0))
        if flows.size:
            part, left = share[k, flows], max(0.0, float(room[k]))
            given = ask(k, flows, part * limit[flows], left, rates) if left > 0.0 else np.zeros(flows.size)
            grants[k, flows] = given / part
    return grants


def _settled(share: Floats, grants: Floats, least: Floats, limit: Floats, able: Floats, open_flows: Flags) -> Flags:
    """The open flows whose rate is certain: those of settled resources, and those that get all that they can use."""
    settled: Flags = open_flows & (able <= grants.min(axis=0))
    for k in range(len(share)):
        flows = np.flatnonzero(open_flows & (share[k] > 0.0))
        if (grants[k, flows] <= least[flows] + SAME * limit[flows]).all():
            settled[flows] = True
    return settled


def _worst_off(least: Floats, limit: Floats, posted: Floats, open_flows: Flags) -> int:
    """The open flow with the lowest fraction of its limit; of those alike who posted last, then the last."""
    flows = np.flatnonzero(open_flows)
    fraction = least[flows] / limit[flows]
    alike = flows[fraction <= fraction.min() + SAME]
    latest = alike[posted[alike] == posted[alike].max()]
    return int(latest[-1])
