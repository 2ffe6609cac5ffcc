"""Running what was mapped: pack after pack, or job by job as room appears. I/O nodes do not disturb each other."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from penstock.engine.link.execution import Execution, execute
from penstock.kernels.arrays import SAME, Floats, Ints
from penstock.policies.mapping.backfill import Backfill
from penstock.policies.mapping.longest_first import longest_first
from penstock.policies.mapping.make_pack import make_pack
from penstock.policies.sharing.policy import Outlook, Sharing
from penstock.studies.packs.batch import Batch

Progress = Callable[[int], None]  # how many jobs have ended


class Placed(NamedTuple):
    """For each job, its I/O node, its pack (-1: none), and when it ran; and the engine's time for it."""

    node: Ints
    pack: Ints
    start: Floats
    end: Floats
    seconds: float


def run_packs(batch: Batch, sensitivity: float, policy: Sharing, report: Progress) -> Placed:
    """Make packs, deal them to the I/O nodes, and run each when the one before it on its node is over."""
    pack = make_pack(batch.seconds, batch.io, batch.processors, batch.machine.nodes, sensitivity)
    longest = np.zeros(pack.max() + 1)
    np.maximum.at(longest, pack, batch.seconds)
    node = longest_first(longest, batch.machine.count)
    free = np.zeros(batch.machine.count)
    start, end = np.empty((2, pack.size))
    engine, ended = 0.0, 0
    # Packs are numbered by falling time alone, so a node takes them in the order in which they were dealt.
    for number, place in enumerate(node):
        jobs = np.flatnonzero(pack == number)
        foresight = batch.study.foresight.pick(jobs) if policy.prepare else None
        program = batch.study.program.pick(jobs)
        run = execute(program, policy, _outlook(program.volume.size), foresight)
        start[jobs], end[jobs] = free[place], free[place] + run.completion
        free[place] += run.end
        engine, ended = engine + run.seconds, ended + jobs.size
        report(ended)
    return Placed(node[pack], pack, start, end, engine)


def _outlook(operations: int) -> Outlook:
    return Outlook(0.0, math.inf, operations)


def run_backfilled(batch: Batch, sensitivity: float, policy: Sharing, report: Progress) -> Placed:
    """Start jobs whenever others end and leave room for them."""
    machine, program = batch.machine, batch.study.program
    rule = Backfill(batch.seconds, batch.io, batch.processors, machine.nodes, machine.count, sensitivity)
    foresight = batch.study.foresight if policy.prepare else None
    executions: dict[int, Execution] = {}
    node, start, end = np.empty(len(batch.names), np.int64), *np.empty((2, len(batch.names)))

    def begin(places: Sequence[int], now: float) -> None:
        started = rule.start(places, now)
        for place in sorted({chosen for _, chosen in started}):
            jobs = sorted(job for job, chosen in started if chosen == place)
            if place not in executions:
                executions[place] = Execution(program, policy, _outlook(program.volume.size), foresight, held=True)
            executions[place].admit(jobs, now)
            node[jobs], start[jobs] = place, now

    begin(range(machine.count), 0.0)
    # A node changes only when a job on it ends, so each runs up to that, and the earliest is looked after.
    ends = [(execution.next_end(), place) for place, execution in executions.items()]
    heapq.heapify(ends)
    ended = 0
    while ends:
        now, place = heapq.heappop(ends)
        completion = executions[place].completion
        over = [job for job in rule.running[place] if completion[job] <= now * (1.0 + SAME)]
        end[over] = completion[over]
        rule.end(place, over)
        begin([place], now)
        if rule.running[place]:
            heapq.heappush(ends, (executions[place].next_end(), place))
        ended += len(over)
        report(ended)
    nobody = np.full(node.size, -1)
    return Placed(node, nobody, start, end, sum(execution.seconds for execution in executions.values()))
