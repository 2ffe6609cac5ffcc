"""The whole machine in one run (models §9), one instant after the other: I/O nodes, burst buffer and targets.

A plan says which I/O node and which targets an application uses, what part of the buffer is its own, and who shares
each resource. At an instant everything due within 1e-9 of it is applied; then every part (resources that the paths of
applications join) to which something happened decides once. Times count from the begin of the run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from math import inf
from typing import Any

from .engine import TOLERANCE, Document, losses, span_of, started_at_zero
from .machine_pool import Pool
from .machine_shares import Flow, Machine, Rates, State, moment_of, operation, seconds_alone, shares
from .machine_world import Stage, World


class Stalled(Exception):
    """Everyone waits for someone else."""


@dataclass
class Job:
    """One application on its way: away, compute, io, tail (a last compute), done or cut."""

    name: str
    nodes: int
    release: float
    start: float
    earlier: float
    until: float
    app: Document
    world: World
    stages: list[Stage]
    pool: Pool | None = None
    part: int | None = None
    may_use: set[str] = field(default_factory=set)
    doing: str = "away"
    work: float = 0.0
    volume: float = 0.0
    kind: str = ""
    since: float = 0.0
    posted: float = 0.0
    alone: float = 0.0  # seconds that the operation under way takes alone
    flows: list[Flow] = field(default_factory=list)
    left: list[float] = field(default_factory=list)
    rates: list[float] = field(default_factory=list)
    first: bool = True
    iterations: list[float] = field(default_factory=list)
    compute_done: float = 0.0
    transferred: float = 0.0
    io_seconds: float = 0.0
    completion: float | None = None
    cut: float | None = None
    last_yield: float = 0.0

    def advance(self, now: float) -> None:
        if not self.stages:
            self.doing, self.completion = "done", now
            self.last_yield = self.yield_at(now)
            return
        self.work, self.volume, self.kind = self.stages.pop(0)
        self.since, self.doing = now, "compute" if self.volume else "tail"
        if not self.work:
            self.post(now)

    def post(self, now: float) -> None:
        """End the compute; all flows of the operation begin, or one that writes into the buffer or reads from it."""
        self.compute_done += self.work
        self.doing, self.posted = "io", now
        if self.pool:
            self.flows = [self.pool.own_flow(self.kind)]
            self.pool.begins(self.kind, self.volume, now)
        else:
            self.flows = operation(self.name, self.world.ways(self.app, self.kind), self.world.sizes)
        self.left = [self.volume / len(self.flows)] * len(self.flows)
        self.rates = [0.0] * len(self.flows)
        self.alone = seconds_alone(self.flows, self.volume)

    def complete(self, now: float) -> None:
        """End the operation; it is an iteration unless it was the very first non-empty phase."""
        self.transferred += self.volume
        self.io_seconds += self.alone
        if self.work or not self.first:
            self.iterations.append(self.work + self.alone)
        self.first, self.flows = False, []
        if self.pool:
            self.pool.ends(self.kind)
        self.advance(now)

    def settle(self, now: float) -> bool:
        """Apply what is due at this instant; whether there was anything."""
        slack = TOLERANCE * now
        if self.doing == "away" and self.start <= now + slack:
            self.advance(now)
        elif self.doing == "compute" and self.since + self.work <= now + slack:
            self.post(now)
        elif self.doing == "io" and self.end_flows(slack):
            if not self.flows:
                self.complete(now)
        else:
            return False
        return True

    def end_flows(self, slack: float) -> bool:
        """Drop what has moved all its bytes; whether something has."""
        over = [left <= rate * slack for left, rate in zip(self.left, self.rates, strict=True)]
        if any(over):
            keep = [place for place, is_over in enumerate(over) if not is_over]
            self.flows, self.left = [self.flows[i] for i in keep], [self.left[i] for i in keep]
            self.rates = [self.rates[i] for i in keep]
        return any(over)

    def in_time(self, until: float) -> bool:
        """Whether its last compute is over by then, which is no event."""
        return self.doing == "tail" and self.since + self.work <= until * (1 + TOLERANCE)

    def cut_off(self, now: float) -> bool:
        """Stop it if its walltime is over and it is not finished; all else due comes first."""
        if self.doing in ("away", "done", "cut") or self.until > now * (1 + TOLERANCE) or self.in_time(now):
            return False
        self.last_yield = self.yield_at(now)
        self.stop(now)
        self.doing, self.cut, self.flows, self.left, self.rates = "cut", now, [], [], []
        if self.pool:
            self.pool.cut_off()
        return True

    def due(self, now: float) -> list[float]:
        """When something happens to it, as things stand."""
        if self.doing == "away":
            return [self.start]
        times = [] if self.doing in ("done", "cut") or self.in_time(self.until) else [self.until]
        if self.doing == "compute":
            times.append(self.since + self.work)
        if self.doing == "io":
            times += [now + left / rate for left, rate in zip(self.left, self.rates, strict=True) if rate > 0]
        return [time for time in times if time < inf]

    def moved(self) -> float:
        return self.volume - sum(self.left) if self.doing == "io" else 0.0

    def to_write(self) -> float:
        return sum(self.left) if self.doing == "io" and self.kind == "write" else 0.0

    def progress(self) -> float:
        """Ideal seconds done since release, when not computing."""
        running = self.alone * self.moved() / self.volume if self.doing == "io" else 0.0
        return self.earlier + self.compute_done + self.io_seconds + running

    def yield_at(self, now: float) -> float:
        computing = now - self.since if self.doing in ("compute", "tail") else 0.0
        return (self.progress() + computing) / (now - self.release) if now > self.release else 0.0

    def facts(self) -> State:
        """What a policy may know of the application."""
        known = {"posted": self.posted, "release": self.release, "progress": self.progress(), "nodes": self.nodes}
        left = [left / flow.weight for flow, left in zip(self.flows, self.left, strict=True)]
        known |= {"time_left": max(left, default=0.0)}
        return known | ({"omega": sum(self.iterations) / len(self.iterations)} if self.iterations else {})

    def drains(self, now: float) -> State:
        """The same for what drains of it or is fetched for it; after its end with its last yield."""
        lived = now - self.release
        if self.in_time(now):  # its last compute is over
            return self.facts() | {"progress": self.yield_at(self.since + self.work) * lived}
        over = self.doing in ("done", "cut")
        return self.facts() | {"progress": (self.last_yield if over else self.yield_at(now)) * lived}

    def stop(self, end: float | None) -> None:
        """Credit what is under way when the run, or it, stops; a trailing compute may have ended before."""
        if self.doing == "cut":
            return
        finish = self.since + self.work
        if self.doing == "tail" and (end is None or finish <= end * (1 + TOLERANCE)):
            self.compute_done += self.work
            self.doing, self.completion = "done", finish if end is None else min(finish, end)
        elif self.doing in ("compute", "tail") and end is not None:
            self.compute_done += end - self.since
        elif self.doing == "io":
            self.io_seconds += self.alone * self.moved() / self.volume
            self.transferred += self.moved()
        self.doing = "done" if self.completion is not None else "stopped"


def jobs_of(world: World) -> list[Job]:
    """Every application before anything happens; the window begins at 0."""
    jobs, parts = [], world.parts
    for index, app in enumerate(world.document["applications"]):
        release, given = float(app.get("release") or 0.0), app.get("progress")
        earlier = 0.0 if release >= 0 else -release if given is None else float(given)
        until = release + (app.get("walltime") or inf)
        stages = list(world.stages(index))
        job = Job(app["name"], app.get("nodes") or 1, release, max(release, 0.0), earlier, until, app, world, stages)
        path = set().union(*(uses for way in world.directions(app) for uses, _ in world.ways(app, way)))
        job.part = next((place for place, part in enumerate(parts) if part & path), None)
        job.may_use = world.may_use(app)
        if world.part_of(app) > 0:
            job.pool = Pool(world, app, world.part_of(app), [v for _, v, way in stages if way == "read"])
        jobs.append(job)
    return jobs


def ask_all(machine: Machine, jobs: list[Job], now: float, end: float | None) -> Rates:
    """The rates of all flows that there are, if who passes straight through, and who fetches how fast, is as noted."""
    facts, flows = {}, []
    for job in jobs:  # of one application, what drains comes first, then what is fetched, then its own flow
        if job.pool:
            for side in job.pool.sides(job.doing, job.kind):
                facts[side.owner] = job.drains(now) | job.pool.facts(side, job.posted, job.to_write())
                flows += side.flows
        if job.doing == "io" and not (job.pool and job.pool.through(job.kind)):
            facts[job.name] = job.facts()
            flows += job.flows
    there = [
        {"release": job.release, "progress": job.yield_at(now) * (now - job.release), "may_use": job.may_use}
        for job in jobs
        if job.doing not in ("away", "done", "cut", "stopped") and not job.in_time(now)
    ]
    return shares(machine, flows, moment_of(facts, now, end, there)) if flows else {}


def decide(world: World, part: int, jobs: list[Job], now: float, end: float | None) -> dict[str, float]:
    """One decision of a part: who writes straight through is found by asking again until nobody has to."""
    mine = [job for job in jobs if job.part == part]
    machine = {name: shared for name, shared in world.resources.items() if name in world.parts[part]}
    for job in mine:
        if job.pool:
            job.pool.ready(job.doing, now)
    rates = ask_all(machine, mine, now, end)
    while any([job.pool.violated(job.doing, job.kind, job.flows, rates) for job in mine if job.pool]):
        rates = ask_all(machine, mine, now, end)
        while astray := [job for job in mine if job.pool and job.pool.astray(job.doing, job.flows, rates)]:
            assert astray[0].pool
            astray[0].pool.fit(astray[0].doing, astray[0].flows, lambda: ask_all(machine, mine, now, end))
            rates = ask_all(machine, mine, now, end)
    for job in mine:
        if job.pool:
            own = job.pool.rates_of(job.doing, job.kind, job.flows, rates)
            job.rates = [own] if job.flows else []
        else:
            job.rates = [rates[flow] for flow in job.flows]
    return {name: sum(flow.uses.get(name, 0.0) * rate for flow, rate in rates.items()) for name in machine}


def simulate(document: Document, plan: Document) -> Document:
    """Run a scenario under a plan whose decisions are tables; `sharing` may be one name or function."""
    begin, _ = span_of(document)
    moved = started_at_zero(document, begin)
    world = World(moved, plan)
    jobs, (_, end) = jobs_of(world), span_of(moved)
    parts = world.parts
    ticks = [ticks_of(world, jobs, place, end) for place in range(len(parts))]
    tick = [next(each, inf) for each in ticks]
    now: float | None = 0.0
    trace, use = [], dict.fromkeys(world.resources, 0.0)
    while now is not None:
        touched = settle(jobs, now)
        for place in range(len(parts)):
            while tick[place] <= now * (1 + TOLERANCE):
                tick[place], touched = next(ticks[place]), touched | {place}
        if now == end or all(job.doing in ("done", "cut", "tail") and not job.due(now) for job in jobs):
            break
        for place in sorted(touched):
            use |= decide(world, place, jobs, now, end)
        trace.append((now, {job.name: sum(job.rates) for job in jobs if job.doing == "io"}, dict(use)))
        then = next_instant(jobs, now, tick, end)
        for job in jobs:
            if job.doing == "io":
                job.left = [
                    max(0.0, left - rate * (then - now)) for left, rate in zip(job.left, job.rates, strict=True)
                ]
            if job.pool:
                job.pool.move(now, then - now)
        now = then
    for job in jobs:
        job.stop(end)
    return measure(moved, jobs, begin, trace)


def settle(jobs: list[Job], now: float) -> set[int]:
    """Apply all that is due; the parts to which something happened."""
    touched: set[int] = set()
    happened = True
    while happened:
        happened = False
        for job in jobs:
            if job.settle(now) or (job.pool and job.pool.settle(now)):
                happened = True
                touched |= {job.part} - {None}
    for job in jobs:
        if job.cut_off(now):
            touched |= {job.part} - {None}
    return touched


def ticks_of(world: World, jobs: list[Job], part: int, end: float | None) -> Iterator[float]:
    """The extra decisions of periodic-greedy-yield: by twice the operations that its applications would start alone."""
    if end is None or all(world.resources[name].policy != "periodic-greedy-yield" for name in world.parts[part]):
        return
    started = 0
    for job in jobs:
        time, last = job.start, min(end, job.until)
        for work, volume, kind in job.stages if job.part == part else ():
            time += work
            started += volume > 0 and time < last * (1 - TOLERANCE)
            time += seconds_alone(operation("", world.ways(job.app, kind), world.sizes), volume) if volume else 0.0
    if started:
        yield from (k * end / (2 * started) for k in count(1))


def next_instant(jobs: list[Job], now: float, tick: list[float], end: float | None) -> float:
    """The earliest of all that is due; ticks alone keep nothing going."""
    times = [time for job in jobs for time in job.due(now) + (job.pool.due(now) if job.pool else [])]
    times += [] if end is None else [end]
    if not times:
        raise Stalled(f"nothing happens after {now:g}")
    time = max(now, min(times + tick))
    return end if end is not None and end <= time * (1 + TOLERANCE) else time


def measure(document: Document, jobs: list[Job], begin: float, trace: list[Any]) -> Document:
    """The metrics of models §1 and §8, with b_i as §9 says."""
    _, end = span_of(document)
    done = [job.completion for job in jobs if job.completion is not None]
    stop = max([job.cut for job in jobs if job.cut is not None] + done) if end is None else end
    rows: list[Document] = []
    for job in jobs:
        until = next(time for time in (job.completion, job.cut, stop) if time is not None)
        age = until - job.release
        row: Document = {"name": job.name, "yield": job.progress() / age, "cut": job.cut is not None}
        row |= {"completion": job.completion, "stretch": None if job.completion is None else age / job.progress()}
        rows.append(row | {"compute_done": job.compute_done, "transferred": job.transferred})
    found = losses(jobs, rows, stop)  # type: ignore[arg-type]
    stretches = [row["stretch"] for row in rows if row["stretch"] is not None]
    room = stop * sum(job.nodes for job in jobs)
    for row in rows:
        row["completion"] = None if row["completion"] is None else row["completion"] + begin
    return found | {
        "end": stop + begin,
        "min_yield": min(row["yield"] for row in rows),
        "utilization": sum(job.nodes * job.compute_done for job in jobs) / room,
        "efficiency": sum(job.nodes * (job.compute_done + job.io_seconds) for job in jobs) / room,
        "makespan": max(done) + begin if len(done) == len(jobs) else None,
        "max_stretch": max(stretches, default=None),
        "mean_stretch": sum(stretches) / len(stretches) if stretches else None,
        "applications": rows,
        "trace": [(time + begin, rates, use) for time, rates, use in trace],
    }
