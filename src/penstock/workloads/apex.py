"""The APEX workloads of P1 §6.3: steady windows of a machine that runs the workflows of NERSC, or of TRILAB.

    table       what the workflows are (see `apex_table`)
    machine     M_t: Cielo's cores times 2^t and its bandwidth times 2^t/t; an application's cores and volumes times 2^t
    life        read the input; compute for a period and write a checkpoint, again and again; compute; write the output
    schedule    workflows in random order, first fit, with the node-hours that the table says, for 3 months
    windows     the 20 longest times in which nobody joins or leaves
    scenario    those who run in one of them, each released at its begin (τ_i = T_begin)
    start       fresh: everybody begins its life there, with its input; midlife: it goes on from where it was

Where P1 is silent or unclear:

Bandwidth. The text that we have of P1 reads C_bw·2^(t/α/t), which would not grow; a fraction bar may have been lost on
the way to text. P1's words (a linear factor behind computing) and its range of pressures, 0.15 to 1.4 for t up to 10,
say C_bw·2^(t/α)/t. α is not given and changes nothing but absolute sizes, as
applications grow with the machine: it is 1.

Life. Wall times are those on Cielo, alone, and a checkpoint that would end too late for the output is not begun. The
same compute on M_t takes longer with its I/O, which is how P1's applications run longer on larger machines.

Joining. P1 §6.3.1: "we then assume that each application joined the system at the window start". Fresh is that
sentence, and the default: all read their input together, and checkpoint in step until contention parts them. Midlife
reads it as no more than how yield is counted; the applications are as the schedule has them at that moment.

Picking. A share is of node-hours (P1 says so of Sky Survey). P1 picks at random until the shares are met; random picks
that end with given counts are these counts in random order, so that is what is drawn, and every seed is as long.

Steady. A machine that starts empty has everybody start at once, and one that runs empty has long windows with hardly
anybody. So the schedule is watched for 3 months from the end of the longest life on, and what is picked would keep the
machine full for one more such life.

Demand. The papers lack most volumes, but P1 has the mean pressure on Cielo, about 0.15. So the volumes of the papers'
table are all multiplied by one factor such that a full Cielo would move 0.15 of what it can, if I/O took no time.

Machine. Cielo has 8·16,512 cores (P1: GTS takes an eighth) and 160 GB/s (P5 §1). P1 has no bandwidth of a node; a
core's is P5's, 0.02 GB/s, for a platform of the same 160 GB/s.

Pressure. P1 takes it as it comes and bins; one that is asked for is reached by another bandwidth of the storage in the
window alone. The window keeps its length, so at a lower pressure somebody may complete before its end.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Annotated, NamedTuple

import numpy as np

from penstock.errors import InvalidOption
from penstock.kernels.arrays import Floats, Ints
from penstock.model import Application, Compute, Phase, Platform, Read, Repeat, Scenario, Window, Write
from penstock.workloads.apex_pressure import bandwidth_for
from penstock.workloads.apex_table import GB, Table, Workflow, read_table
from penstock.workloads.registry import Accepted, generator

CIELO_CORES = 8 * 16_512
CIELO_BANDWIDTH = 160 * GB
CORE_BANDWIDTH = 0.02 * GB
CIELO_DEMAND = 0.15
WINDOWS = 20
THREE_MONTHS = 92.0  # days, as many as three months ever have
DAY = 86400.0
MOST_JOBS = 5_000_000
SHORT = 1e-6  # seconds: instants closer than this are one

Pressure = Annotated[float | None, Accepted("a number from 1e-3 to 1e3, or none", lambda value: 1e-3 <= value <= 1e3)]
Rank = Annotated[int, Accepted(f"a whole number from 1 to {WINDOWS}", lambda value: 1 <= value <= WINDOWS)]
Age = Annotated[float, Accepted("0, which is Cielo, or a number from 1 to 20", lambda t: t == 0 or 1 <= t <= 20)]
File = Annotated[str | None, Accepted("a CSV file with the columns of the APEX table", bool)]
Days = Annotated[float, Accepted("a number from 1 to 3650", lambda value: 1 <= value <= 3650)]
Demand = Annotated[
    float | None,
    Accepted(
        "a number from 1e-6 to 1e3, 0 for the volumes of the table, or none", lambda x: x == 0 or 1e-6 <= x <= 1e3
    ),
]
Cores = Annotated[int, Accepted("a whole number from 1 to 1e9", lambda value: 1 <= value <= 1e9)]
Bandwidth = Annotated[float, Accepted("a number of bytes/s from 1 to 1e18", lambda value: 1 <= value <= 1e18)]
FRESH, MIDLIFE = "fresh", "midlife"
Start = Annotated[str, Accepted(f"one of {FRESH}, {MIDLIFE}", lambda value: value in (FRESH, MIDLIFE))]


def _windows_of(workload: str, rule: str) -> Callable[..., Scenario]:
    """Register the generator of a workload."""

    def make(
        seed: int = 0,
        *,
        pressure: Pressure = None,
        window: Rank = 1,
        machine: Age = 0.0,
        start: Start = FRESH,
        table: File = None,
        days: Days = THREE_MONTHS,
        demand: Demand = None,
        cores: Cores = CIELO_CORES,
        bandwidth: Bandwidth = CIELO_BANDWIDTH,
        core_bandwidth: Bandwidth = CORE_BANDWIDTH,
    ) -> Scenario:
        drawn = apex_schedule(workload, seed, machine, table, days, demand, cores, bandwidth, core_bandwidth)
        return drawn.scenario(window, pressure, start)

    make.__doc__ = rule
    return generator(f"apex-{workload.lower()}", source="P1 §6.3")(make)


apex_nersc = _windows_of("NERSC", "A long steady window of NERSC's workflows, many of them small, on Cielo or later.")
apex_trilab = _windows_of("TRILAB", "A long steady window of TRILAB's workflows, large and long, on Cielo or later.")


class ApexMachine(NamedTuple):
    """M_t. Schedules count in cores of Cielo, of which each stands for `growth` cores here."""

    cores: int  # of Cielo
    growth: float
    bandwidth: float
    core_bandwidth: float

    def speed(self, workflow: Workflow) -> float:
        """b_i = min(p_i·b, B)."""
        return min(self.grown(workflow.cores) * self.core_bandwidth, self.bandwidth)

    def grown(self, cores: int) -> int:
        """Cores here in place of cores of Cielo."""
        return math.floor(cores * self.growth)


class Life(NamedTuple):
    """What an application of a kind does on a machine, from its start to its end, in seconds alone."""

    name: str
    share: float  # of the node-hours
    cores: int  # of Cielo
    speed: float  # bytes/s
    input: float
    checkpoints: int
    period: float  # compute before a checkpoint
    checkpoint: float
    tail: float  # compute before the output
    output: float

    @property
    def seconds(self) -> float:
        """From start to end."""
        return self.input + self.checkpoints * (self.period + self.checkpoint) + self.tail + self.output

    def after(self, passed: float) -> tuple[Phase, ...]:
        """What is left `passed` seconds after the start."""
        cycle = self.period + self.checkpoint
        since_input = passed - self.input
        before_output = since_input - self.checkpoints * cycle
        if since_input < -SHORT:
            return (self._read(-since_input), *self._cycles(self.checkpoints), *self._end(self.tail))
        if before_output >= -SHORT:
            return self._end(self.tail - before_output)
        begun = math.floor((since_input + SHORT) / cycle)
        in_cycle = max(0.0, since_input - begun * cycle)
        to_do = self.checkpoints - begun - 1
        if in_cycle < self.period - SHORT:
            now: tuple[Phase, ...] = (Compute(compute=self.period - in_cycle), self._write(self.checkpoint))
        else:
            now = (self._write(cycle - in_cycle),)
        return (*now, *self._cycles(to_do), *self._end(self.tail))

    def _cycles(self, count: int) -> tuple[Phase, ...]:
        loop = (Compute(compute=self.period), self._write(self.checkpoint))
        return (Repeat(repeat=count, phases=loop),) if count else ()

    def _end(self, tail: float) -> tuple[Phase, ...]:
        """From `tail` seconds before the output; negative: it is being written."""
        compute = (Compute(compute=tail),) if tail > SHORT else ()
        return (*compute, self._write(self.output + min(0.0, tail))) if self.output else compute

    def _read(self, seconds: float) -> Read:
        return Read(read=seconds * self.speed)

    def _write(self, seconds: float) -> Write:
        return Write(write=seconds * self.speed)


class Steady(NamedTuple):
    """A time in which nobody joins or leaves, in seconds since the machine was empty."""

    begin: float
    end: float


@dataclass(frozen=True, eq=False)
class JobSchedule:
    """Who runs when: for each application its kind and start, in the order in which they were placed."""

    label: str
    table: Table
    machine: ApexMachine
    lives: tuple[Life, ...]
    kinds: Ints
    starts: Floats
    begin: float  # watched from here
    end: float  # to here

    @cached_property
    def ends(self) -> Floats:
        """When each application ends, alone."""
        ends: Floats = self.starts + np.array([life.seconds for life in self.lives])[self.kinds]
        return ends

    @cached_property
    def windows(self) -> tuple[Steady, ...]:
        """The longest steady windows, at most 20, the longest first; of equal ones the earliest first."""
        events = np.unique(np.concatenate([self.starts, self.ends]))
        events = events[(events >= self.begin - SHORT) & (events <= self.end + SHORT)]
        order = np.argsort(np.round(-np.diff(events), 3), kind="stable")[:WINDOWS]
        return tuple(Steady(float(events[i]), float(events[i + 1])) for i in order if events[i + 1] - events[i] > 1.0)

    def running(self, window: Steady) -> Ints:
        """Those who run all through a window, in the order of the schedule."""
        inside = (self.starts <= window.begin + SHORT) & (self.ends >= window.end - SHORT)
        return np.flatnonzero(inside)

    def scenario(self, rank: int = 1, pressure: float | None = None, start: str = FRESH) -> Scenario:
        """The window of a rank, 1 being the longest; at its own I/O pressure unless another is asked for."""
        if rank > len(self.windows):
            raise InvalidOption(
                f"{self.label}: window is {rank}; accepted is at most {len(self.windows)}, all that this schedule has."
            )
        window = self.windows[rank - 1]
        scenario = Scenario(
            version=1,
            platform=Platform(
                bandwidth=self.machine.bandwidth,
                nodes=math.ceil(self.machine.cores * self.machine.growth),
                node_bandwidth=self.machine.core_bandwidth,
            ),
            window=Window(begin=0.0, end=window.end - window.begin),
            applications=self._applications(window, start),
        )
        return scenario if pressure is None else self._pressed(scenario, rank, pressure)

    def _applications(self, window: Steady, start: str) -> tuple[Application, ...]:
        chosen = self.running(window)
        lived = np.maximum(0.0, window.begin - self.starts[chosen]) * (start == MIDLIFE)
        kinds, passed = self.kinds[chosen].tolist(), lived.tolist()
        # Hundreds of small applications start together, and have the same left to do.
        left = {each: self.lives[each[0]].after(each[1]) for each in set(zip(kinds, passed, strict=True))}
        return tuple(
            Application(
                name=f"{self.lives[kind].name}-{ordinal}",
                nodes=self.machine.grown(self.lives[kind].cores),
                phases=left[kind, since],
            )
            for kind, since, ordinal in zip(kinds, passed, self._ordinal[chosen].tolist(), strict=True)
        )

    @cached_property
    def _ordinal(self) -> Ints:
        """Which of its kind each application is, from 1."""
        ordinal = np.empty(self.kinds.size, dtype=np.int64)
        for kind in range(len(self.lives)):
            of_kind = np.flatnonzero(self.kinds == kind)
            ordinal[of_kind] = np.arange(1, of_kind.size + 1)
        return ordinal

    def _pressed(self, scenario: Scenario, rank: int, pressure: float) -> Scenario:
        cores = sum(each.nodes for each in scenario.applications)
        bandwidth, most = bandwidth_for(_with(scenario, cores * self.machine.core_bandwidth), pressure)
        if bandwidth is None:
            raise InvalidOption(
                f"{self.label}: pressure is {pressure:g}; accepted is less than {most:.3g}, which is all that the"
                f" {len(scenario.applications)} applications of window {rank} can exert."
            )
        return _with(scenario, bandwidth)


def _with(scenario: Scenario, bandwidth: float) -> Scenario:
    """The same in front of another storage."""
    platform = scenario.platform.model_copy(update={"bandwidth": bandwidth})
    return scenario.model_copy(update={"platform": platform})


def apex_schedule(
    workload: str,
    seed: int = 0,
    machine: float = 0.0,
    table: str | None = None,
    days: float = THREE_MONTHS,
    demand: float | None = None,
    cores: int = CIELO_CORES,
    bandwidth: float = CIELO_BANDWIDTH,
    core_bandwidth: float = CORE_BANDWIDTH,
) -> JobSchedule:
    """A schedule of NERSC's or TRILAB's workflows; one that was asked for lately is not drawn again.

    >>> drawn = apex_schedule("TRILAB", seed=1)
    >>> scenarios = [drawn.scenario(rank) for rank in range(1, 21)]
    """
    known = read_table(workload, table)
    if demand is None:
        demand = 0.0 if table else CIELO_DEMAND
    if demand:
        rate = mean_rate(known, cores)
        if not rate:
            raise InvalidOption(
                f"apex-{workload.lower()}: demand is {demand:g}, but no workflow of {table} moves a byte."
            )
        known = scaled(known, demand * bandwidth / rate)
    return _drawn(known, seed, machine, days, cores, bandwidth, core_bandwidth)


def mean_rate(table: Table, cores: int) -> float:
    """Bytes per second that a full machine moves, were I/O to take no time."""
    return cores * math.fsum(
        each.share * (each.input + each.output + each.checkpoint * (math.ceil(each.wall / each.period) - 1))
        / each.node_seconds
        for each in table.workflows
    )  # fmt: skip


def scaled(table: Table, factor: float) -> Table:
    """The same with all volumes times a factor."""
    return table._replace(
        workflows=tuple(
            each._replace(input=each.input * factor, output=each.output * factor, checkpoint=each.checkpoint * factor)
            for each in table.workflows
        )
    )


@lru_cache(maxsize=8)
def _drawn(
    table: Table, seed: int, t: float, days: float, cores: int, bandwidth: float, core_bandwidth: float
) -> JobSchedule:
    # Numba takes a second to import, and a list of the generators needs none of it.
    from penstock.workloads.first_fit import first_fit  # noqa: PLC0415

    label = f"apex-{table.workload.lower()}"
    cielo = ApexMachine(cores, 1.0, bandwidth, core_bandwidth)
    growth = 2.0**t
    later = ApexMachine(cores, growth, bandwidth * growth / t, core_bandwidth) if t else cielo
    lives = tuple(_life(each, cielo, later, label) for each in table.workflows)
    width = np.array([life.cores for life in lives])
    length = np.array([life.seconds for life in lives])
    share = np.array([life.share for life in lives])
    longest = float(length.max())
    end = longest + days * DAY
    counts = np.rint(share * cores * (end + longest) / (width * length))
    if counts.sum() > MOST_JOBS:
        raise InvalidOption(
            f"{label}: {days:g} days on {cores:,} cores take {counts.sum():,.0f} applications; accepted are at most"
            f" {MOST_JOBS:,}, so fewer days or cores, or a table with larger applications."
        )
    kinds = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(lives)), counts.astype(np.int64)))
    starts = first_fit(kinds, width, length, cores)
    return JobSchedule(label, table, later, lives, kinds, starts, longest, end)


def _life(workflow: Workflow, cielo: ApexMachine, later: ApexMachine, label: str) -> Life:
    if workflow.cores > cielo.cores:
        raise InvalidOption(
            f"{label}: cores is {cielo.cores}; accepted is at least {workflow.cores:,}, which {workflow.name} needs."
        )
    speed = cielo.speed(workflow)
    left = workflow.wall - (workflow.input + workflow.output) / speed
    if left <= SHORT:
        raise InvalidOption(
            f"{label}: {workflow.name} takes {(workflow.wall - left) / 3600:.3g} h for input and output alone; accepted"
            f" is less than its wall time, {workflow.wall / 3600:.3g} h."
        )
    cycle = workflow.period + workflow.checkpoint / speed
    checkpoints = math.ceil(left / cycle - 1e-9) - 1 if workflow.checkpoint else 0
    slower = later.growth / later.speed(workflow)  # seconds there for a byte of the table
    return Life(
        name=workflow.name,
        share=workflow.share,
        cores=workflow.cores,
        speed=later.speed(workflow),
        input=workflow.input * slower,
        checkpoints=checkpoints,
        period=workflow.period,
        checkpoint=workflow.checkpoint * slower,
        tail=left - checkpoints * cycle,
        output=workflow.output * slower,
    )
