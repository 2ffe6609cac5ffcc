"""The Python face of the loop of a whole machine: prepare the arrays, run, turn refusals into sentences."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from penstock.engine.link import loop as link_loop
from penstock.engine.link.execution import Run, origin_of
from penstock.engine.link.recording import Recording
from penstock.engine.link.state import Segments
from penstock.engine.machine.loop import run_machine
from penstock.engine.machine.network import IN, Network, Resource
from penstock.engine.machine.pool import Pool, empty_pool
from penstock.engine.machine.rules import rules_of
from penstock.engine.machine.state import (
    EVENTS,
    NOW,
    SEGMENTS,
    WRONG,
    empty_desk,
    initial_apps,
    initial_clock,
    initial_flows,
    jobs_of,
    machine_view,
)
from penstock.engine.machine.watching import passage_of
from penstock.engine.machine.whole import Machine
from penstock.engine.passage import Passage
from penstock.engine.program import Program
from penstock.engine.stepping import Progress
from penstock.engine.timeline import Timeline
from penstock.errors import PenstockError, PolicyError
from penstock.kernels.arrays import SAME, Floats, Ints
from penstock.kernels.records import by_address
from penstock.policies.sharing.foresight import Foresight
from penstock.policies.sharing.policy import Sharing

_CHUNK = 200_000


class Behind(NamedTuple):
    """How a burst buffer is used."""

    capacity: float
    shares: Floats  # of it, for each application; they may add up to more than 1
    lead: float  # how long before its release an application has its part, and its input may be fetched

    def entry(self, program: Program) -> Floats:
        """When those that have a share enter; not before the run. Infinity for the others."""
        first = program.begin if program.windowed else 0.0
        entry = np.maximum(first, program.release - self.lead)
        return np.where(self.shares > 0.0, entry, np.inf)

    def pool(self, program: Program, kind: Ints, origin: float) -> Pool:
        """Nothing has happened; the first read of each may be fetched from its entry on."""
        ahead = np.zeros(len(program.names))
        for i in np.flatnonzero(self.shares > 0.0):
            own = slice(program.first[i], program.first[i + 1])
            inputs = program.volume[own][kind[own] == IN]
            ahead[i] = inputs[0] if inputs.size else 0.0
        whole = self.capacity * self.shares
        return empty_pool(whole, self.capacity, self.entry(program) - origin, program.release, ahead)


@dataclass(frozen=True)
class MachineRun:
    """A run, and what each resource had to do with it."""

    run: Run
    busy: Floats  # seconds with bytes on their way
    moved: Floats  # bytes that crossed it
    passage: Passage | None = None  # where bytes were, if somebody watched


def execute_machine(
    program: Program,
    kind: Ints,
    network: Network,
    resources: Sequence[Resource],
    policies: Sequence[Sharing],
    foresight: Foresight | None = None,
    behind: Behind | None = None,
    *,
    timeline: bool = False,
    watched: bool = False,
    progress: Progress | None = None,
) -> MachineRun:
    """Run `program` on a machine to its end, each resource under its policy; `behind` says how a buffer is used.

    `watched`: look where bytes are, too, which takes a second run.
    """
    behind = Behind(0.0, np.zeros(len(program.names)), 0.0) if behind is None else behind
    given = (program, kind, network, resources, policies, foresight, behind)
    found = MachineExecution(*given, timeline).finish(progress)
    if not watched:
        return found
    room = behind.capacity if network.buffered.any() else 0.0
    return replace(found, passage=passage_of(MachineExecution(*given, False), found.run.events, room))


class MachineExecution:
    """One run on its way."""

    def __init__(
        self,
        program: Program,
        kind: Ints,
        network: Network,
        resources: Sequence[Resource],
        policies: Sequence[Sharing],
        foresight: Foresight | None,
        behind: Behind,
        timeline: bool,
    ) -> None:
        self.program, self.network, self.resources, self.policies = program, network, resources, policies
        # Ticks without a window count from 0, so the clock starts with one of them.
        plans = any(policy.prepare is not None for policy in policies)
        rules = None if plans else rules_of(network, policies, program, kind, None, None)[0]
        tick = float(rules.tick.min(initial=np.inf)) if rules is not None else np.inf
        self.origin = min(origin_of(program, tick if np.isfinite(tick) else 0.0), float(behind.entry(program).min()))
        self.rules, memory, self.decide = rules_of(network, policies, program, kind, foresight, self.origin)
        m = len(program.names)
        self.jobs = jobs_of(program, kind, self.origin)
        self.apps, self.flows = initial_apps(program), initial_flows(network)
        self.desk = empty_desk(network, self.rules)
        self.pool = behind.pool(program, kind, self.origin)
        self.clock = initial_clock(program, self.origin, self.rules, self.pool.entry)
        self.view = machine_view(m, memory, self.rules.values, 0.0, self.jobs.end)
        self.recording = Recording(m, timeline)
        whole = network, self.rules, self.jobs, self.apps, self.flows, self.pool, self.clock, self.desk, self.view
        self.machine = by_address(Machine(*whole, self.recording.room))
        self.seconds = 0.0

    def finish(self, progress: Progress | None) -> MachineRun:
        """Run to the end."""
        self.go_on(0)
        self.seconds = 0.0
        before = -np.inf
        while (status := self.go_on(_CHUNK)) != link_loop.DONE:
            if status == link_loop.ROOM_SPENT:
                self._keep_segments()
            elif status == link_loop.STALLED:
                raise PolicyError(
                    f"at t = {self._time:g} s nobody got any bandwidth, and nothing else would ever happen"
                )
            elif status == link_loop.REFUSED:
                raise PolicyError(self._refused())
            elif self._time - before <= SAME * abs(self._time):
                raise PenstockError(
                    f"the run stands still at t = {self._time:g} s: a mistake of penstock's; please report the scenario"
                )
            before = self._time
            if progress is not None:
                progress(self._time, int(self.clock.counts[EVENTS]))
        return self._result()

    @property
    def _time(self) -> float:
        return self.origin + float(self.clock.time[NOW])

    def go_on(self, budget: int) -> int:
        """Let at most so many events happen; 0: as many as set it up. Whether it is over, and how."""
        started = time.thread_time()
        status = self._run(budget)
        self.seconds += time.thread_time() - started
        return int(status)

    def _run(self, budget: int) -> int:
        go_on: Any = run_machine
        status: int = go_on(self.machine, *self.decide, budget)
        return status

    def _refused(self) -> str:
        """Which policy gave what is not there; what it was shown last is still in the View."""
        wrong = int(self.clock.counts[WRONG])
        who = (
            f"sharing policy {self.policies[wrong].name!r}, at t = {self._time:g} s, on {self.resources[wrong].name!r},"
        )
        rates, limit = self.desk.rates, self.view.limit
        for row in range(rates.size):
            if not rates[row] >= 0.0:
                return f"{who} gave a rate of {rates[row]:g}; a rate is 0 or more"
            if rates[row] > limit[row] * (1.0 + 1e-9) and limit[row] > 0.0:
                return f"{who} gave somebody {rates[row]:g}; it can use {limit[row]:g} at most"
        return f"{who} gave out more than the {self.desk.room[wrong]:g} there are"

    def _keep_segments(self) -> None:
        self.recording.keep(int(self.clock.counts[SEGMENTS]))
        self.clock.counts[SEGMENTS] = 0

    def _result(self) -> MachineRun:
        program, apps = self.program, self.apps
        ended = np.fmax(apps.completion, apps.cut)
        end = float(self.clock.time[NOW] if program.windowed else np.nanmax(ended))
        compute_done, transferred, done = apps.compute_done.copy(), apps.transferred.copy(), apps.done.copy()
        for i in np.flatnonzero(np.isnan(ended) & (apps.operation >= 0)):
            if apps.under_way[i] == 0:
                more = max(0.0, end - apps.since[i])
                compute_done[i] += more
                done[i] += more
            else:
                moved = self._moved(int(i))
                transferred[i] += moved
                done[i] += moved / self.network.speed[i, self.jobs.kind[apps.operation[i]]]
        run = Run(
            self.origin,
            end,
            int(self.clock.counts[EVENTS]),
            self.seconds,
            compute_done,
            transferred,
            np.maximum(0.0, done - program.progress - compute_done),
            apps.completion,
            apps.cut,
            self._timeline(end, ended) if self.recording.wanted else None,
        )
        return MachineRun(run, self.flows.busy.copy(), self._crossed())

    def _moved(self, i: int) -> float:
        """Bytes of an operation that the end of the run broke off."""
        operation = self.apps.operation[i]
        if self.network.buffered[i]:
            return float(self.jobs.volume[operation] - max(0.0, self.pool.todo[i]))
        own = 4 * i + self.jobs.kind[operation]
        flows = slice(self.network.first[own], self.network.first[own + 1])
        left = np.where(self.flows.active[flows] == 1, np.maximum(0.0, self.flows.remaining[flows]), 0.0).sum()
        return float(self.jobs.volume[operation] - left)

    def _crossed(self) -> Floats:
        """Bytes that have crossed each resource."""
        edges = self.flows.carried[self.network.edge_flow]
        in_all = np.bincount(self.network.resource, weights=edges, minlength=self.flows.busy.size)
        return in_all.astype(np.float64)

    def _timeline(self, end: float, ended: Floats) -> Timeline:
        """All segments, those still open at the end closed there."""
        self._keep_segments()
        apps = self.apps
        rows = np.flatnonzero((apps.segment_rate >= 0.0) & (apps.segment_start < end) & (apps.under_way > 0))
        until, rate = np.full(rows.size, end), apps.segment_rate[rows]
        still = Segments(rows, apps.operation[rows], apps.segment_start[rows], until, rate)
        broken = np.where(np.isnan(apps.cut), -1, apps.operation)
        return self.recording.timeline(self.program, self.origin, end, ended, still, broken)
