"""From a scenario to the engine's Program: loops unrolled, noise drawn, empty phases dropped, computes merged."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from penstock.engine.program import Program
from penstock.errors import InvalidScenario
from penstock.kernels.arrays import Floats
from penstock.model import FOREVER, Application, Compute, Phase, Read, Repeat, Scenario, Trace, Write
from penstock.model.scenario import MOST_PHASES
from penstock.model.trace import COMPUTE, READ, WRITE


class _Flat(NamedTuple):
    """Phases one after the other; `whole` is False if the listing goes on beyond them."""

    kind: NDArray[np.int8]
    amount: Floats
    whole: bool

    def cut(self, count: int) -> _Flat:
        """The first `count` of them."""
        return _Flat(self.kind[:count], self.amount[:count], False) if count < self.amount.size else self

    def seconds(self, rate: Floats) -> Floats:
        """How long each takes alone, `rate` being progress per unit for each kind."""
        with np.errstate(over="ignore"):
            seconds: Floats = self.amount / rate[self.kind]
        return seconds


def compile_scenario(scenario: Scenario) -> Program:
    """Everything the engine needs, in arrays."""
    capacity = scenario.shared_bandwidth
    if capacity is None:
        nodes, targets = scenario.platform.io_nodes, scenario.platform.targets
        whole = "or run the whole machine under a plan, which `penstock plan` finds"
        raise InvalidScenario(
            f"the platform has {nodes.count} I/O nodes; say which one each application uses, as in io_node: 0, {whole}"
            if nodes
            else "platform.bandwidth is missing; sharing divides it, as in bandwidth: 160 GB/s"
            + (f"; {whole}" if targets else "")
        )
    caps = [limits(application, scenario) for application in scenario.applications]
    program, _ = compile_with(scenario, caps, capacity)
    return program._replace(efficiency=np.array(scenario.shared_interference or (), dtype=np.float64))


def compile_with(
    scenario: Scenario, caps: Sequence[tuple[float, float]], capacity: float, ahead: Sequence[bool] | None = None
) -> tuple[Program, NDArray[np.int8]]:
    """Everything in arrays, with these caps (read, write) of the applications; and which kind each operation is.

    A window ends the listing of operations; for those that fetch `ahead` there is the next read besides.
    """
    window = scenario.window
    begin, end = (window.begin, window.end) if window else (0.0, math.inf)
    release = np.array([application.release for application in scenario.applications], dtype=np.float64)
    start = np.maximum(begin, release)
    chains = (
        _chain(
            each, index, scenario, end - start[index], np.array([1.0, *caps[index]]), ahead is not None and ahead[index]
        )
        for index, each in enumerate(scenario.applications)
    )
    work, volume, limit, tail, endless, kind = (list(column) for column in zip(*chains, strict=True))
    program = Program(
        names=tuple(application.name for application in scenario.applications),
        capacity=float(capacity),
        efficiency=np.empty(0),
        begin=begin,
        end=end,
        nodes=np.array([application.nodes for application in scenario.applications], dtype=np.float64),
        release=release,
        progress=np.array([_progress(application, begin) for application in scenario.applications]),
        start=start,
        walltime=np.array([_walltime(application) for application in scenario.applications]),
        first=np.cumsum([0] + [part.size for part in volume]),
        work=_emptied(work),
        volume=_emptied(volume),
        limit=_emptied(limit),
        tail=np.array(tail),
        endless=np.array(endless),
    )
    return program, np.concatenate(kind)


def limits(application: Application, scenario: Scenario) -> tuple[float, float]:
    """The caps (read, write) in bytes/s: its own, else what its nodes can drive; never above the whole bandwidth.

    All nodes wait for the one that has most to move, so an application whose slowest node moves s times the mean has
    the cap over s (P1 §3.1.2).
    """
    most = scenario.shared_bandwidth or math.inf
    each, own = scenario.platform.node_bandwidth, application.bandwidth
    if own is None:
        own = most if each is None else application.nodes * each
    read, write = (min(most, each or own) for each in (application.read_bandwidth, application.write_bandwidth))
    return read / application.node_skew, write / application.node_skew


def _emptied(parts: list[Any]) -> Floats:
    """The parts as one array; the list is emptied, for there may be gigabytes in it."""
    joined: Floats = np.concatenate(parts)
    parts.clear()
    return joined


class CompiledApplication(NamedTuple):
    """One application in the engine's form: pairs of compute and operation, and the compute after the last."""

    work: Floats
    volume: Floats
    limit: Floats
    tail: float
    endless: bool
    kind: NDArray[np.int8]  # of the operations: READ or WRITE


def _walltime(application: Application) -> float:
    return math.inf if application.walltime is None else application.walltime


def _progress(application: Application, begin: float) -> float:
    if application.progress is not None:
        return application.progress
    return max(0.0, begin - application.release)


def _chain(
    application: Application, index: int, scenario: Scenario, horizon: float, rate: Floats, ahead: bool
) -> CompiledApplication:
    """One application's operations, as far as it could get in `horizon` seconds alone; `ahead`: and the next read."""
    reach = horizon
    # Noise may shorten what was unrolled to less than the horizon: then unroll twice as much.
    while True:
        flat = _disturbed(_unroll(application, rate, reach), scenario.noise, scenario.seed, index)
        with np.errstate(over="ignore"):
            elapsed = np.cumsum(flat.seconds(rate))
        if not np.isfinite(elapsed[-1]):
            raise InvalidScenario(
                f"application {application.name!r} takes longer than numbers reach; mind its volumes and bandwidths"
            )
        needed = int(np.searchsorted(elapsed, horizon * (1.0 + 1e-6), side="right")) + 1
        if ahead:
            needed = _with_next_read(application, flat, needed)
        if flat.whole or needed <= flat.amount.size:
            return _operations(flat.cut(needed), rate)
        reach = 2.0 * reach


