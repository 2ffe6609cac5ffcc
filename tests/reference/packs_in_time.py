"""Packs and queues in time (models §4 and §8), one instant after the other, with nothing remembered that can be redone.

Whenever it must be known when jobs end, every I/O node is simulated anew from its beginning. A mapping is a class with
two methods: `come` is told of jobs, `starts` says which of them start on which I/O node. Takes a document with bare
numbers, without noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from .engine import Document, limit_of, unroll

TOLERANCE = 1e-9


def at_most(a: float, b: float) -> bool:
    """Whether a ≤ b, rounding apart."""
    return a <= b + TOLERANCE * abs(b)


@dataclass
class Job:
    index: int
    name: str
    processors: int
    release: float
    alone: float  # T
    io: float  # V
    walltime: float | None
    node: int | None = None
    start: float = math.nan
    end: float = math.nan

    @property
    def waits(self) -> bool:
        return self.node is None

    @property
    def runs(self) -> bool:
        return self.node is not None and math.isnan(self.end)


@dataclass
class Site:
    """The machine, and the jobs that have come."""

    document: Document
    nodes: int
    room: int
    now: float = 0.0
    jobs: list[Job] = field(default_factory=list)  # by release, then as in the scenario
    single: bool = True  # one instant of release in all

    def on(self, node: int) -> list[Job]:
        return [job for job in self.jobs if job.runs and job.node == node]

    def free(self, node: int) -> int:
        return self.room - sum(job.processors for job in self.on(node))

    def waiting(self) -> list[Job]:
        return [job for job in self.jobs if job.waits]


class Packs:
    """make-pack(S): packs not yet started, oldest first."""

    def __init__(self, sensitivity: float) -> None:
        self.sensitivity = sensitivity
        self.packs: list[list[Job]] = []
        self.planned: dict[int, list[list[Job]]] | None = None

    def takes(self, site: Site, pack: list[Job], job: Job) -> bool:
        longest = max(each.alone for each in pack)
        load = sum(each.io for each in pack) + job.io
        enough = self.sensitivity == math.inf or at_most(load, self.sensitivity * longest)
        return enough and sum(each.processors for each in pack) + job.processors <= site.room

    def come(self, site: Site, new: list[Job]) -> None:
        for job in sorted(new, key=lambda job: -job.alone):
            by_fullness = sorted(self.packs, key=lambda pack: -sum(each.processors for each in pack))
            taking = [pack for pack in by_fullness if self.takes(site, pack, job)]
            if taking:
                taking[0].append(job)
            else:
                self.packs.append([job])
        if site.single:
            self.plan(site)

    def plan(self, site: Site) -> None:
        """§4: longest first, each to the node that frees earliest, by announced times."""
        self.planned = {node: [] for node in range(site.nodes)}
        until = [0.0] * site.nodes
        for pack in sorted(self.packs, key=length, reverse=True):
            node = next(node for node in range(site.nodes) if at_most(until[node], min(until)))
            self.planned[node].append(pack)
            until[node] += length(pack)

    def starts(self, site: Site, asked: list[int]) -> list[tuple[Job, int]]:
        started = []
        for node in asked:
            ready = self.packs if self.planned is None else [pack for pack in self.planned[node] if pack in self.packs]
            if ready and not site.on(node):
                pack = max(ready, key=length)
                self.packs.remove(pack)
                started += [(job, node) for job in pack]
        return started


def length(pack: list[Job]) -> float:
    return max(job.alone for job in pack)


class Backfill:
    """Only released jobs; otherwise the rule of `penstock.policies.mapping.backfill`, in its words."""

    def __init__(self, sensitivity: float) -> None:
        self.most = sensitivity

    def come(self, site: Site, new: list[Job]) -> None:
        pass

    def fits(self, site: Site, job: Job, others: list[Job]) -> bool:
        together = [*others, job]
        enough = self.most == math.inf or at_most(sum(each.io / each.alone for each in together), self.most)
        return not others or (enough and sum(each.processors for each in together) <= site.room)

    def starts(self, site: Site, asked: list[int]) -> list[tuple[Job, int]]:
        on = {
            node: sorted(site.on(node), key=lambda job: (job.start, *self.place(site, job)))
            for node in range(site.nodes)
        }
        started: list[tuple[Job, int]] = []
        promise: tuple[float, int, list[Job], Job] | None = None
        for job in sorted(site.waiting(), key=lambda job: self.place(site, job)):
            able = [node for node in asked if self.fits(site, job, on[node])]
            if promise:
                time, node, others, head = promise
                short = at_most(site.now + job.alone, time)
                if not short and not self.fits(site, job, [*others, head]):
                    able = [each for each in able if each != node]
            if able:
                chosen = min(
                    able, key=lambda node: (self.demand(on[node]), sum(each.processors for each in on[node]), node)
                )
                if promise and chosen == promise[1] and not short:
                    promise[2].append(job)
                on[chosen].append(job)
                started.append((job, chosen))
            elif not promise:
                promise = min((self.opening(site, job, node, on[node]) for node in on), key=lambda each: each[0])
        return started

    def demand(self, jobs: list[Job]) -> float:
        return sum(job.io / job.alone for job in jobs)

    def place(self, site: Site, job: Job) -> tuple[float, int]:
        """In the queue; equal ones as they came."""
        weight = job.alone + job.processors * job.alone / site.room + job.io
        return -weight, site.jobs.index(job)

    def opening(self, site: Site, job: Job, node: int, there: list[Job]) -> tuple[float, int, list[Job], Job]:
        def announced(each: Job) -> float:
            return (site.now if math.isnan(each.start) else each.start) + each.alone

        others, time = sorted(there, key=announced), site.now
        while not self.fits(site, job, others):
            time = max(site.now, announced(others.pop(0)))
        return time, node, others, job


class Easy:
    """First come, first served; backfilling that does not delay the first that waits, by walltimes."""

    def __init__(self, factor: float) -> None:
        self.factor = factor
        self.promised: dict[str, list[float]] = {}  # every reservation that a job was ever given

    def come(self, site: Site, new: list[Job]) -> None:
        pass

    def limit(self, job: Job) -> float:
        return self.factor * job.alone if job.walltime is None else job.walltime

    def free_at(self, site: Site, node: int, time: float, started: list[tuple[Job, int]]) -> int:
        """Processors free at a time to come, if everybody runs for as long as it may."""
        running = [(job, max(site.now, job.start + self.limit(job))) for job in site.on(node)]
        running += [(job, site.now + self.limit(job)) for job, where in started if where == node]
        return site.room - sum(job.processors for job, end in running if not at_most(end, time))

    def earliest(self, site: Site, job: Job, started: list[tuple[Job, int]]) -> tuple[float, int]:
        ends = [max(site.now, each.start + self.limit(each)) for each in site.jobs if each.runs]
        ends += [site.now + self.limit(each) for each, _ in started]
        return next(
            (time, node)
            for time in sorted({site.now, *ends})
            for node in range(site.nodes)
            if self.free_at(site, node, time, started) >= job.processors
        )

    def starts(self, site: Site, asked: list[int]) -> list[tuple[Job, int]]:
        started: list[tuple[Job, int]] = []
        first: tuple[Job, float, int] | None = None
        for job in site.waiting():
            left = {
                node: site.free(node) - sum(each.processors for each, where in started if where == node)
                for node in range(site.nodes)
            }
            able = [
                node for node in left if left[node] >= job.processors and self.allowed(site, job, node, first, started)
            ]
            if able:
                started.append((job, min(able, key=lambda node: (left[node], node))))
            elif first is None:
                first = (job, *self.earliest(site, job, started))
                self.promised.setdefault(job.name, []).append(first[1])
        return started

    def allowed(
        self, site: Site, job: Job, node: int, first: tuple[Job, float, int] | None, started: list[tuple[Job, int]]
    ) -> bool:
        """Whether the first that waits could still start where and when it was promised."""
        if first is None or first[2] != node:
            return True
        head, time, _ = first
        return self.free_at(site, node, time, [*started, (job, node)]) >= head.processors


def jobs_of(document: Document) -> list[Job]:
    machine = document["platform"]["io_nodes"]
    alone = {**document, "platform": {**document["platform"], "bandwidth": machine["bandwidth"]}}
    jobs = []
    for index, app in enumerate(document["applications"]):
        seconds = moving = 0.0
        for kind, amount in unroll(app["phases"]):
            if kind == "compute":
                seconds += amount
            else:
                seconds += amount / limit_of(alone, app, kind)
                moving += amount / machine["bandwidth"]
        wall = app.get("walltime")
        jobs.append(Job(index, app["name"], app.get("nodes") or 1, app.get("release") or 0.0, seconds, moving, wall))
    return jobs


def completions(site: Site, node: int, sharing: Any) -> dict[str, float]:
    """When everybody who was ever started on this I/O node ends, if nobody else comes."""
    from . import simulate  # noqa: PLC0415 - this module is one of its parts

    machine = site.document["platform"]["io_nodes"]
    started = {job.name: job for job in site.jobs if job.node == node}
    if not started:
        return {}
    platform = {**site.document["platform"], "bandwidth": machine["bandwidth"]}
    platform.pop("io_nodes")
    # On I/O nodes a walltime is what the queue goes by; nobody is cut off.
    apps = [
        {key: value for key, value in app.items() if key != "walltime"} | {"release": started[app["name"]].start}
        for app in site.document["applications"]
        if app["name"] in started
    ]
    run = simulate({"version": 1, "platform": platform, "applications": apps}, sharing)
    return {each["name"]: each["completion"] for each in run["applications"]}


def run_queue(document: Document, mapping: Any, sharing: str) -> list[Job]:
    """Every job with its I/O node, its start and its end. Times count from the first release."""
    machine = document["platform"]["io_nodes"]
    everyone = jobs_of(document)
    begin = min(job.release for job in everyone)
    for job in everyone:
        job.release -= begin
    to_come = sorted(everyone, key=lambda job: (job.release, job.index))
    site = Site(document, machine["count"], machine["nodes"])
    site.single = at_most(max(job.release for job in everyone), 0.0)
    while True:
        ends = {node: _next_end(site, node, sharing) for node in range(site.nodes)}
        soonest = min(ends.values())
        release = to_come[0].release if to_come else math.inf
        if soonest == release == math.inf:
            return everyone
        if soonest < release and not at_most(release, soonest):
            node = next(node for node in ends if at_most(ends[node], soonest))
            site.now = ends[node]
            _end(site, node, sharing)
            asked = [node]
        else:
            due = [node for node in ends if at_most(ends[node], release)]
            new = [job for job in to_come if at_most(job.release, release)]
            for node in due:
                site.now = ends[node]
                _end(site, node, sharing)
            site.now = max(site.now, *(job.release for job in new))
            to_come = [job for job in to_come if job not in new]
            new.sort(key=lambda job: job.index)
            site.jobs += new
            mapping.come(site, new)
            asked = list(range(site.nodes))
        for job, node in mapping.starts(site, asked):
            job.node, job.start = node, site.now


def _next_end(site: Site, node: int, sharing: str) -> float:
    ends = completions(site, node, sharing)
    return min((ends[job.name] for job in site.on(node)), default=math.inf)


def _end(site: Site, node: int, sharing: str) -> None:
    ends = completions(site, node, sharing)
    for job in site.on(node):
        if at_most(ends[job.name], site.now):
            job.end = ends[job.name]
