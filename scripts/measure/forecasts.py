"""Measure how often what happens lies in the range that a forecast told: jobs before a core, in virtual time.

`python scripts/measure/forecasts.py` prints a table; a minute. Three kinds of sites. `closed`: one phase of each job,
volumes as announced, so all that a forecast assumes is true. `off`: the same with volumes that are up to 20 % off.
`open`: jobs come back with further phases, and volumes are up to 10 % off.
"""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass, field
from math import inf

from penstock.live.core import ControllerSettings, Core, Resource
from penstock.live.core.events import Connected, Frame, Identity, Input, Send, Tick, WakeAt
from penstock.live.core.forecast import forecasts
from penstock.live.core.pieces import whole
from penstock.policies.sharing import find
from penstock.wire import messages as wire

CAPACITY = 1e9  # bytes/s
BEAT = 2.0  # seconds
LOOK = 40.0  # seconds between forecasts
EXTENSION = 1 / 8  # of what was announced, where that was too little
JOBS = 8
LONGEST = 20_000.0  # seconds of a site's day
POLICIES = ("fair-share", "fcfs", "greedy-yield", "set-10")
OFF = {"closed": 0.0, "off": 0.2, "open": 0.1}  # by how much volumes are, at most
SEEDS = 25  # days of each kind


@dataclass
class Told:
    """What a forecast said of an operation, and when."""

    time: float
    start: float | None
    earliest: float
    latest: float
    sure: str


@dataclass
class Job:
    """One that computes, then does I/O, some times over."""

    session: int
    announced: float
    real: float
    compute: float
    phases: int
    posts_at: float
    op: int = 0
    hb: int = 0
    said: float = 0.0  # bytes that it has announced of this phase so far
    moved: float = 0.0
    rate: float = 0.0
    open: bool = False
    rev: tuple[int, int] = (0, 0)  # the newest that it was told
    began: float | None = None  # when it was first told to move
    beats_at: float = 0.0
    told: list[Told] = field(default_factory=list)


@dataclass
class Coverage:
    """Of one kind of site and one word for how sure: forecasts of ends, and of starts of those that waited."""

    ends: int = 0
    inside: int = 0
    later: int = 0
    none: int = 0
    starts: int = 0
    near: int = 0  # starts that came within a fifth of the wait that was told, or two seconds

    @property
    def share(self) -> float:
        """Of ends that came in the range that was told."""
        return self.inside / self.ends if self.ends else 0.0


