"""What is measured on the link, each as a plain document."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import asdict
from typing import Any

import numpy as np

from .link import Link
from .workload import Told, predicted_ends, stretches

NONE = "uncoordinated"
ALIKE = "fair-share"  # how the link itself divides: equally among those who write
POLICIES = (NONE, ALIKE, "fcfs", "greedy-yield", "list-stretch")
MARGIN = 0.02  # of the link that the controller leaves free, so that queues on it stay short
OFF = {"PENSTOCK": "off"}
SETTLED = 3.0  # seconds after which all writers have their final rates
NOISE, SEEDS = 0.005, range(20)

Document = dict[str, Any]


def payload_rate(link: Link, seconds: float = 6.0) -> float:
    """Bytes/s of files that one writer moves when nobody paces it and nobody else is there."""
    [rate] = steady(link, 1, seconds, [OFF], 0.0)
    return rate


def steady(
    link: Link, writers: int, seconds: float, environments: Sequence[dict[str, str]], volume: float
) -> list[float]:
    """Bytes/s of each of some writers that never stop, once they are settled."""
    told = [
        {"name": f"w{place + 1}", "release": 0.0, "seconds": seconds, "volume": volume or None}
        for place in range(writers)
    ]
    rates = []
    for answer in link.run(told, environments):
        times, moved = np.array(answer["passed"]).T
        first, last = np.interp([SETTLED, seconds], times, moved)
        rates.append(float(last - first) / (seconds - SETTLED))
    return rates


def unpaced_writers(link: Link, writers: int, seconds: float) -> Document:
    """So many writers that nobody paces: what each gets of the link, as P3 figure 1 has it of a file system."""
    return {"writers": writers, "rates": steady(link, writers, seconds, [OFF] * writers, 0.0)}


def paced_writers(link: Link, capacity: float, writers: int, seconds: float, intruders: int = 0) -> Document:
    """So many writers under fair-share, and intruders that ask nobody; who got what."""
    with link.controller(ALIKE, capacity) as environment:
        environments = [environment] * writers + [OFF] * intruders
        rates = steady(link, writers + intruders, seconds, environments, 2.0 * capacity * seconds)
    paced, unpaced = rates[:writers], rates[writers:]
    shares = [rate / (capacity / writers) for rate in paced]
    return {
        "writers": writers,
        "grant": capacity,
        "rates": paced,
        "sum_off": sum(paced) / capacity - 1.0,
        "share_off": max((abs(share - 1.0) for share in shares), default=0.0),
        "intruders": unpaced,
    }


def contended(link: Link, workload: list[Told], sharing: str, bandwidth: float, capacity: float) -> Document:
    """The workload under one policy: the stretch of every application, and what the simulator said it would be."""
    load = os.getloadavg()[0]
    coordinated = sharing != NONE
    with link.controller(sharing, capacity) if coordinated else nullcontext(OFF) as environment:
        answers = link.run([asdict(each) for each in workload], [environment] * len(workload))
    ends = {each.name: answer["end"] for each, answer in zip(workload, answers, strict=True)}
    decided = (sharing, capacity) if coordinated else (ALIKE, bandwidth)
    expected = predicted_ends(workload, *decided)
    measured, predicted = stretches(workload, ends, bandwidth), stretches(workload, expected, bandwidth)
    return {
        "policy": sharing,
        "stretch": measured,
        "predicted": predicted,
        "off": {name: measured[name] / predicted[name] - 1.0 for name in measured},
        "makespan": max(ends.values()),
        "predicted_makespan": max(expected.values()),
        "load": load,
    }


def sensitivity(workload: list[Told], sharing: str, bandwidth: float, capacity: float) -> float:
    """How far the simulator itself gets from its prediction when every phase is off by up to NOISE."""
    decided = (ALIKE, bandwidth) if sharing == NONE else (sharing, capacity)
    exact = stretches(workload, predicted_ends(workload, *decided), bandwidth)
    noisy = [stretches(workload, predicted_ends(workload, *decided, NOISE, seed), bandwidth) for seed in SEEDS]
    return max(abs(each[name] / exact[name] - 1.0) for each in noisy for name in exact)
