"""Random machines: I/O nodes, targets that divide their time or have a capacity, file systems, all under a plan."""

from __future__ import annotations

import random
from typing import Any

from penstock.model import Scenario


def jobs_of(draw: random.Random, targets: int = 0, window: float | None = None) -> list[dict[str, Any]]:
    """A few jobs, some with caps, walltimes, skews or late releases."""
    jobs = []
    for i in range(draw.randint(2, 5)):
        body = [{"compute": draw.uniform(0, 3)}, {draw.choice(["write", "read"]): draw.uniform(0.2, 3)}]
        phases: list[dict[str, Any]] = [{"repeat": draw.randint(1, 3), "phases": body}]
        if draw.random() < 0.3:
            phases.append({"compute": draw.uniform(0, 2)})
        job: dict[str, Any] = {"name": f"j{i}", "nodes": draw.randint(1, 4), "phases": phases}
        job["release"] = draw.choice([0, 0, draw.uniform(0, 4)])
        if draw.random() < 0.6:
            job["bandwidth"] = draw.uniform(0.2, 2)
        if draw.random() < 0.2:
            job["walltime"] = draw.uniform(6, 12)
        if draw.random() < 0.2:
            job["node_skew"] = 1.5
        if targets:
            job["profile"] = {n: draw.uniform(0.5, 2) * n**0.5 for n in range(1, targets + 1)}
        jobs.append(job)
    return jobs


def machine(
    seed: int, *, io: bool = False, targets: bool = False, capacity: bool = False, links: tuple[str, ...] = ()
) -> Scenario:
    """One with these kinds of resources; the plan says who goes where."""
    draw = random.Random(seed)
    count = draw.randint(2, 4) if targets else 0
    window = {"end": draw.uniform(6, 12)} if seed % 2 else None
    jobs = jobs_of(draw, count)
    platform: dict[str, Any] = {key: draw.uniform(0.5, 2) for key in links}
    plan: dict[str, Any] = {}
    if io:
        platform["io_nodes"] = {"count": 2, "bandwidth": draw.uniform(0.5, 2), "nodes": 9}
        plan["mapping"] = {job["name"]: draw.randint(0, 1) for job in jobs}
        if draw.random() < 0.3:
            platform["io_nodes"]["interference"] = [1, 0.9, 0.7]
    if targets:
        platform["targets"] = [_target(draw, place, capacity) for place in range(count)]
        plan["placement"] = {job["name"]: draw.sample(range(count), draw.randint(1, count)) for job in jobs}
    if not plan:
        plan["sharing"] = {"default": "fair-share"}
    document: dict[str, Any] = {"version": 1, "platform": platform, "applications": jobs, "plan": plan, "seed": seed}
    document["noise"] = draw.choice([0, 0.2])
    return Scenario.from_document(document | ({"window": window} if window else {}))


def _target(draw: random.Random, place: int, capacity: bool) -> dict[str, Any]:
    target: dict[str, Any] = {"name": f"ost{place}"}
    if capacity:
        target["capacity"] = draw.uniform(0.5, 2)
    if draw.random() < 0.3:
        target["bandwidth"] = draw.uniform(0.3, 1)
    if draw.random() < 0.2:
        target["interference"] = [1, 0.8]
    return target
