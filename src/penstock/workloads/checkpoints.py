"""The workload of P5 §7.1: applications of four kinds (APEX) that write checkpoints, at a chosen load.

    kind        one of MODELS for each application, as likely as it is frequent
    start       first come, first served on the cores: when the cores are free and everybody before has started
    end         start + wall time
    period      P = √(2·C·μ/cores), C = size/min(b, B), μ the MTBF of a node, b = cores·core_bandwidth
    I/O need    the maximum over time of Σ size/P of those that run, divided by B
    sizes       all times the same factor, and P computed again, so that the need is the load asked for
    phases      compute P·(1 + U[-v, v]), then write the size, again and again

size/P = √(size·min(b, B)·cores/(2μ)), and the smaller of b and B does not depend on the size. So the need grows as the
root of the factor, and the factor is (load/need)². With it, sizes grow as μ·load² and periods as μ·load: the number of
checkpoints is all but inverse to both.

Two things of P5 can be read in two ways, and are settings; the defaults are its words.

end         P5's iterations (eq. 1) all end with a write. `write`: as many whole iterations as the wall time holds, and
            at least one, after which the application ends. `compute`: what is left of the wall time is compute, and an
            application with a period longer than its wall time only computes, though it counts in the need.
walltime    `printed`: the row of P5's table 1, which is its row of cores, in thousands, once more. `literature`: hours
            that others print for the same four applications, four to sixteen times as long.

Where P5 is silent: wall time counts compute and checkpoints at the full speed b, which is what a burst buffer is to
make possible, so that nobody ends later than first come, first served has planned if nobody is held up. A checkpoint
that would end after the wall time is not begun, but for a first one under `write`. Draws come in the order of the
queue, which is that of the scenario. A year has 365 days. The kinds, and so the starts, of a seed are the same at every
MTBF, load and variability.
"""

from __future__ import annotations

import heapq
from typing import Annotated, NamedTuple

import numpy as np

from penstock.errors import InvalidOption
from penstock.kernels.arrays import Floats
from penstock.model import COMPUTE, WRITE, Application, Platform, Scenario, Trace
from penstock.model.scenario import MOST_PHASES
from penstock.workloads.registry import Accepted, generator

Bandwidth = Annotated[float, Accepted("a number of bytes/s from 1 to 1e18", lambda value: 1 <= value <= 1e18)]

HOUR = 3600.0
YEAR = 365 * 24 * HOUR
GB = 1e9


class Model(NamedTuple):
    """A kind of application: a column of P5's table 1."""

    name: str
    frequency: float  # percent of all applications
    cores: int
    checkpoint: float  # GB, before scaling


MODELS = (
    Model("EAP", 65, 16_000, 3_200),
    Model("LAP", 21, 4_000, 2_000),
    Model("Silverton", 8, 32_000, 44_800),
    Model("VPIC", 6, 30_000, 3_750),
)
# Hours, for each model.
WALLTIMES = {"literature": (262.4, 64, 128, 157.2), "printed": (16, 4, 32, 30)}
ENDS = (WITH_WRITE, WITH_COMPUTE) = ("write", "compute")
WIDEST = max(MODELS, key=lambda model: model.cores)


