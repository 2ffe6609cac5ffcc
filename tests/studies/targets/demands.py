"""Between plain documents, which the reference takes, and the arrays that policies for targets see and return."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.kernels.arrays import Ints
from penstock.policies.allocation import Demand
from reference.allocations import (
    Counts,
    Placed,
    allowed,
    bandwidth_of,
    compute_of,
    limits_of,
    machine_of,
    nodes_of,
    start_of,
    volume_of,
)

Document = dict[str, Any]


def demand_of(document: Document) -> Demand:
    apps = document["applications"]
    options = [allowed(document, app) for app in apps]
    return Demand(
        names=tuple(app["name"] for app in apps),
        machine=float(machine_of(document)),
        nodes=np.array([float(nodes_of(app)) for app in apps]),
        start=np.array([start_of(document, app) for app in apps]),
        compute=np.array([compute_of(app) for app in apps]),
        volume=np.array([volume_of(app) for app in apps]),
        first=np.cumsum([0] + [len(counts) for counts in options]),
        count=np.concatenate(options),
        bandwidth=np.array([bandwidth_of(app, n) for app, counts in zip(apps, options, strict=True) for n in counts]),
        limit=np.array(limits_of(document)),
    )


def options_of(demand: Demand, counts: Counts) -> Ints:
    """The options with these counts."""
    found = []
    for i, name in enumerate(demand.names):
        own = demand.count[demand.first[i] : demand.first[i + 1]].tolist()
        found.append(demand.first[i] + own.index(counts[name]))
    return np.array(found)


def counts_of(demand: Demand, option: Ints) -> Counts:
    return dict(zip(demand.names, demand.count[option].tolist(), strict=True))


def placed_of(demand: Demand, option: Ints, places: Ints) -> Placed:
    ends = np.cumsum(demand.count[option])
    assert places.size == ends[-1]
    return dict(zip(demand.names, (each.tolist() for each in np.split(places, ends[:-1])), strict=True))
