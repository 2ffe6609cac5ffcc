"""The exclusive orders of P2 and P3: one operation at a time, at full rate, never interrupted.

An order says which pending operation starts when the resource is free, or None to leave it idle. What it knows of
durations is nominal (as listed, without noise) and covers all listed phases, not only those that fit into the window.
Times count from the beginning of the window, as in the engine.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import chain, cycle
from typing import Any

from .engine import TOLERANCE, limit_of, span_of, unroll
from .policies import Policy, Rates, State, by_posting, fair_share, quantise, yield_at

Document = dict[str, Any]
Choose = Callable[[State], State | None]
Key = Callable[[State, State], float]


@dataclass
class Step:
    """Nominal seconds of compute, then of I/O at full rate; no I/O: a compute that no operation follows."""

    compute: float
    io: float


@dataclass
class Job:
    """One application as it is listed: what it does once, then what it does forever."""

    name: str
    start: float
    once: list[Step]
    forever: list[Step]

    def operations(self) -> float:
        """How many operations it has."""
        return math.inf if any(step.io for step in self.forever) else operations(self.once)

    def mean(self) -> tuple[float, float]:
        """Compute and I/O seconds per operation, of the endless loop alone if there is one."""
        steps = self.forever or self.once
        number = operations(steps)
        if number == 0:
            return math.inf, 0.0
        return sum(step.compute for step in steps) / number, sum(step.io for step in steps) / number

    def left(self, operation: int) -> float:
        """Dedicated seconds from the start of this operation (0: its first) to the end."""
        if self.forever:
            return math.inf
        return self.once[operation].io + sum(step.compute + step.io for step in self.once[operation + 1 :])

    def dedicated(self) -> float:
        """Dedicated seconds of all that is listed."""
        return math.inf if self.forever else sum(step.compute + step.io for step in self.once)

    def first_posting(self) -> float:
        """When it posts its first operation, by what is listed."""
        time = self.start
        for step in self.once + self.forever:
            time += step.compute
            if step.io:
                return time
        return math.inf

    def started_alone(self, end: float) -> int:
        """How many operations it would start before `end` if it had the platform to itself."""
        time, started = self.start, 0
        for step in chain(self.once, cycle(self.forever)):
            time += step.compute
            if time >= end * (1 - TOLERANCE):
                break
            started += step.io > 0
            time += step.io
        return started


def operations(steps: list[Step]) -> int:
    """How many of the steps are operations."""
    return sum(step.io > 0 for step in steps)


def steps_of(document: Document, app: Document, phases: list[Document]) -> list[Step]:
    """Finitely many listed phases, empty ones dropped and neighbouring computes merged."""
    steps, compute = [], 0.0
    for kind, amount in unroll(phases):
        if kind == "compute":
            compute += amount
        elif amount > 0:
            steps.append(Step(compute, amount / limit_of(document, app, kind)))
            compute = 0.0
    return [*steps, Step(compute, 0.0)] if compute else steps


def jobs_of(document: Document) -> dict[str, Job]:
    """Every application by its name, in scenario order."""
    begin, _ = span_of(document)
    jobs = {}
    for app in document["applications"]:
        once, forever = app["phases"], []
        if once[-1].get("repeat") == "forever":
            once, forever = once[:-1], once[-1]["phases"]
        start = max(0.0, app.get("release", 0.0) - begin)
        steps = [steps_of(document, app, phases) for phases in (once, forever)]
        jobs[app["name"]] = Job(app["name"], start, *steps)
    return jobs


def johnson(jobs: Iterable[Job]) -> list[str]:
    """Names in Johnson's order (P2 definition 9) of the mean iterations."""

    def key(job: Job) -> tuple[int, float]:
        a, b = map(quantise, job.mean())
        return (0, a) if a <= b else (1, -b)

    return [job.name for job in sorted(jobs, key=key)]


def exclusive(choose: Choose) -> Policy:
    """Serve whoever is being served; when that is over, ask who is next."""
    served: tuple[str, int] | None = None

    def decide(state: State) -> Rates:
        nonlocal served
        pending = [(flow["name"], flow["operation"]) for flow in state["active"]]
        if served not in pending:
            chosen = choose(state)
            served = None if chosen is None else (chosen["name"], chosen["operation"])
        return {
            flow["name"]: flow["bandwidth"] if operation == served else 0.0
            for flow, operation in zip(state["active"], pending, strict=True)
        }

    return decide


def by_list(key: Key) -> Policy:
    """The pending operation with the lowest key; of equals the first in the scenario, which `min` finds."""
    return exclusive(lambda state: min(state["active"], key=lambda flow: quantise(key(state, flow))))


def list_johnson(document: Document) -> Policy:
    """By place in Johnson's order."""
    order = johnson(jobs_of(document).values())
    return by_list(lambda state, flow: order.index(flow["name"]))


def list_remaining(document: Document, sign: int) -> Policy:
    """By nominal dedicated seconds left, the pending operation included; least first if `sign` is 1, most if -1."""
    jobs = jobs_of(document)
    return by_list(lambda state, flow: sign * jobs[flow["name"]].left(flow["operation"]))