@generator("checkpoints", source="P5 §7.1")
def checkpoints(
    seed: int = 0,
    *,
    applications: Annotated[int, Accepted("a whole number from 1 to 100,000", lambda value: 1 <= value <= 1e5)] = 30,
    mtbf: Annotated[float, Accepted("a number of years from 0.001 to 1e6", lambda value: 1e-3 <= value <= 1e6)] = 10.0,
    load: Annotated[float, Accepted("a number from 0.001 to 1", lambda value: 1e-3 <= value <= 1)] = 0.5,
    variability: Annotated[float, Accepted("a number from 0 to 0.9", lambda value: 0 <= value <= 0.9)] = 0.15,
    cores: Annotated[
        int,
        Accepted(
            f"a whole number from {WIDEST.cores:,}, which {WIDEST.name} needs, to 1e9",
            lambda value: WIDEST.cores <= value <= 1e9,
        ),
    ] = 96_000,
    bandwidth: Bandwidth = 160 * GB,
    core_bandwidth: Bandwidth = 0.02 * GB,
    walltime: Annotated[str, Accepted("one of literature, printed", lambda value: value in WALLTIMES)] = "printed",
    end: Annotated[str, Accepted("one of write, compute", lambda value: value in ENDS)] = WITH_WRITE,
) -> Scenario:
    """Four kinds of applications, first come, first served on the cores; checkpoints need `load` of the bandwidth."""
    draw = np.random.default_rng(seed)
    kinds = draw.choice(len(MODELS), applications, p=[model.frequency / 100 for model in MODELS])
    width = np.array([model.cores for model in MODELS])[kinds]
    walls = HOUR * np.array(WALLTIMES[walltime])[kinds]
    starts = first_come(width.tolist(), walls.tolist(), cores)
    speed = width * core_bandwidth
    unit = period(1.0, np.minimum(speed, bandwidth), mtbf * YEAR / width)  # times √size: the period of any size
    size = GB * np.array([model.checkpoint for model in MODELS])[kinds]
    size *= (load * bandwidth / io_need(starts, walls, np.sqrt(size) / unit)) ** 2
    compute, write = unit * np.sqrt(size), size / speed
    counts = _counts(walls / (compute * (1 - variability) + write), mtbf, load)
    return Scenario(
        version=1,
        platform=Platform(bandwidth=bandwidth, nodes=cores, node_bandwidth=core_bandwidth),
        applications=tuple(
            Application(
                name=f"{MODELS[kinds[i]].name}-{i + 1}",
                nodes=int(width[i]),
                release=starts[i],
                phases=_trace(compute[i] * spread, write[i], size[i], walls[i], end),
            )
            for i, spread in enumerate(draw.uniform(1 - variability, 1 + variability, count) for count in counts)
        ),
    )


def first_come(widths: list[int], walls: list[float], cores: int) -> list[float]:
    """When each of a queue starts: as soon as its cores are free and everybody before it has started."""
    now, free = 0.0, cores
    running: list[tuple[float, int]] = []  # (end, cores), the earliest end on top
    starts = []
    for wanted, wall in zip(widths, walls, strict=True):
        while free < wanted:
            now, freed = heapq.heappop(running)
            free += freed
        free -= wanted
        heapq.heappush(running, (now + wall, wanted))
        starts.append(now)
    return starts


def period(size: float, speed: Floats, failing: Floats) -> Floats:
    """√(2·C·μ/cores): seconds to compute before a checkpoint of C = size/speed, with a failure every μ/cores."""
    seconds: Floats = np.sqrt(2 * (size / speed) * failing)
    return seconds


def io_need(starts: list[float], walls: Floats, rate: Floats) -> float:
    """The most that those who run at a time need together, in bytes/s."""
    ends = np.add(starts, walls)
    order = np.argsort(np.concatenate([ends, starts]), kind="stable")  # who ends as another starts does not count
    return float(np.cumsum(np.concatenate([-rate, rate])[order]).max())


def _counts(most: Floats, mtbf: float, load: float) -> list[int]:
    """How many periods to draw for each, so that nobody has too few even if all of them are short."""
    counts = np.ceil(most)
    phases = 2 * counts.sum() + len(counts)
    if phases > MOST_PHASES:
        raise InvalidOption(
            f"checkpoints: applications is {len(counts)}, mtbf is {mtbf:g} and load is {load:g}, or up to {phases:,.0f}"
            f" phases; accepted is at most {MOST_PHASES:,}."
        )
    return [int(each) for each in counts]


def _trace(compute: Floats, write: float, size: float, wall: float, end: str) -> Trace:
    """Compute and write until no whole checkpoint fits into the wall time; to its end with `compute`."""
    ends = np.cumsum(compute + write)
    count = int(np.searchsorted(ends, wall, side="right"))
    if end == WITH_WRITE:
        count = max(1, count)
    kind = np.full(2 * count + 1, COMPUTE, dtype=np.int8)
    kind[1::2] = WRITE
    amount = np.full(2 * count + 1, size)
    amount[:-1:2] = compute[:count]
    amount[-1] = wall - (ends[count - 1] if count else 0.0)
    if end == WITH_WRITE:
        kind, amount = kind[:-1], amount[:-1]
    kind.flags.writeable = amount.flags.writeable = False  # a Trace copies what others could change
    return Trace(kind=kind, amount=amount)
