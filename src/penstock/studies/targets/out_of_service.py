"""Taking targets out of service, because they fail or are drained: nobody moves who need not.

Whoever used such a target moves that one transfer, and only that, to the least stressed target that it does not use
yet; those with most stress first. Who had more targets than are left gets the most that its profile allows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from penstock.errors import InvalidOption
from penstock.kernels.arrays import Floats, Ints
from penstock.policies.allocation.demand import Demand
from penstock.policies.sharing.order import ranked, rounded
from penstock.studies.targets.arrangement import Arrangement, shares_of_time, target_stress
from penstock.studies.targets.result import Allotment


class Move(NamedTuple):
    """One transfer of an application that changes its target; without a new one, the application has one less."""

    application: str
    source: str
    destination: str | None


def drained(demand: Demand, before: Arrangement, out: Ints) -> Arrangement:
    """The same arrangement without the targets `out`, with the fewest moves there can be."""
    left = demand.targets - np.unique(out).size
    if left == 0:
        raise InvalidOption(f"all {demand.targets} targets are taken out; at least one must stay in service")
    option = _smaller(demand, before.option, left)
    places = before.of_each(demand)
    carried = target_stress(demand, before)
    shares = np.split(shares_of_time(demand, before), np.cumsum(demand.count[before.option])[:-1])
    serving = np.setdiff1d(np.arange(demand.targets), out)
    for i in ranked(-demand.io_share[option]):
        if option[i] != before.option[i] or np.isin(places[i], out).any():
            carried[places[i]] -= shares[i]
            places[i] = _moved(demand, option[i], demand.compute[i], places[i], carried, serving)
            transfer = demand.transfer_on(option[i], places[i])
            carried[places[i]] += transfer / (demand.compute[i] + transfer.max())
    return Arrangement(option, np.concatenate(places))


def _smaller(demand: Demand, option: Ints, left: int) -> Ints:
    """The options, those with more targets than are left replaced by the largest that is possible."""
    smaller = option.copy()
    for i in np.flatnonzero(demand.count[option] > left):
        own = demand.count[demand.first[i] : demand.first[i + 1]]
        if own[0] > left:
            raise InvalidOption(
                f"application {demand.names[i]!r} uses at least {own[0]} targets by its profile; only {left} stay in "
                "service"
            )
        smaller[i] = demand.first[i] + np.searchsorted(own, left, side="right") - 1
    return smaller


def _moved(demand: Demand, option: int, compute: float, places: Ints, carried: Floats, serving: Ints) -> Ints:
    """New places for an application whose own stress is not among what the targets carry."""
    count = demand.count[option]
    staying = np.intersect1d(places, serving)
    # Of too many targets the least stressed stay.
    staying = staying[np.argsort(rounded(carried[staying]), kind="stable")][:count]
    others = np.setdiff1d(serving, staying)
    transfer = demand.transfer_on(option, others)
    added = transfer / (compute + transfer)
    chosen = np.argsort(rounded(carried[others] + (added - added.min(initial=0.0))), kind="stable")
    return np.sort(np.concatenate([staying, others[chosen[: count - staying.size]]]))


def moves(before: Allotment, after: Allotment) -> tuple[Move, ...]:
    """What has to be moved to get from one allotment of the same applications to the other."""
    names = [target.name for target in after.targets]
    found = []
    for old, new in zip(before.applications, after.applications, strict=True):
        sources = sorted(set(old.targets) - set(new.targets))
        destinations = sorted(set(new.targets) - set(old.targets))
        for k, source in enumerate(sources):
            found.append(Move(old.name, names[source], names[destinations[k]] if k < len(destinations) else None))
    return tuple(found)