def list_io(document: Document, sign: int) -> Policy:
    """By nominal dedicated seconds of the pending operation; shortest first if `sign` is 1, longest if -1."""
    jobs = jobs_of(document)

    def key(state: State, flow: State) -> float:
        job = jobs[flow["name"]]
        listed = (step.io for step in chain(job.once, cycle(job.forever)) if step.io)
        for _ in range(flow["operation"]):
            next(listed)
        return sign * next(listed)

    return by_list(key)


def served_share(state: State, flow: State) -> float:
    """I/O seconds served in this run over time since release."""
    age = state["now"] - flow["release"]
    return float(flow["served"] / age) if age > 0 else 0.0


def by_turns(document: Document, order: list[str]) -> Policy:
    """One operation of each job in turn, in a fixed order, waiting for whoever's turn it is.

    It watches every event, also those at which nobody asks for anything: who is waited for keeps the turn.
    """
    jobs = jobs_of(document)
    started: Counter[str] = Counter()
    turn = 0

    def choose(state: State) -> State | None:
        nonlocal turn
        for place in [*range(turn, len(order)), *range(turn)]:
            job = jobs[order[place]]
            released = job.start <= state["now"] * (1 + TOLERANCE)
            if released and started[job.name] < job.operations() and job.name not in state.get("gone", ()):
                turn = place
                break
        else:
            return None
        chosen = next((flow for flow in state["active"] if flow["name"] == job.name), None)
        if chosen is not None:
            started[job.name] += 1
            turn = (place + 1) % len(order)
        return chosen

    decide = exclusive(choose)
    decide.watches = True  # type: ignore[attr-defined]
    return decide


def turns_by(document: Document, key: Callable[[Job], float]) -> Policy:
    """Turns in the order of a key, lowest first."""
    return by_turns(document, [job.name for job in sorted(jobs_of(document).values(), key=lambda j: quantise(key(j)))])


def follow(sequence: Iterable[str]) -> Policy:
    """Serve exactly this sequence of names, waiting for the next one in it; what comes after it by posting time."""
    names = iter(sequence)
    expected = next(names, None)

    def choose(state: State) -> State | None:
        nonlocal expected
        while expected in state.get("gone", ()):
            expected = next(names, None)
        if expected is None:
            return by_posting(state["active"])[0]
        chosen = next((flow for flow in state["active"] if flow["name"] == expected), None)
        if chosen is not None:
            expected = next(names, None)
        return chosen

    return exclusive(choose)


def blocks_of(counts: dict[str, int], means: dict[str, float]) -> list[list[str]]:
    """Hierarchical round-robin (P2 §3.2): the blocks in serving order, from operations and mean computes per job."""
    most = max(counts.values(), default=0)
    stacks: list[list[str]] = [[] for _ in range(most)]
    shorter = cycle(stacks[1:])
    for name in sorted(counts, key=lambda name: (-counts[name], -quantise(means[name]))):
        if counts[name] == most:
            for stack in stacks:
                stack.append(name)
        else:
            for _ in range(counts[name]):
                next(shorter).append(name)
    return [stack[::-1] for stack in stacks]


def hierarchical_round_robin(document: Document) -> Policy:
    """Follow the blocks one after the other; with endless jobs there are more than the others can go round."""
    jobs = jobs_of(document)
    counts = {name: job.operations() for name, job in jobs.items()}
    shorter = [number for number in counts.values() if number < math.inf]
    longest = max(shorter, default=0)
    if math.inf in counts.values():
        begin, end = span_of(document)
        assert end is not None
        longest = 1 + sum(shorter) + max(job.started_alone(end - begin) for job in jobs.values())
    finite = {name: int(min(number, longest)) for name, number in counts.items()}
    return follow(chain.from_iterable(blocks_of(finite, {name: job.mean()[0] for name, job in jobs.items()})))


def round_robin_makespan(a: float, b: float, counts: list[int]) -> float:
    """What hierarchical round-robin takes for jobs (a, b)^count that all start at 0 (P2 §5.3, q being the floor)."""
    n = max(counts)
    if n == 1:
        return a + len(counts) * b
    longest = counts.count(n)
    q, r = divmod(sum(counts) - longest, n - 1)
    return a + longest * b + (n - 1 - r) * max(a + b, q * b) + r * max(a + b, (q + 1) * b)


ORDERS: dict[str, Callable[[Document], Policy]] = {
    "list-fifo": lambda document: by_list(lambda state, flow: flow["posted"]),
    "list-johnson": list_johnson,
    "list-most-remaining": lambda document: list_remaining(document, -1),
    "list-shortest-remaining": lambda document: list_remaining(document, 1),
    "list-lowest-id": lambda document: by_list(lambda state, flow: 0.0),
    "list-longest-io": lambda document: list_io(document, -1),
    "list-shortest-io": lambda document: list_io(document, 1),
    "list-bandwidth": lambda document: by_list(served_share),
    "list-stretch": lambda document: by_list(lambda state, flow: yield_at(flow, state["now"])),
    "best-effort": lambda document: fair_share,
    "periodic-fifo": lambda document: turns_by(document, Job.first_posting),
    "periodic-johnson": lambda document: by_turns(document, johnson(jobs_of(document).values())),
    "periodic-most-remaining": lambda document: turns_by(document, lambda job: -job.dedicated()),
    "hierarchical-round-robin": hierarchical_round_robin,
}
