"""A fluid simulator that prefers being obvious to being fast: the model of P1 §3, one instant after the other.

At an instant everything due within 1e-9 of it is applied, until nothing more is due; then the strategy decides once,
and the rates hold until the next instant. Takes a scenario as a plain document with bare numbers, already valid.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import numpy as np

from .policies import Policy, rates_of

TOLERANCE = 1e-9
ROUNDING = 1e-12

Document = dict[str, Any]
Stage = tuple[float, float, float]  # compute seconds, then bytes, at most at this rate; no bytes: the end


def unroll(phases: list[Document]) -> Iterator[tuple[str, float]]:
    """Every listed phase in turn as (kind, amount); never ends with `forever`."""
    for phase in phases:
        if "repeat" not in phase:
            yield from phase.items()
        elif phase["repeat"] != "forever":
            for _ in range(phase["repeat"]):
                yield from unroll(phase["phases"])
        elif any(amount > 0 for _, amount in unroll(phase["phases"])):
            for _ in count():
                yield from unroll(phase["phases"])


def limit_of(document: Document, app: Document, direction: str) -> float:
    """How fast an operation of this application may go."""
    platform = document["platform"]
    capacity = float(platform["bandwidth"])
    skew = float(app.get("node_skew") or 1.0)
    for own in (app.get(f"{direction}_bandwidth"), app.get("bandwidth")):
        if own is not None:
            return min(float(own), capacity) / skew
    node = platform.get("node_bandwidth")
    return (capacity if node is None else min((app.get("nodes") or 1) * float(node), capacity)) / skew


def span_of(document: Document) -> tuple[float, float | None]:
    """Where time begins, and where it ends if there is a window."""
    window = document.get("window")
    return (float(window["begin"]), float(window["end"])) if window else (0.0, None)


def stages_of(document: Document, index: int) -> Iterator[Stage]:
    """Yield the application as it runs: noise applied, empty phases dropped, neighbouring computes merged."""
    app = document["applications"][index]
    noise = document.get("noise") or 0.0
    random = np.random.default_rng([document.get("seed") or 0, index])
    begin, end = span_of(document)
    work = 0.0
    for kind, amount in unroll(app["phases"]):
        actual = amount * (1 + random.uniform(-noise, noise)) if noise else float(amount)
        if kind == "compute":
            work += actual
            if end is not None and work > 2 * (end - begin):
                break  # what follows is never reached, and a loop that only computes would never end
        elif actual > 0:
            yield work, actual, limit_of(document, app, kind)
            work = 0.0
    if work > 0:
        yield work, 0.0, float(document["platform"]["bandwidth"])


@dataclass
class Job:
    """One application on its way: away, compute, io, tail (a compute that no operation follows) or done."""

    name: str
    nodes: int
    release: float
    start: float
    earlier: float
    stages: Iterator[Stage]
    until: float | None = None
    doing: str = "away"
    work: float = 0.0
    volume: float = 0.0
    limit: float = 0.0
    since: float = 0.0
    posted: float = 0.0
    remaining: float = 0.0
    rate: float = 0.0
    first: bool = True
    iterations: list[float] = field(default_factory=list)
    compute_done: float = 0.0
    transferred: float = 0.0
    io_seconds: float = 0.0
    operations: int = 0
    completion: float | None = None
    cut: float | None = None

    def advance(self, now: float) -> None:
        """Enter the next stage, or stop."""
        stage = next(self.stages, None)
        if stage is None:
            self.doing, self.completion = "done", now
            return
        self.work, self.volume, self.limit = stage
        self.since = now
        self.doing = "compute" if self.volume else "tail"
        if not self.work:
            self.post(now)

    def post(self, now: float) -> None:
        """End the compute and ask for bandwidth."""
        self.compute_done += self.work
        self.doing, self.posted, self.remaining, self.rate = "io", now, self.volume, 0.0

    def complete(self, now: float) -> None:
        """End the operation; it is an iteration unless it was the very first non-empty phase."""
        self.transferred += self.volume
        self.io_seconds += self.volume / self.limit
        self.operations += 1
        if self.work or not self.first:
            self.iterations.append(self.work + self.volume / self.limit)
        self.first = False
        self.advance(now)

    def settle(self, now: float) -> bool:
        """Apply what is due at this instant; whether there was anything."""
        slack = TOLERANCE * abs(now)
        if self.doing == "away" and self.start <= now + slack:
            self.advance(now)
        elif self.doing == "compute" and self.since + self.work <= now + slack:
            self.post(now)
        elif self.doing == "io" and self.remaining <= self.rate * slack:
            self.complete(now)
        else:
            return False
        return True

    def cut_off(self, now: float) -> bool:
        """Stop it if its walltime is over and it is not finished; whether that was so. All else due comes first."""
        if self.until is None or self.doing in ("away", "done", "cut") or self.until > now + TOLERANCE * abs(now):
            return False
        if self.doing == "tail" and self.since + self.work <= now + TOLERANCE * abs(now):
            return False
        self.stop(now)
        self.doing, self.cut = "cut", now
        return True

    def due(self, now: float) -> float | None:
        """When something happens to it next, as things stand."""
        if self.doing == "away":
            return self.start
        if self.doing == "compute":
            return self.since + self.work
        if self.doing == "io" and self.rate > 0:
            return now + self.remaining / self.rate
        return None

    def limit_due(self) -> float | None:
        """When its walltime ends it; a last compute that is over before is no event, and nothing ends it."""
        in_time = (
            self.doing == "tail" and self.until is not None and self.since + self.work <= self.until * (1 + TOLERANCE)
        )
        return None if in_time or self.doing in ("done", "cut", "away") else self.until

    def progress(self) -> float:
        """Ideal seconds done since release, when not computing."""
        running = (self.volume - self.remaining) / self.limit if self.doing == "io" else 0.0
        return self.earlier + self.compute_done + self.io_seconds + running

    def view(self) -> Document:
        """Tell what a strategy may know."""
        known = {"name": self.name, "bandwidth": self.limit, "remaining": self.remaining, "posted": self.posted}
        known |= {"nodes": self.nodes, "release": self.release, "progress": self.progress()}
        known |= {"operation": self.operations, "served": self.io_seconds}
        return known | ({"omega": sum(self.iterations) / len(self.iterations)} if self.iterations else {})

    def computing(self, now: float) -> list[Document]:
        """Tell how far it is while it computes; nothing once a last compute is over, though that is no event."""
        over = self.doing == "tail" and self.since + self.work <= now + TOLERANCE * abs(now)
        if self.doing not in ("compute", "tail") or over:
            return []
        return [{"release": self.release, "progress": self.progress() + now - self.since}]

    def stop(self, end: float | None) -> None:
        """Credit what is under way when the run, or it, stops; a trailing compute may have ended before."""
        if self.doing == "cut":
            return
        finish = self.since + self.work
        if self.doing == "tail" and (end is None or finish <= end + TOLERANCE * abs(end)):
            self.compute_done += self.work
            self.doing, self.completion = "done", finish if end is None else min(finish, end)
        elif self.doing in ("compute", "tail") and end is not None:
            self.compute_done += end - self.since
        elif self.doing == "io":
            self.transferred += self.volume - self.remaining
            self.io_seconds += (self.volume - self.remaining) / self.limit
        self.doing = "done" if self.completion is not None else "stopped"


def jobs_of(document: Document) -> list[Job]:
    """Every application before anything happens."""
    begin, _ = span_of(document)
    jobs = []
    for index, app in enumerate(document["applications"]):
        release, given = float(app.get("release") or 0.0), app.get("progress")
        before = begin - release
        earlier = 0.0 if before <= 0 else before if given is None else float(given)
        stages = stages_of(document, index)
        until = release + app["walltime"] if app.get("walltime") else None
        jobs.append(Job(app["name"], app.get("nodes") or 1, release, max(release, begin), earlier, stages, until))
    return jobs


def clip(stages: Iterable[Stage], room: float) -> Iterator[Stage]:
    """Cut a dedicated run off after `room` seconds."""
    for work, volume, limit in stages:
        computed = min(work, room)
        moved = min(volume, (room - computed) * limit)
        room -= computed + moved / limit
        yield computed, moved, limit
        if room <= 0:
            return


def alone_in_window(document: Document) -> list[list[Stage]]:
    """For each application, what it does in the window if it has the platform to itself."""
    _, end = span_of(document)
    assert end is not None
    jobs = jobs_of(document)
    return [list(clip(job.stages, (end if job.until is None else min(end, job.until)) - job.start)) for job in jobs]


def default_delta(document: Document) -> float | None:
    """Window length over twice the operations that dedicated runs start in it; None if there are none."""
    begin, end = span_of(document)
    assert end is not None
    started = 0
    for job, stages in zip(jobs_of(document), alone_in_window(document), strict=True):
        time, last = job.start, end if job.until is None else min(end, job.until)
        for work, volume, limit in stages:
            time += work
            started += volume > 0 and time < last - TOLERANCE * abs(last)
            time += volume / limit
    return (end - begin) / (2 * started) if started else None


def bound_min_yield(document: Document) -> float | None:
    """Find the highest yield for all whose bytes fit into the window, below every dedicated yield."""
    begin, end = span_of(document)
    if end is None:
        return None
    jobs, runs = jobs_of(document), alone_in_window(document)
    carried = float(document["platform"]["bandwidth"]) * (end - begin) * (1 + ROUNDING)

    def fits(y: float) -> bool:
        needed = 0.0
        for job, stages in zip(jobs, runs, strict=True):
            last = end if job.until is None else min(end, job.until)
            needed += sum(moved for _, moved, _ in clip(stages, max(0.0, y * (last - job.release) - job.earlier)))
        return needed <= carried

    lengths = [sum(work + volume / limit for work, volume, limit in stages) for stages in runs]
    high = min((j.earlier + length) / (j.start - j.release + length) for j, length in zip(jobs, lengths, strict=True))
    if fits(high):
        return high
    low = 0.0
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def io_weight(document: Document) -> float:
    """Sum over applications of the share of I/O in their dedicated time, as listed; of an endless one, in its loop."""
    total = 0.0
    for app in document["applications"]:
        phases = app["phases"]
        while phases[-1].get("repeat") == "forever":
            phases = phases[-1]["phases"]
        seconds = {True: 0.0, False: 0.0}
        for kind, amount in unroll(phases):
            is_io = kind != "compute"
            seconds[is_io] += amount / limit_of(document, app, kind) if is_io else amount
        total += seconds[True] / sum(seconds.values())
    return total


def measure(document: Document, jobs: list[Job]) -> Document:
    """Take the metrics of a finished run."""
    begin, end = span_of(document)
    done = [job.completion for job in jobs if job.completion is not None]
    makespan = max(done) if len(done) == len(jobs) else None
    stop = max([job.cut for job in jobs if job.cut is not None] + done) if end is None else end
    rows: list[Document] = []
    for job in jobs:
        age = left(job, stop) - job.release
        stretch = None if job.completion is None else age / job.progress()
        row = {"name": job.name, "yield": job.progress() / age, "completion": job.completion, "stretch": stretch}
        rows.append(
            row | {"compute_done": job.compute_done, "transferred": job.transferred, "cut": job.cut is not None}
        )
    stretches = [row["stretch"] for row in rows if row["stretch"] is not None]
    room = (stop - begin) * sum(job.nodes for job in jobs)
    pressure = None
    if end is not None:
        volume = sum(moved for stages in alone_in_window(document) for _, moved, _ in stages)
        pressure = volume / (document["platform"]["bandwidth"] * (end - begin))
    return {
        "end": stop,
        "min_yield": min(row["yield"] for row in rows),
        "utilization": sum(job.nodes * job.compute_done for job in jobs) / room,
        "efficiency": sum(job.nodes * (job.compute_done + job.io_seconds) for job in jobs) / room,
        "makespan": makespan,
        "max_stretch": max(stretches, default=None),
        "mean_stretch": sum(stretches) / len(stretches) if stretches else None,
        "pressure": pressure,
        "io_weight": io_weight(document),
        "bound_min_yield": bound_min_yield(document),
        **losses(jobs, rows, stop),
        "applications": rows,
    }


def left(job: Job, stop: float) -> float:
    """When a job was over: finished, cut off, or at the end of the run."""
    return next(time for time in (job.completion, job.cut, stop) if time is not None)


def losses(jobs: list[Job], rows: list[Document], stop: float) -> Document:
    """What is lost while each is there, by the rules for jobs that come and go."""
    there = [left(job, stop) - job.start for job in jobs]
    made = [job.compute_done + job.io_seconds for job in jobs]
    lost = sum(j.nodes * (t if j.cut is not None else t - m) for j, t, m in zip(jobs, there, made, strict=True))
    used = sum(job.nodes * time for job, time in zip(jobs, there, strict=True))
    yields = [row["yield"] for row in rows]
    stretches = [row["stretch"] for row in rows if row["stretch"] is not None]
    return {
        "node_hours_lost": lost / 3600,
        "node_hours_used": used / 3600,
        "lost_share": lost / used if used else None,
        "worst": next(row["name"] for row in rows if row["yield"] <= (1 + TOLERANCE) * min(yields)),
        "mean_yield": sum(j.nodes * t * y for j, t, y in zip(jobs, there, yields, strict=True)) / used
        if used
        else None,
        "p95_stretch": float(np.percentile(stretches, 95)) if stretches else None,
        "unfinished": len(jobs) - len(stretches),
    }


def next_instant(jobs: list[Job], now: float, tick: float | None, end: float | None) -> float | None:
    """Find the earliest of all that is due; None when nothing but ticks could happen any more."""
    times = [end, *(job.due(now) for job in jobs), *(job.limit_due() for job in jobs)]
    times = [time for time in times if time is not None]
    if not times:
        return None
    time = min(times if tick is None else [*times, tick])
    return end if end is not None and end <= time + TOLERANCE * abs(time) else time


def simulate(document: Document, sharing: str | Policy = "fcfs", delta: float | None = None) -> Document:
    """Run the scenario under one strategy; `delta` is the tick of periodic-greedy-yield.

    Times count from the beginning of the window, so that neither the rounding of times nor what is "the same instant"
    depends on the calendar; some scenarios amplify a rounding error a thousandfold before they end.
    """
    begin, _ = span_of(document)
    result = simulate_from_zero(started_at_zero(document, begin), sharing, delta)
    for job in result["applications"]:
        job["completion"] = None if job["completion"] is None else job["completion"] + begin
    result["makespan"] = None if result["makespan"] is None else result["makespan"] + begin
    return result | {"end": result["end"] + begin, "trace": [(time + begin, rates) for time, rates in result["trace"]]}


def started_at_zero(document: Document, begin: float) -> Document:
    """The same scenario with its window moved to 0."""
    if begin == 0:
        return document
    applications = []
    for application in document["applications"]:
        release = application.get("release", 0)
        moved = application | {"release": release - begin}
        applications.append({"progress": begin - release} | moved if release < begin else moved)
    return document | {"window": {"begin": 0, "end": document["window"]["end"] - begin}, "applications": applications}


def disturbed(efficiencies: list[float], state: Document, sharing: str | Policy) -> dict[str, float]:
    """One decision with what k who move at once leave of the capacity: asked as if all did, then as few as do."""
    capacity, number, rates = state["capacity"], len(state["active"]), None
    caps = {flow["name"]: flow["bandwidth"] for flow in state["active"]}

    def left_by(k: int) -> float:
        return float(efficiencies[min(max(k, 1), len(efficiencies)) - 1])

    before = 1.0
    while True:
        share = left_by(number)
        # Orders remember whom they serve: asked again at the same instant they say the same.
        answer = rates_of(state | {"capacity": capacity * share}, sharing)
        moving = max(1, sum(rate > 1e-9 * caps[name] for name, rate in answer.items()))
        if rates is not None and moving > number and left_by(moving) < share:
            # k never rises: so many cannot have as much. Asked once more, it remembers the answer that counts.
            return rates_of(state | {"capacity": capacity * before}, sharing)
        rates, before = answer, share
        if moving >= number:
            return rates
        number = moving


def simulate_from_zero(document: Document, sharing: str | Policy, delta: float | None) -> Document:
    """Run a scenario whose window, if it has one, begins at 0."""
    begin, end = span_of(document)
    jobs = jobs_of(document)
    if sharing != "periodic-greedy-yield":
        delta = None
    elif delta is None and end is not None:
        delta = default_delta(document)
    ticks = iter(()) if delta is None else (begin + k * delta for k in count(1))
    tick = next(ticks, None)
    events, trace = 0, []
    now: float | None = begin
    while now is not None:
        happened = now == end
        while tick is not None and tick <= now + TOLERANCE * abs(now):
            tick, happened = next(ticks), True
        while any([job.settle(now) for job in jobs]):
            happened = True
        # Not by `any` of a generator: every one of them.
        happened |= any([job.cut_off(now) for job in jobs])
        events += happened
        if now == end:
            break
        active = [job for job in jobs if job.doing == "io"]
        if happened and (active or hasattr(sharing, "watches")):
            available = float(document["platform"]["bandwidth"])
            state: dict[str, Any] = {"capacity": available, "now": now, "begin": begin, "end": end}
            state["computing"] = [busy for job in jobs for busy in job.computing(now)]
            state["gone"] = [job.name for job in jobs if job.cut is not None]
            shown = state | {"active": [job.view() for job in active]}
            rates = disturbed(document["platform"].get("interference") or [1.0], shown, sharing)
            if active:
                trace.append((now, rates))
            for job in active:
                job.rate = rates.get(job.name, 0.0)
        then = next_instant(jobs, now, tick, end)
        for job in active:
            job.remaining = max(0.0, job.remaining - job.rate * ((now if then is None else then) - now))
        now = then
    for job in jobs:
        job.stop(end)
    name = sharing if isinstance(sharing, str) else getattr(sharing, "__name__", "custom")
    return {"sharing": name, "events": events, **measure(document, jobs), "trace": trace}
