"""Taking targets out of service in a study, because they fail or are drained: nobody moves who need not.

Whoever used such a target moves that one transfer, and only that, to the target that it does not use yet and that is
least stressed by others while it runs. Those who start first come first, then those with most stress. Who had more
targets than are left gets the most that its profile allows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from penstock.errors import InvalidOption
from penstock.kernels.arrays import Floats, Ints
from penstock.policies.allocation.demand import Demand
from penstock.policies.sharing.order import ranked, rounded
from penstock.studies.targets.arrangement import Arrangement, most_carried, shares_of_time
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
    now, places = before, before.of_each(demand)
    serving = np.setdiff1d(np.arange(demand.targets), out)
    for i in ranked(demand.presence.begin, -demand.io_share[option]):
        if option[i] != before.option[i] or np.isin(places[i], out).any():
            carried = _carried_for_others(demand, now, i)
            places[i] = _moved(demand, option[i], demand.compute[i], places[i], carried, serving)
            chosen = now.option.copy()
            chosen[i] = option[i]
            now = Arrangement(chosen, np.concatenate(places))
    return now


def _carried_for_others(demand: Demand, now: Arrangement, i: int) -> Floats:
    """What each target carries for others while application `i` runs, when it carries most."""
    runs = demand.presence
    owner = np.repeat(np.arange(now.option.size), demand.count[now.option])
    others = owner != i
    begin, end = np.maximum(runs.begin[owner], runs.begin[i]), np.minimum(runs.end[owner], runs.end[i])
    columns = (now.places, shares_of_time(demand, now), begin, end)
    return most_carried(demand.targets, *(column[others] for column in columns))


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
