"""Applications on storage targets (P4 §2), the obvious way: one instant after the other.

An operation of volume V on n targets is n transfers of V/n, each at its own pace, and ends with the last of them. The
unit of a target is time: a transfer alone there gets all of it, and has as many seconds left as it would then take.
At an instant everything due within 1e-9 of it is applied; then each target on which a transfer was posted or completed
decides once, and the others keep their rates. The run stops when the first application completes (P4), or when all have
ended or the window does (models §8). Times count from the begin of the run; there are no ticks.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np

from . import orders
from .allocations import (
    Counts,
    Placed,
    bandwidth_of,
    limits_of,
    load,
    machine_of,
    n_perf,
    nodes_of,
    runs_at,
    starts,
    stress,
)
from .engine import TOLERANCE, Document, Stage, disturbed, stages_of, unroll
from .orders import ORDERS, blocks_of, follow
from .policies import Policy
from .steady import WITH_MEMORY


class Stalled(Exception):
    """Everyone waits for someone else."""


@dataclass
class Transfer:
    """What an operation moves through one target, in seconds of that target."""

    seconds: float
    remaining: float
    rate: float = 0.0


@dataclass
class Job:
    """One application on its way: away, compute, io, done or cut; a stage without volume is a last compute."""

    name: str
    nodes: int
    release: float
    start: float
    deadline: float
    stages: Iterator[Stage]
    pace: dict[int, float]  # for each of its targets: seconds there for one byte of an operation
    doing: str = "away"
    work: float = 0.0
    volume: float = 0.0
    since: float = 0.0
    posted: float = 0.0
    first: bool = True
    transfers: dict[int, Transfer] = field(default_factory=dict)
    served: dict[int, float] = field(default_factory=dict)
    lost: dict[int, float] = field(default_factory=dict)  # seconds, when its last transfer on a target was over
    iterations: list[float] = field(default_factory=list)
    progress: float = 0.0  # ideal seconds of finished computes and operations
    before: float = 0.0  # progress made before the run
    ended: float | None = None
    operations: int = 0
    compute_done: float = 0.0
    moved: float = 0.0
    io_seconds: float = 0.0

    def settle(self, now: float, touched: set[int]) -> bool:
        """Apply what is due at this instant, and note the targets that it touches; whether there was anything."""
        slack = TOLERANCE * now
        over = {t for t, transfer in self.transfers.items() if transfer.remaining <= transfer.rate * slack}
        if self.doing == "away" and self.start <= now + slack:
            self.advance(now)
        elif self.doing not in ("done", "cut") and not over and self.due_at_once(now, slack):
            self.cut_off(now, touched)
        elif self.doing == "compute" and self.since + self.work <= now + slack:
            self.end_compute(now, touched)
        elif over:
            self.end_transfers(now, over, touched)
        else:
            return False
        return True

    def due_at_once(self, now: float, slack: float) -> bool:
        """Whether its walltime is over, and not by the end of its last compute at the same instant."""
        finishing = self.doing == "compute" and not self.volume and self.since + self.work <= now + slack
        return self.deadline <= now + slack and not finishing

    def cut_off(self, now: float, touched: set[int]) -> None:
        """Stop it as it is."""
        self.stop(now)
        touched.update(self.transfers)
        self.transfers.clear()
        self.doing, self.ended = "cut", now

    def advance(self, now: float) -> None:
        """Enter the next stage, or stop."""
        stage = next(self.stages, None)
        self.ended = now if stage is None else None
        self.doing, self.since = "done" if stage is None else "compute", now
        self.work, self.volume, _ = stage or (0.0, 0.0, 0.0)
        self.lost = dict.fromkeys(self.pace, now - self.release - self.progress)

    def end_compute(self, now: float, touched: set[int]) -> None:
        """Post the operation that follows, on all targets; or go on when there is none."""
        self.compute_done += self.work
        self.progress += self.work
        if not self.volume:
            self.advance(now)
            return
        self.doing, self.posted = "io", now
        for target, pace in self.pace.items():
            self.transfers[target] = Transfer(self.volume * pace, self.volume * pace)
        touched.update(self.pace)

    def end_transfers(self, now: float, over: set[int], touched: set[int]) -> None:
        """Some transfers are complete; with the last one the operation is."""
        for target in over:
            seconds = self.transfers.pop(target).seconds
            self.served[target] = self.served.get(target, 0.0) + seconds
            self.lost[target] = now - self.release - self.progress - seconds
        touched |= over
        if self.transfers:
            return
        alone = self.volume * max(self.pace.values())
        self.progress += alone
        self.operations += 1
        self.moved += self.volume
        self.io_seconds += now - self.posted
        if self.work or not self.first:
            self.iterations.append(self.work + alone)
        self.first = False
        self.advance(now)

    def due(self, now: float) -> list[float]:
        """When something happens to it, as things stand."""
        if self.doing == "away":
            return [self.start]
        if self.doing == "compute":
            return [self.since + self.work, self.deadline]
        return [self.deadline] * (self.doing == "io") + [
            now + transfer.remaining / transfer.rate for transfer in self.transfers.values() if transfer.rate > 0
        ]

    def view(self, target: int) -> Document:
        """Tell what a strategy on this target may know."""
        transfer = self.transfers[target]
        known = {"name": self.name, "bandwidth": 1.0, "remaining": transfer.remaining, "posted": self.posted}
        known |= {"nodes": self.nodes, "release": self.release}
        known |= {"progress": self.progress + transfer.seconds - transfer.remaining}
        known |= {"operation": self.operations, "served": self.served.get(target, 0.0)}
        return known | ({"omega": sum(self.iterations) / len(self.iterations)} if self.iterations else {})

    def elsewhere(self, target: int, now: float) -> Document:
        """Tell how far it is when it has no transfer on this target, be it that it computes: it loses nothing here."""
        return {"release": self.release, "progress": now - self.release - self.lost[target]}

    def stop(self, now: float) -> None:
        """Credit what is under way when the run stops."""
        if self.doing == "compute":
            self.compute_done += now - self.since
        elif self.doing == "io":
            left = sum(transfer.remaining / transfer.seconds for transfer in self.transfers.values())
            self.moved += self.volume * (len(self.pace) - left) / len(self.pace)
            self.io_seconds += now - self.posted


def jobs_of(document: Document, counts: Counts, targets: Placed) -> list[Job]:
    """Every application before anything happens."""
    limits, jobs = limits_of(document), []
    window = document.get("window")
    begin = window.get("begin", 0.0) if window else 0.0
    for index, app in enumerate(document["applications"]):
        n = counts[app["name"]]
        assert n == len(set(targets[app["name"]])), "as many targets as counted, and none twice"
        peak = bandwidth_of(app, n) / n
        pace = {target: 1 / n / min(peak, limits[target]) for target in targets[app["name"]]}
        # Only the stages' seconds and bytes matter: caps and the platform's bandwidth play no role here.
        plain = {key: value for key, value in document.items() if key != "window"}
        stages = stages_of(plain | {"platform": {"bandwidth": 1.0}}, index)
        release = float(app.get("release", 0.0)) - begin
        deadline = max(release + app.get("walltime", math.inf), 0.0, release)
        job = Job(app["name"], nodes_of(app), release, max(0.0, release), deadline, stages, pace)
        job.progress = job.before = app.get("progress", max(0.0, -release))
        jobs.append(job)
    return jobs


def seen_from(target: int, document: Document, jobs: list[Job]) -> Document:
    """The scenario of one target, without noise: its jobs compute, then occupy it for the seconds they need there."""
    applications = []
    for app, job in zip(document["applications"], jobs, strict=True):
        if target in job.pace:
            phases = [
                {"compute": amount} if kind == "compute" else {"write": amount * job.pace[target]}
                for kind, amount in unroll(app["phases"])
            ]
            applications.append({"name": job.name, "release": job.start, "phases": phases})
    return {"platform": {"bandwidth": 1.0}, "applications": applications}


def policy_on(target: int, document: Document, jobs: list[Job], sharing: str | Policy) -> str | Policy:
    """The policy of one target, which has a memory of its own."""
    if sharing == "hierarchical-round-robin":
        here = {job.name for job in jobs if target in job.pace}
        return follow(name for name in round_robin(document) if name in here)
    if isinstance(sharing, str) and sharing in ORDERS:
        return ORDERS[sharing](seen_from(target, document, jobs))
    if isinstance(sharing, str) and sharing in WITH_MEMORY:
        return WITH_MEMORY[sharing]()
    return sharing


def round_robin(document: Document) -> Iterator[str]:
    """One order of all operations, of which every target keeps its own.

    If each target built blocks of its own jobs, one could wait for an operation that waits for another target, which
    waits for the first. Blocks depend on counts and computes only, so the platform does not matter.
    """
    listed = orders.jobs_of(document | {"platform": {"bandwidth": 1.0}})
    counts = {name: int(job.operations()) for name, job in listed.items()}
    yield from chain.from_iterable(blocks_of(counts, {name: job.mean()[0] for name, job in listed.items()}))


def efficiencies(document: Document, target: int) -> list[float]:
    """What a target has to divide with 1, 2, … applications moving there."""
    listed = document["platform"]["targets"]
    own = listed[target] if isinstance(listed, list) and isinstance(listed[target], dict) else {}
    return own.get("interference") or [1.0]


def decide(
    document: Document, jobs: list[Job], target: int, now: float, end: float | None, policy: str | Policy
) -> None:
    """Divide the time of one target anew."""
    there = [job for job in jobs if target in job.transfers]
    others = [
        job
        for job in jobs
        if target in job.pace and target not in job.transfers and job.doing not in ("away", "done", "cut")
    ]
    if not there and not hasattr(policy, "watches"):
        return
    state: dict[str, Any] = {"capacity": 1.0, "now": now, "begin": 0.0, "end": end}
    state |= {"active": [job.view(target) for job in there]}
    state |= {"computing": [job.elsewhere(target, now) for job in others]}
    state |= {"gone": [job.name for job in jobs if job.doing == "cut"]}
    rates = disturbed(efficiencies(document, target), state, policy)
    for job in there:
        job.transfers[target].rate = rates.get(job.name, 0.0)


def closed(document: Document) -> bool:
    """Whether all start together and no window watches them."""
    return len(starts(document)) == 1 and "window" not in document


def simulate(
    document: Document,
    counts: Counts,
    targets: Placed,
    sharing: str | Policy = "fair-share",
    interval: str | None = None,
) -> Document:
    """Run the scenario; every target has a policy of its own. `interval`: up to the first completion, or the last."""
    first = (interval or ("first" if closed(document) else "all")) == "first"
    window = document.get("window")
    end = window["end"] - window.get("begin", 0.0) if window else None
    jobs = jobs_of(document, counts, targets)
    places = range(len(limits_of(document)))
    policies = [policy_on(target, document, jobs, sharing) for target in places]
    busy = [0.0 for _ in places]
    now = 0.0
    while True:
        touched: set[int] = set()
        while any([job.settle(now, touched) for job in jobs]):
            pass
        left = [job for job in jobs if job.doing not in ("done", "cut")]
        if now == end or (first and any(job.doing == "done" for job in jobs)) or (end is None and not left):
            break
        for target in places:
            if target in touched or hasattr(policies[target], "watches"):
                decide(document, jobs, target, now, end, policies[target])
        due = [time for job in jobs for time in job.due(now) if time < math.inf] + ([] if end is None else [end])
        if not due:
            raise Stalled(f"under {sharing} nothing happens after {now:g}")
        then = min(due)
        if end is not None and then * (1 + TOLERANCE) >= end:
            then = end
        passed = then - now
        for target in places:
            here = [job.transfers[target] for job in jobs if target in job.transfers]
            busy[target] += passed if any(transfer.rate > 0 for transfer in here) else 0.0
            for transfer in here:
                transfer.remaining = max(0.0, transfer.remaining - transfer.rate * passed)
        now = then
    for job in jobs:
        job.stop(now)
    return measure(document, counts, jobs, now, busy)


def measure(document: Document, counts: Counts, jobs: list[Job], interval: float, busy: list[float]) -> Document:
    """Take the metrics of P4 §2.3."""
    apps = document["applications"]
    rows = [row_of(document, app, counts[job.name], job, interval) for app, job in zip(apps, jobs, strict=True)]
    slowdowns = [row["io_slowdown"] for row in rows if row["io_slowdown"] is not None]
    carried = [
        max(
            sum(
                row["stress"] / row["count"]
                for app, row, job in zip(apps, rows, jobs, strict=True)
                if target in job.pace and runs_at(document, app, at)
            )
            for at in starts(document)
        )
        for target in range(len(busy))
    ]
    computed = sum(job.nodes * job.compute_done for job in jobs)
    return losses(jobs, rows, interval) | {
        "load": load(document, counts),
        "interval": interval,
        "mean_io_slowdown": sum(slowdowns) / len(slowdowns) if slowdowns else None,
        "machine_idletime": 1 - computed / (machine_of(document) * interval),
        "imbalance": max(carried) - min(carried),
        "applications": rows,
        "target_use": [
            {"stress": weight, "busy": seconds / interval} for weight, seconds in zip(carried, busy, strict=True)
        ],
    }


def life(job: Job, end: float) -> float:
    """How long an application was there, in the run."""
    return max(0.0, (end if job.ended is None else job.ended) - job.start)


def losses(jobs: list[Job], rows: list[Document], end: float) -> Document:
    """What was lost (models §8), of those who started before the end."""
    there = [(job, row) for job, row in zip(jobs, rows, strict=True) if job.start < end * (1 - 1e-9)]
    used = sum(job.nodes * life(job, end) for job, _ in there)
    lost = sum(
        job.nodes * (life(job, end) - (0.0 if row["cut"] else row["yield"] * row["age"] - job.before))
        for job, row in there
    )
    lowest = min(row["yield"] for _, row in there)
    stretches = [row["stretch"] for _, row in there if row["stretch"] is not None]
    return {
        "node_hours_lost": lost / 3600,
        "node_hours_used": used / 3600,
        "lost_share": lost / used if used else None,
        "worst": next(row["name"] for _, row in there if row["yield"] <= (1 + 1e-9) * lowest),
        "mean_yield": sum(job.nodes * life(job, end) * row["yield"] for job, row in there) / used if used else None,
        "p95_stretch": float(np.percentile(stretches, 95)) if stretches else None,
        "unfinished": len(there) - len(stretches),
    }


def row_of(document: Document, app: Document, n: int, job: Job, end: float) -> Document:
    """How one application fared; bytes count at b(n_perf)."""
    fastest, chosen = bandwidth_of(app, n_perf(document, app)), bandwidth_of(app, n)
    rho_io = fastest / chosen
    slowdown = job.io_seconds / (job.moved / fastest) if job.moved > 0 else None
    until = end if job.ended is None else job.ended
    age = until - job.release
    made = job.before + job.compute_done + job.moved / fastest
    finished = job.doing == "done"
    return {
        "name": job.name,
        "count": n,
        "stress": stress(app, n),
        "io_slowdown": slowdown,
        "rho_io": rho_io,
        "rho_con": None if slowdown is None else slowdown / rho_io,
        "io_seconds": job.io_seconds,
        "moved": job.moved,
        "compute_done": job.compute_done,
        "yield": made / age if age > 0 else 0.0,
        "age": age,
        "cut": job.doing == "cut",
        "stretch": age / made if finished else None,
        "completion": until if finished else None,
    }