class Day:
    """One site for a day; `found` has the coverage by word."""

    def __init__(self, policy: str, kind: str, seed: int) -> None:
        self._chance, self._kind = random.Random(f"{policy} {kind} {seed}"), kind
        settings = ControllerSettings((Resource("all", CAPACITY),), machine_nodes=100, sharing=policy)
        self._core = Core(settings, find(policy), epoch=1, boot=0.0, warm=True)
        self._now, self._wake, self._look = 0.0, inf, LOOK
        self._jobs = [self._job(number) for number in range(1, JOBS + 1)]
        self.found: defaultdict[str, Coverage] = defaultdict(Coverage)

    def _job(self, number: int) -> Job:
        chance = self._chance
        announced = CAPACITY * chance.uniform(5.0, 120.0)
        real = announced * (1.0 + chance.uniform(-1.0, 1.0) * OFF[self._kind])
        again = chance.randint(3, 8) if self._kind == "open" else 1
        spread = 0.9 * LOOK if self._kind != "open" else 400.0
        return Job(number, announced, real, chance.uniform(60.0, 400.0), again, chance.uniform(0.0, spread))

    def run(self) -> dict[str, Coverage]:
        """Until all is done."""
        for job in self._jobs:
            self._step(Connected(job.session, Identity("peer", 1000 + job.session)))
            self._step(Frame(job.session, wire.Register(1, f"job-{job.session}", 0, cap=0.8 * CAPACITY)))
        while self._now < LONGEST and any(job.phases or job.open for job in self._jobs):
            self._pass_to(min([self._wake, self._look, *map(self._next, self._jobs)]))
        return self.found

    def _next(self, job: Job) -> float:
        if not job.open:
            return min(job.posts_at, job.beats_at) if job.phases else inf
        short = min(job.real, job.said) - job.moved
        done = self._now + max(0.0, short) / job.rate if job.rate > 0.0 else inf
        return min(job.beats_at, done)

    def _pass_to(self, time: float) -> None:
        seconds, self._now = time - self._now, time
        for job in self._jobs:
            job.moved += job.rate * seconds if job.open else 0.0
        for job in self._jobs:
            self._do(job)
        if time >= self._look:
            self._look = time + LOOK
            self._foresee()
        if time >= self._wake:
            self._step(Tick())

    def _do(self, job: Job) -> None:
        if not job.phases:
            return
        if not job.open:
            if job.posts_at <= self._now:
                self._post(job)
            elif job.beats_at <= self._now:
                self._beat(job)
        elif job.moved >= job.real * (1.0 - 1e-9):
            self._complete(job)
        elif job.moved >= job.said * (1.0 - 1e-9):
            self._extend(job)
        elif job.beats_at <= self._now:
            self._beat(job)

    def _post(self, job: Job) -> None:
        job.op, job.hb, job.open = job.op + 1, job.hb + 1, True
        job.said, job.moved, job.rate = job.announced, 0.0, 0.0
        job.began, job.beats_at = None, self._now + BEAT
        self._step(Frame(job.session, wire.Post(2, job.op, job.hb, job.announced)))

    def _beat(self, job: Job) -> None:
        job.hb, job.beats_at = job.hb + 1, self._now + (BEAT if job.open else wire.PING)
        self._step(Frame(job.session, wire.Beat(job.hb, *job.rev, job.moved)))

    def _extend(self, job: Job) -> None:
        """As a client does by itself that moves more than it announced."""
        more = EXTENSION * job.said
        job.said += more
        self._step(Frame(job.session, wire.Extend(job.op, more)))

    def _complete(self, job: Job) -> None:
        job.open, job.rate, job.phases = False, 0.0, job.phases - 1
        job.posts_at = self._now + job.compute * self._chance.uniform(0.8, 1.2)
        for told in job.told:
            self._judge(told, job)
        job.told.clear()
        self._step(Frame(job.session, wire.Complete(job.op, job.real)))
        job.beats_at = self._now + wire.PING
        if not job.phases:
            self._step(Frame(job.session, wire.Goodbye("done")))

    def _step(self, given: Input) -> None:
        heard: list[Input] = [given]
        while heard:
            outputs, heard = self._core.step(self._now, heard), []
            self._wake = inf
            for output in outputs:
                if isinstance(output, WakeAt):
                    self._wake = output.time
                elif isinstance(output, Send) and isinstance(output.message, wire.Rate):
                    heard.append(self._heard(self._jobs[output.session - 1], output.message))

    def _heard(self, job: Job, rate: wire.Rate) -> Input:
        job.rev = rate.epoch, rate.rev
        if job.open and rate.op == job.op:
            job.rate = rate.rate
            if rate.rate > 0.0 and job.began is None:
                job.began = self._now
        return Frame(job.session, wire.Ack(rate.epoch, rate.rev))

    def _foresee(self) -> None:
        told = whole(forecasts(self._core))
        for app in self._core.state.apps.values():
            if (each := told.get(app.number)) is not None:
                job = self._jobs[int(app.job.partition("-")[2]) - 1]
                if each["sure"] == "none":
                    self.found["none"].none += 1
                else:
                    start = each["start"] if job.began is None else None
                    job.told.append(Told(self._now, start, each["earliest"], each["latest"], each["sure"]))

    def _judge(self, told: Told, job: Job) -> None:
        found, took = self.found[told.sure], self._now - told.time
        found.ends += 1
        found.inside += told.earliest - 1.0 <= took <= told.latest + 1.0
        found.later += took > told.latest + 1.0
        if told.start is not None and job.began is not None:
            waited = job.began - told.time
            found.starts += 1
            found.near += abs(waited - told.start) <= max(2.0, 0.2 * told.start)


def coverage(policy: str, kind: str, seeds: int) -> dict[str, Coverage]:
    """Of many days of one kind."""
    total: defaultdict[str, Coverage] = defaultdict(Coverage)
    for seed in range(seeds):
        for word, found in Day(policy, kind, seed).run().items():
            for name, value in vars(found).items():
                setattr(total[word], name, getattr(total[word], name) + value)
    return dict(total)


def main() -> None:
    """A line for each kind of site, policy and word."""
    print(
        "| site | policy | how sure | forecasts | ends in the range | ended later | starts as told |\n| --- |"
        + 6 * " --- |"
    )
    for kind in OFF:
        for policy in POLICIES:
            for word, found in sorted(coverage(policy, kind, SEEDS).items()):
                starts = f"{found.near:,} of {found.starts:,}" if found.starts else "–"
                ends = (f"{100 * found.share:.1f} %", f"{found.later:,}") if found.ends else ("–", "–")
                cells = kind, policy, word, f"{found.ends + found.none:,}", *ends, starts
                print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
