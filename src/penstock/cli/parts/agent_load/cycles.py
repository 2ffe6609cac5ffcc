"""`penstock loadtest`: how long a control cycle takes, from a change of all rates until the last agent has its new one.

What is changed is the capacity, by an operator's word. A virtual agent has its rate when its socket has it: all of them
are in this process, and what it takes them one after the other to read it is no cycle of any site. A real agent has it
when it has written it into the segment of its job, which carries the time. All are on the controller's machine, where a
site has a node for each agent: so they give way to the controller (`nice`), and share what is left of its processors.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, isnan
from pathlib import Path

from penstock.cli.parts.agent_load.host import folder_of, job_of
from penstock.cli.parts.agent_load.virtual import PATIENCE, AgentLoadFailed, Virtual, VirtualAgent, now
from penstock.client.agent.connection import Connection
from penstock.client.config import Address
from penstock.client.segment import Segment, count_written, segment_path
from penstock.live.admin import Line
from penstock.live.loadtest.load_test import part
from penstock.live.loadtest.processes import controller, cpu_seconds, memory, way_in
from penstock.wire.messages import Admin

PROCESSES = 50  # of a job on a node, which share a segment; counted, not run: their number does not enter the cycle
ACKNOWLEDGED = 0.2  # seconds after which those that were told have said that they know
SETTLED = 2.5  # seconds after which everybody has acknowledged, and beaten once
CAPACITY = 1e12
LOOK = 0.005  # seconds between two looks at the segments of real agents
NOTHING_COMES = 0.05  # seconds after which virtual agents see to what came, though not all were told
STEP = 0.9  # the capacity goes down by this, and up again


@dataclass(frozen=True)
class AgentLoad:
    """So many agents, of which some are processes; their jobs, on as many nodes each; how many cycles to measure."""

    agents: int
    real: int
    jobs: int
    cycles: int = 20


@dataclass(frozen=True)
class AgentFigures:
    """What was measured. Times of cycles in milliseconds: the median, and what 95 of 100 do not exceed."""

    agents: int
    real: int
    processes: int  # that a site would have behind them; none are run
    jobs: int
    register_seconds: float
    cycles: int
    told_ms: float  # until the last virtual agent's socket has the new rate
    told_p95_ms: float
    segments_ms: float | None  # until the last real agent has it in its segment
    segments_p95_ms: float | None
    cpu_ms: float  # processor time of the controller in a cycle, acknowledgements included
    server_cpu: float  # of one core, while nothing changes
    rss_mb: float


def _allow_files(need: int) -> None:
    """That many open files at least; whoever may have more keeps that."""
    now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if now != resource.RLIM_INFINITY and need > now:
        unlimited = most == resource.RLIM_INFINITY
        resource.setrlimit(resource.RLIMIT_NOFILE, (need, most if unlimited else max(need, most)))


def agent_load(load: AgentLoad, say: Callable[[str], None] = lambda text: None) -> AgentFigures:
    """Measure a controller of our own."""
    if not (0 <= load.real <= load.agents and 1 <= load.jobs <= load.agents and load.cycles >= 1):
        raise AgentLoadFailed(
            f"{load.agents} agents, {load.real} of them real, {load.jobs} jobs and {load.cycles} cycles are no load; "
            "there are at least as many agents as real ones and as jobs, and at least one cycle"
        )
    _allow_files(2 * load.agents + 500)
    with tempfile.TemporaryDirectory(prefix="penstock-") as name:
        folder = Path(name)
        way = way_in(folder, "unix")
        say("starting a controller")
        with controller(folder, load.agents, way) as child:
            child.ready()
            return _Test(load, folder, Address(path=way.path), child.pid, say).run()


class _Test:
    def __init__(self, load: AgentLoad, folder: Path, address: Address, pid: int, say: Callable[[str], None]) -> None:
        self.load, self.folder, self.address, self.pid, self.say = load, folder, address, pid, say
        self.uid = os.getuid()
        names = [(f"n{number}", job_of(number, load.jobs)) for number in range(load.real, load.agents)]
        self.virtual = Virtual([VirtualAgent(node, job, self.uid, address) for node, job in names])
        self.segments: list[Segment] = []
        self._moved_at = now()

    def run(self) -> AgentFigures:
        """Everything in order."""
        host = self._real() if self.load.real else None
        try:
            return self._measure()
        finally:
            self.virtual.close()
            if host is not None:
                host.communicate("")

    def _real(self) -> subprocess.Popen[str]:
        load, host_of_agents = self.load, "penstock.cli.parts.agent_load.host"
        self.say(f"starting {load.real:,} agents")
        words = [str(self.folder), str(self.address), "0", str(load.real), str(load.jobs), str(self.uid)]
        host = subprocess.Popen(
            [sys.executable, "-m", host_of_agents, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert host.stdout is not None
        if not host.stdout.readline().startswith("ready"):
            raise AgentLoadFailed("the agents did not start")
        for number in range(load.real):
            path = segment_path(job_of(number, load.jobs), 0, self.uid, folder_of(self.folder, number))
            self.segments.append(Segment(path))
        return host

    def _measure(self) -> AgentFigures:
        load = self.load
        self.say(f"letting {load.agents:,} agents in")
        began = time.monotonic()
        self.virtual.dial()
        with Line(self.address) as line:
            self.virtual.until(lambda: line.ask("status")["members"] == {"posted": load.agents}, PATIENCE)
        registered = time.monotonic() - began
        self._rest(SETTLED)
        cpu, began = cpu_seconds(self.pid), time.monotonic()
        self._rest(4.0)
        idle = (cpu_seconds(self.pid) - cpu) / (time.monotonic() - began)
        self.say(f"{load.cycles} cycles")
        told, kept, work = self._cycles(idle)
        return AgentFigures(
            agents=load.agents,
            real=load.real,
            processes=PROCESSES * load.agents,
            jobs=load.jobs,
            register_seconds=registered,
            cycles=load.cycles,
            told_ms=part(told, 0.5),
            told_p95_ms=part(told, 0.95),
            segments_ms=part(kept, 0.5) if kept else None,
            segments_p95_ms=part(kept, 0.95) if kept else None,
            cpu_ms=part(work, 0.5),
            server_cpu=idle,
            rss_mb=memory(self.pid),
        )

    def _cycles(self, idle: float) -> tuple[list[float], list[float], list[float]]:
        """Milliseconds of each cycle: told to virtual agents, in the segments of real ones, and of the controller."""
        operator = Connection(self.address, None, "admin", "")
        operator.dial(0.0, 0)
        deadline = time.monotonic() + PATIENCE
        while not operator.let_in:
            if time.monotonic() > deadline:
                raise AgentLoadFailed("the controller lets no operator in")
            operator.ready(0.0, 1)
            self.virtual.turn(0.01)
        told, kept, work = [], [], []
        for number in range(self.load.cycles):
            capacity = CAPACITY * (STEP if number % 2 == 0 else 1.0)
            before = [segment.lane().rate for segment in self.segments]
            cpu, began = cpu_seconds(self.pid), now()
            operator.send(Admin(1, "capacity", {"resource": "all", "capacity": capacity}))
            last, times = self._all_told(began, before)
            told.append(1e3 * (last - began))
            kept += [1e3 * (max(times) - began)] if times else []
            self._rest(ACKNOWLEDGED)
            seconds = now() - began
            work.append(1e3 * (cpu_seconds(self.pid) - cpu - idle * seconds))
            self._rest(SETTLED)
            operator.ready(0.0, 1)
        operator.hang_up()
        return sorted(told), sorted(kept), sorted(work)

    def _all_told(self, began: float, before: list[float]) -> tuple[float, list[float]]:
        """When the socket of the last virtual agent had its new rate, and when each segment of a real one had."""
        deadline = time.monotonic() + PATIENCE
        while any(agent.arrived < began for agent in self.virtual.agents):
            _in_time(deadline)
            if not self.virtual.listen(NOTHING_COMES):  # some may have to wait for the word of others
                self.virtual.turn(0.0)
        times: dict[int, float] = {}  # segments keep theirs till now
        while len(times) < len(before):
            _in_time(deadline)
            for place, rate in enumerate(before):
                if place not in times and (lane := self.segments[place].lane()).rate != rate:
                    times[place] = lane.at
            self.virtual.turn(LOOK)
        arrived = [agent.arrived for agent in self.virtual.agents]
        return max([began, *arrived]), list(times.values())

    def _rest(self, seconds: float) -> None:
        """Let time pass; virtual agents go on beating."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0.0:
            self.virtual.turn(min(left, 0.05))
            self._move()

    def _move(self) -> None:
        """What the programs of real agents do: all that they may."""
        since, self._moved_at = self._moved_at, now()
        for segment in self.segments:
            rate = segment.lane().rate
            if not isnan(rate):
                count_written(segment, int(rate * (self._moved_at - since)))


def _in_time(deadline: float) -> None:
    if time.monotonic() > deadline:
        raise AgentLoadFailed("not all agents were told a new rate")


def default_real(agents: int) -> int:
    """Of so many agents, how many are processes if nobody says: a tenth, and at most 200."""
    return min(200, ceil(agents / 10))
