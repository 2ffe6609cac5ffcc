"""How many targets for whom, and which: the formulas and rules of P4 §2 and §3 as they are written, one by one.

For jobs that come and go as models §8 says it: an application runs, for planning, from its start for as long as it
takes alone on n_perf targets. Instants within 1e-9 are one, and ends come before starts.

Everything takes the scenario as a plain document with bare numbers. An allocation is {name: count}, a placement
{name: [targets]}. What differs by rounding noise only is the same, as everywhere; a load of 1 is exactly 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

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
    """Q of the platform: its nodes, or the most of those that run at a time."""
    nodes = document["platform"].get("nodes")
    if nodes is not None:
        return int(nodes)
    return max(sum(map(nodes_of, running(document, at))) for at in starts(document))


def start_of(document: Document, app: Document) -> float:
    """s: the release, or the begin of the window, counted from the first start of all."""
    begin = document.get("window", {}).get("begin", 0.0)
    origin = min(max(begin, other.get("release", 0.0)) for other in document["applications"])
    return float(max(begin, app.get("release", 0.0)) - origin)


def same(one: float, other: float) -> bool:
    """Whether two instants are one."""
    return abs(one - other) <= 1e-9 * max(one, other)


def starts(document: Document) -> list[float]:
    """All instants of starts."""
    found: list[float] = []
    for start in sorted(start_of(document, app) for app in document["applications"]):
        if not found or not same(found[-1], start):
            found.append(start)
    return found


def running(document: Document, at: float) -> list[Document]:
    """Those who run at an instant of starts, by plan."""
    return [app for app in document["applications"] if runs_at(document, app, at)]


def runs_at(document: Document, app: Document, at: float) -> bool:
    """Whether an application has started and not ended; at its own start it always runs."""
    start = start_of(document, app)
    end = start + compute_of(app) + transfer(app, n_perf(document, app))
    return same(start, at) or (start < at < end and not same(end, at))


def newcomers(document: Document, at: float) -> list[Document]:
    """Those who start at an instant, in the order of the scenario."""
    return [app for app in document["applications"] if same(start_of(document, app), at)]


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


def bandwidth_of(app: Document, n: int) -> float:
    """b(n): the profile, divided by how much more than the mean the slowest node moves."""
    return float(app["profile"][n]) / float(app.get("node_skew", 1.0))


def transfer(app: Document, n: int) -> float:
    """T_cf(n), seconds of I/O when nobody is in the way."""
    return volume_of(app) / bandwidth_of(app, n)


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
    """Σ stress / N of those that run, at the instant at which it is most."""
    sums = [sum(stress(app, counts[app["name"]]) for app in running(document, at)) for at in starts(document)]
    return max(sums) / len(limits_of(document))


def n_perf(document: Document, app: Document) -> int:
    """The fewest targets of those with the highest bandwidth."""
    return min(allowed(document, app), key=lambda n: (-quantise(bandwidth_of(app, n)), n))


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
    transfer = volume / (Fraction(app["profile"][n]) / Fraction(app.get("node_skew", 1.0)))
    return n * transfer / (compute + transfer)


def tcpu(document: Document, most: float | Fraction = 1) -> Counts:
    """Algorithm 1 of P4, line by line; n + 1 is the next allowed count. `most`: the highest load.

    The load that counts for application i is the highest at the instants at which i runs.
    """
    apps = document["applications"]
    times = [[at for at in starts(document) if runs_at(document, app, at)] for app in apps]
    beside = {at: [apps.index(other) for other in running(document, at)] for at in starts(document)}
    exact = [{n: exact_stress(app, n) / len(limits_of(document)) for n in allowed(document, app)} for app in apps]
    pi = [n_sys(document, app) for app in apps]
    done = False
    while not done:
        tau = list(pi)
        load_diff = [-1.0] * len(apps)
        loads = {at: sum((exact[k][pi[k]] for k in there), Fraction(0)) for at, there in beside.items()}
        for i, app in enumerate(apps):
            n = pi[i]
            io_load = max(loads[at] for at in times[i])
            while n != n_perf(document, app) and load_diff[i] < 0:
                n = min(m for m in allowed(document, app) if m > n)
                if io_load + (exact[i][n] - exact[i][pi[i]]) <= most:
                    load_diff[i] = cpu_load(app, n) - cpu_load(app, pi[i])
                    tau[i] = n
        idx = max(range(len(apps)), key=lambda i: quantise(load_diff[i]))  # max keeps the first of equals
        if load_diff[idx] < 0:
            done = True
        else:
            pi[idx] = tau[idx]
    return {app["name"]: n for app, n in zip(apps, pi, strict=True)}


def best_vector(document: Document, apps: list[Document], room: int, leaving: bool) -> tuple[int, ...] | None:
    """Of all vectors of counts that fit, the best; None if none does. `leaving`: who may use one target may have 0."""
    choices = [[0] * (leaving and 1 in allowed(document, app)) + allowed(document, app) for app in apps]
    fitting = [vector for vector in product(*choices) if sum(vector) <= room]

    def bandwidth(vector: tuple[int, ...]) -> float:
        return quantise(math.fsum(bandwidth_of(app, n) for app, n in zip(apps, vector, strict=True) if n))

    return min(fitting, key=lambda vector: (-bandwidth(vector), sum(vector), vector), default=None)


def mckp(document: Document) -> Placed | None:
    """Targets of one's own, at each instant for those who start then; None if it is not possible.

    If somebody is left out, all over again with the last target shared from the beginning.
    """
    targets = len(limits_of(document))
    return exclusive(document, targets, False) or exclusive(document, targets - 1, True)


def exclusive(document: Document, own: int, leaving: bool) -> Placed | None:
    """One pass, with so many targets to be had alone; who is left out is on the one after them."""
    placed: Placed = {}
    for at in starts(document):
        there = {app["name"] for app in running(document, at)}
        taken = {target for name, targets in placed.items() if name in there for target in targets}
        free, apps = [target for target in range(own) if target not in taken], newcomers(document, at)
        vector = best_vector(document, apps, len(free), False)
        if vector is None and leaving:
            vector = best_vector(document, apps, len(free), True)
        if vector is None:
            return None
        for app, n in zip(apps, vector, strict=True):
            placed[app["name"]] = free[:n] if n else [own]
            free = free[n:]
    return placed


def greedy_non_clairvoyant(document: Document, counts: Counts) -> Placed:
    """By start, then falling count, one target after the other, going on where the last application stopped."""
    targets, pointer, placed = len(limits_of(document)), 0, {}
    for at in starts(document):
        for app in sorted(newcomers(document, at), key=lambda app: -counts[app["name"]]):
            n = counts[app["name"]]
            placed[app["name"]] = sorted((pointer + step) % targets for step in range(n))
            pointer += n
    return placed


def greedy_clairvoyant(document: Document, counts: Counts) -> Placed:
    """By start, then falling share of I/O; each takes the targets that those who run stress least."""
    placed: Placed = {}
    by_name = {app["name"]: app for app in document["applications"]}
    for at in starts(document):
        for app in sorted(newcomers(document, at), key=lambda app: -quantise(io_share(app, counts[app["name"]]))):
            carried = [0.0] * len(limits_of(document))
            for name, targets in placed.items():  # in the order of placement
                if runs_at(document, by_name[name], at):
                    for target in targets:
                        carried[target] += stress(by_name[name], counts[name]) / counts[name]
            least = sorted(range(len(carried)), key=lambda target: (quantise(carried[target]), target))
            placed[app["name"]] = sorted(least[: counts[app["name"]]])
    return placed


def random_counts(document: Document, rng: np.random.Generator) -> Counts:
    """Any allowed count, drawn in the order of the scenario."""
    return {app["name"]: int(rng.choice(allowed(document, app))) for app in document["applications"]}


def random_places(document: Document, counts: Counts, rng: np.random.Generator) -> Placed:
    """Any targets, drawn by start, then in the order of the scenario."""
    targets = len(limits_of(document))
    order = [app["name"] for at in starts(document) for app in newcomers(document, at)]
    return {name: sorted(rng.choice(targets, counts[name], replace=False).tolist()) for name in order}


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