def _with_next_read(application: Application, flat: _Flat, needed: int) -> int:
    """How many phases there are up to the next read after so many, beyond what is unrolled if it may come there."""
    reads = np.flatnonzero((flat.kind[needed:] == READ) & (flat.amount[needed:] > 0.0))
    if reads.size:
        return needed + int(reads[0]) + 1
    if isinstance(application.phases, Trace) or flat.amount.size >= needed + _once(application.phases):
        return needed
    return flat.amount.size + 1


def _once(phases: Sequence[Phase]) -> int:
    """How many phases a listing has if each endless loop runs once."""
    return sum(
        (1 if each.repeat == FOREVER else each.repeat) * _once(each.phases) if isinstance(each, Repeat) else 1
        for each in phases
    )


def nominal_chain(application: Application, scenario: Scenario, reach: float, operations: int) -> CompiledApplication:
    """One application's operations without noise: at least so many, if it has them."""
    rate = np.array([1.0, *limits(application, scenario)])
    flat = _unroll(application, rate, reach)
    while not flat.whole and np.count_nonzero((flat.kind != COMPUTE) & (flat.amount > 0.0)) < operations:
        reach = 2.0 * reach
        flat = _unroll(application, rate, reach)
    return _operations(flat, rate)


def listed(application: Application, index: int, scenario: Scenario) -> tuple[NDArray[np.int8], Floats]:
    """All phases of an application that ends, loops unrolled and noise applied: what kind each is, and how much."""
    flat = _disturbed(_unroll(application, np.ones(3), math.inf), scenario.noise, scenario.seed, index)
    return flat.kind, flat.amount


def _unroll(application: Application, rate: Floats, reach: float) -> _Flat:
    if isinstance(application.phases, Trace):
        return _Flat(application.phases.kind, application.phases.amount, True)
    flat = _flatten(application.phases, rate, reach * (1.0 + 1e-6) + 1e-300)
    if flat.kind.size > MOST_PHASES:
        raise InvalidScenario(_too_long(application.name, flat.kind.size))
    return flat


def _too_long(name: str, phases: float) -> str:
    return f"application {name!r} unrolls to {phases:.3g} phases; at most {MOST_PHASES:,} are simulated"


def _flatten(phases: Sequence[Phase], rate: Floats, reach: float) -> _Flat:
    """Unroll until more than `reach` seconds of dedicated time are there, or the listing ends."""
    parts: list[_Flat] = []
    for place, phase in enumerate(phases, start=1):
        part = _flatten_repeat(phase, rate, reach) if isinstance(phase, Repeat) else _leaf(phase)
        parts.append(part)
        if math.isfinite(reach):  # to look at no clock is twice as fast
            reach -= part.seconds(rate).sum()
        if reach < 0.0 or not part.whole:
            return _joined(parts, whole=part.whole and place == len(phases))
    return _joined(parts, whole=True)


def _leaf(phase: Compute | Read | Write) -> _Flat:
    if isinstance(phase, Compute):
        kind, amount = COMPUTE, phase.compute
    elif isinstance(phase, Read):
        kind, amount = READ, phase.read
    else:
        kind, amount = WRITE, phase.write
    return _Flat(np.array([kind], np.int8), np.array([amount]), True)


def _flatten_repeat(phase: Repeat, rate: Floats, reach: float) -> _Flat:
    body = _flatten(phase.phases, rate, reach)
    if not body.whole:
        return body
    seconds = body.seconds(rate).sum()
    wanted = math.inf if phase.repeat == FOREVER else phase.repeat
    needed = reach / seconds + 1.0 if seconds > 0.0 else math.inf
    times = min(wanted, math.ceil(needed) if math.isfinite(needed) else math.inf)
    if times * body.kind.size > MOST_PHASES:
        raise InvalidScenario(
            f"a repeat unrolls to {times * body.kind.size:.3g} phases; at most {MOST_PHASES:,} are simulated"
        )
    return _Flat(np.tile(body.kind, int(times)), np.tile(body.amount, int(times)), times == wanted)


def _joined(parts: list[_Flat], whole: bool) -> _Flat:
    if len(parts) == 1:
        return parts[0]._replace(whole=whole)
    kind = np.concatenate([part.kind for part in parts])
    return _Flat(kind, np.concatenate([part.amount for part in parts]), whole)


def _disturbed(flat: _Flat, noise: float, seed: int, index: int) -> _Flat:
    """Every phase times 1 + U[-ν, ν], one draw per listed phase: the same whatever the policy."""
    if noise == 0.0:
        return flat
    factor = 1.0 + np.random.default_rng([seed, index]).uniform(-noise, noise, flat.amount.size)
    return flat._replace(amount=flat.amount * factor)


def _operations(flat: _Flat, rate: Floats) -> CompiledApplication:
    """Pairs of (compute before, I/O): the engine's form."""
    filled = flat.amount > 0.0
    kind, amount = flat.kind[filled], flat.amount[filled]
    places = np.flatnonzero(kind != COMPUTE)
    compute = np.where(kind == COMPUTE, amount, 0.0)
    # Sum the computes between two operations; a cumulated sum would lose digits over a long trace.
    edges = np.concatenate([[0], places + 1])
    sums = np.add.reduceat(np.concatenate([compute, [0.0]]), edges)
    return CompiledApplication(
        sums[:-1], amount[places], rate[kind[places]], float(sums[-1]), not flat.whole, kind[places]
    )
