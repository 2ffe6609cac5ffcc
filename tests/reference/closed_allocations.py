"""Targets given out in a closed world, as it was done before there were arrivals: releases mean nothing here. Frozen.

The formulas and rules of P4 §2 and §3 as they are written, one by one.

Everything takes the scenario as a plain document with bare numbers. An allocation is {name: count}, a placement
{name: [targets]}. What differs by rounding noise only is the same, as everywhere; a load of 1 is exactly 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

from .engine import unroll
from .policies import quantise

Document = dict[str, Any]
Counts = dict[str, int]
Placed = dict[str, list[int]]


def limits_of(document: Document) -> list[float]:
    """What each target can move at most, bytes/s."""
    targets = document["platform"]["targets"]
    listed = [{}] * targets if isinstance(targets, int) else targets
    return [each.get("bandwidth", math.inf) if isinstance(each, dict) else math.inf for each in listed]


def machine_of(document: Document) -> int:
    """Q of the platform: its nodes, or those of all applications."""
    nodes = document["platform"].get("nodes")
    return sum(nodes_of(app) for app in document["applications"]) if nodes is None else int(nodes)


def nodes_of(app: Document) -> int:
    """Q of an application."""
    return int(app.get("nodes", 1))


def amounts_of(app: Document) -> tuple[list[float], list[float]]:
    """Seconds of every compute and bytes of every operation, as listed, without noise."""
    listed = list(unroll(app["phases"]))
    seconds = [amount for kind, amount in listed if kind == "compute"]
    return seconds, [amount for kind, amount in listed if kind != "compute"]


def compute_of(app: Document) -> float:
    """T_cpu."""
    return math.fsum(amounts_of(app)[0])


def volume_of(app: Document) -> float:
    """V."""
    return math.fsum(amounts_of(app)[1])


def allowed(document: Document, app: Document) -> list[int]:
    """The numbers of targets that an application may use."""
    return sorted(n for n in app["profile"] if n <= len(limits_of(document)))


def transfer(app: Document, n: int) -> float:
    """T_cf(n), seconds of I/O when nobody is in the way."""
    return volume_of(app) / float(app["profile"][n])


def io_share(app: Document, n: int) -> float:
    """T_cf / (T_cpu + T_cf)."""
    return transfer(app, n) / (compute_of(app) + transfer(app, n))


def stress(app: Document, n: int) -> float:
    """n·T_cf / (T_cpu + T_cf)."""
    return n * transfer(app, n) / (compute_of(app) + transfer(app, n))


def cpu_load(app: Document, n: int) -> float:
    """Q·T_cpu / (T_cpu + T_cf)."""
    return nodes_of(app) * compute_of(app) / (compute_of(app) + transfer(app, n))


def load(document: Document, counts: Counts) -> float:
    """Σ stress / N."""
    return sum(stress(app, counts[app["name"]]) for app in document["applications"]) / len(limits_of(document))


def n_perf(document: Document, app: Document) -> int:
    """The fewest targets of those with the highest bandwidth."""
    return min(allowed(document, app), key=lambda n: (-quantise(app["profile"][n]), n))


def n_sys(document: Document, app: Document) -> int:
    """The fewest targets of those with the lowest stress."""
    return min(allowed(document, app), key=lambda n: (quantise(stress(app, n)), n))


def static(document: Document) -> Counts:
    """Q_j·N/Q rounded half up, at least 1, then to the nearest allowed count, the smaller one of two."""
    counts, machine = {}, machine_of(document)
    for app in document["applications"]:
        twice = 2 * nodes_of(app) * len(limits_of(document))
        share = max(1, (twice + machine) // (2 * machine))
        counts[app["name"]] = min((abs(n - share), n) for n in allowed(document, app))[1]
    return counts


def best_bandwidth(document: Document) -> Counts:
    """Everyone gets n_perf."""
    return {app["name"]: n_perf(document, app) for app in document["applications"]}


def nsys(document: Document) -> Counts:
    """Everyone gets n_sys."""
    return {app["name"]: n_sys(document, app) for app in document["applications"]}


def exact_stress(app: Document, n: int) -> Fraction:
    """The stress without any rounding: a load of 1 is full, and the last digit of a float must not decide that."""
    compute, volume = (sum(map(Fraction, amounts), Fraction(0)) for amounts in amounts_of(app))
    transfer = volume / Fraction(app["profile"][n])
    return n * transfer / (compute + transfer)


def tcpu(document: Document, most: float | Fraction = 1) -> Counts:
    """Algorithm 1 of P4, line by line; n + 1 is the next allowed count. `most`: the highest load."""
    apps, targets = document["applications"], len(limits_of(document))
    pi = [n_sys(document, app) for app in apps]
    done = False
    while not done:
        tau = list(pi)
        load_diff = [-1.0] * len(apps)
        init_io_load = sum((exact_stress(app, n) for app, n in zip(apps, pi, strict=True)), Fraction(0)) / targets
        for i, app in enumerate(apps):
            n = pi[i]
            while n != n_perf(document, app) and load_diff[i] < 0:
                n = min(m for m in allowed(document, app) if m > n)
                if init_io_load + (exact_stress(app, n) / targets - exact_stress(app, pi[i]) / targets) <= most:
                    load_diff[i] = cpu_load(app, n) - cpu_load(app, pi[i])
                    tau[i] = n
        idx = max(range(len(apps)), key=lambda i: quantise(load_diff[i]))  # max keeps the first of equals
        if load_diff[idx] < 0:
            done = True
        else:
            pi[idx] = tau[idx]
    return {app["name"]: n for app, n in zip(apps, pi, strict=True)}


def mckp(document: Document) -> Counts | None:
    """All vectors of counts that fit, and the best of them; None if none fits.

    When the applications outnumber the targets one target is set aside for those with count 0.
    """
    apps, targets = document["applications"], len(limits_of(document))
    crowded = len(apps) > targets
    room = targets - 1 if crowded else targets
    choices = [[0, *allowed(document, app)] if crowded else allowed(document, app) for app in apps]
    fitting = [vector for vector in product(*choices) if sum(vector) <= room]
    if not fitting:
        return None

    def bandwidth(vector: tuple[int, ...]) -> float:
        return quantise(math.fsum(app["profile"][n] for app, n in zip(apps, vector, strict=True) if n))

    best = min(fitting, key=lambda vector: (-bandwidth(vector), sum(vector), vector))
    return {app["name"]: n for app, n in zip(apps, best, strict=True)}


def greedy_non_clairvoyant(document: Document, counts: Counts) -> Placed:
    """By falling count, one target after the other, going on where the last application stopped."""
    targets, pointer, placed = len(limits_of(document)), 0, {}
    for name in sorted(counts, key=lambda name: -counts[name]):
        placed[name] = sorted((pointer + step) % targets for step in range(counts[name]))
        pointer += counts[name]
    return placed


def greedy_clairvoyant(document: Document, counts: Counts) -> Placed:
    """By falling share of I/O; each takes the least stressed targets, which then carry stress/n more."""
    carried = [0.0] * len(limits_of(document))
    placed = {}
    apps = document["applications"]
    for app in sorted(apps, key=lambda app: -quantise(io_share(app, counts[app["name"]]))):
        n = counts[app["name"]]
        chosen = sorted(range(len(carried)), key=lambda target: (quantise(carried[target]), target))[:n]
        for target in chosen:
            carried[target] += stress(app, n) / n
        placed[app["name"]] = sorted(chosen)
    return placed


ALLOCATIONS: dict[str, Callable[[Document], Counts]] = {
    "static": static,
    "best-bandwidth": best_bandwidth,
    "nsys": nsys,
    "tcpu": tcpu,
}
PLACEMENTS: dict[str, Callable[[Document, Counts], Placed]] = {
    "greedy-non-clairvoyant": greedy_non_clairvoyant,
    "greedy-clairvoyant": greedy_clairvoyant,
}
