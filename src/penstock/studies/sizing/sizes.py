"""The smallest buffer for a scenario: whichever method is exact and quickest for what it has to carry."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from importlib.util import find_spec

import numpy as np

from penstock.errors import InvalidOption
from penstock.kernels.arrays import Floats
from penstock.model.load import ScenarioLike, as_scenario
from penstock.studies.buffer_words import check_partition
from penstock.studies.sizing import explain, schedule
from penstock.studies.sizing.both_ways import LinearProgram
from penstock.studies.sizing.fairest import most_even
from penstock.studies.sizing.lead import Infeasible, infeasible, lead_of
from penstock.studies.sizing.one_way import NEVER, drained, way_of
from penstock.studies.sizing.port import too_narrow, too_narrow_to_fetch
from penstock.studies.sizing.replay import SOLVERS_WITHIN, keeps_port
from penstock.studies.sizing.result import Proof, Sizing
from penstock.studies.sizing.schedule import BufferSchedule
from penstock.studies.sizing.solvers import Unsolved
from penstock.studies.sizing.static import MANY, smallest
from penstock.studies.sizing.sweep import Swept, swept
from penstock.studies.sizing.traffic import Traffic

SWEEP, CUTS, PROGRAM = "sweep", "cutting planes", "linear program"
_DUST = 1e-12  # of the size, or of the largest operation: there by rounding only
Progress = Callable[[str], None]  # in words


def size_buffer(
    scenario: ScenarioLike, partition: str = "static", *, lead: float | None = None, progress: Progress | None = None
) -> Sizing:
    """The smallest buffer with which every application ends as if nobody were in its way.

    `partition` says who may use what: each has a share of its own while it runs (static), everybody may use all that is
    free (dynamic), or each is looked at alone (isolated). `lead` says how long before its release the input of an
    application may be fetched; by default, at any time if all are released at 0, else not before.

    >>> from penstock import Scenario
    >>> job = {"name": "a", "bandwidth": 4, "phases": [{"compute": 1}, {"write": 12}]}
    >>> document = {"version": 1, "platform": {"bandwidth": 1}, "applications": [job]}
    >>> size_buffer(Scenario.from_document(document), "dynamic").size
    9.0
    """
    scenario = as_scenario(scenario)
    return sized(Traffic(scenario, lead_of(scenario, lead)), partition, progress=progress)


def sized(traffic: Traffic, partition: str, *, even: bool = True, progress: Progress | None = None) -> Sizing:
    """The same for a demand; `even` False: whichever shares come first."""
    check_partition(partition)
    begun = time.perf_counter()
    late = _late(traffic, partition)
    if late is not None:
        found = _impossible(traffic, partition, late)
    elif partition == "isolated":
        found = _isolated(traffic, progress)
    else:
        found = _shared(traffic, partition, even, progress)
    return replace(found, seconds=time.perf_counter() - begun)


def _shared(traffic: Traffic, partition: str, even: bool = False, progress: Progress | None = None) -> Sizing:
    """The smallest buffer for all; its port plays no part unless the schedule found without it goes beyond."""
    found = _dynamic(traffic) if partition == "dynamic" else _static(traffic, even, progress)
    if math.isinf(traffic.limits.port) or keeps_port(found.schedule, traffic):
        return found
    together = partition == "dynamic"
    if not traffic.joint_binds and (other := _another(traffic, found, together, even)) is not None:
        return other
    late = too_narrow_to_fetch(traffic) if math.isfinite(traffic.lead) else None
    if late is not None:
        return _impossible(traffic, partition, late)
    return _by_program(LinearProgram(traffic, together, through_port=True), even)


def _another(traffic: Traffic, found: Sizing, together: bool, even: bool) -> Sizing | None:
    """Another schedule for the same size, that keeps the port and holds nothing where nothing must be; None: not found.

    Most ports only ask for that, and looking for it takes a fraction of the time of the whole program.
    """
    try:
        other = _by_program(LinearProgram(traffic, together, through_port=True, everywhere=False), even)
    except Unsolved:
        return None
    # What proves the size without a port does so with one.
    return replace(other, proof=found.proof) if other.size <= found.size * (1.0 + SOLVERS_WITHIN) else None


def _late(traffic: Traffic, partition: str) -> Infeasible | None:
    """Who cannot have or move its bytes in time, together or alone; of several alone, the one that is held up most."""
    if partition != "isolated":
        return infeasible(traffic) or too_narrow(traffic)
    return _worst(_late(traffic.alone(index), "dynamic") for index in range(len(traffic.names)))


def _worst(alone: Iterable[Infeasible | None]) -> Infeasible | None:
    """Who is held up most, with a port that is enough for all."""
    found = [late for late in alone if late is not None]
    if not found:
        return None
    worst, ports = max(found, key=lambda late: late.stretch), [late.port for late in found if late.port is not None]
    return worst if worst.port is None else worst._replace(port=max(ports))


def _impossible(traffic: Traffic, partition: str, late: Infeasible) -> Sizing:
    found = _sizing(traffic, partition, math.nan, None, "earliest deadline", Proof(math.nan, ()), _no_schedule)
    return replace(found, infeasible=late)


def _no_schedule() -> BufferSchedule:
    raise InvalidOption("no buffer is large enough, so there is no schedule; `infeasible` says why")


def _isolated(traffic: Traffic, progress: Progress | None) -> Sizing:
    alone = []
    for index, name in enumerate(traffic.names):
        if progress:
            progress(name)
        alone.append(_shared(traffic.alone(index), "dynamic"))
    late = _worst(found.infeasible for found in alone)
    if late is not None:
        return _impossible(traffic, "isolated", late)
    largest = max(alone, key=lambda found: found.size)
    methods = sorted({found.method for found in alone}, reverse=True)
    shares = dict(zip(traffic.names, (found.size for found in alone), strict=True))
    return replace(
        largest, partition="isolated", shares=shares, method=" and ".join(methods), events=traffic.events.size
    )


def _dynamic(traffic: Traffic) -> Sizing:
    if traffic.joint_binds:
        return _by_program(LinearProgram(traffic, True), False)
    least = _least(traffic)
    return _sizing(
        traffic,
        "dynamic",
        float((least.backlog + least.prefetched).max()),
        None,
        SWEEP,
        explain.of_sweep(traffic, least),
        lambda: schedule.schedule_of(
            traffic,
            schedule.in_order(traffic, False, least.backlog),
            schedule.in_order(traffic, True, least.prefetched)
            if math.isinf(traffic.lead)
            else schedule.latest_first(traffic),
        ),
    )


def _static(traffic: Traffic, even: bool, progress: Progress | None) -> Sizing:
    if traffic.joint_binds:
        return _by_program(LinearProgram(traffic, False), even)
    least = _least(traffic)
    late, early = bool((least.backlog > 0.0).any()), bool((least.prefetched > 0.0).any())
    if late and early:
        return _by_program(LinearProgram(traffic, False), even)
    if not (late or early):
        found = replace(_dynamic(traffic), partition="static")
        return replace(found, shares=dict.fromkeys(traffic.names, 0.0))
    return _by_cuts(traffic, early, progress)


def _by_cuts(traffic: Traffic, reading: bool, progress: Progress | None) -> Sizing:
    """One direction needs the buffer; the file system keeps up with the other one at every instant."""
    way = way_of(traffic, reading)
    _need_solvers("scipy", *(["clarabel"] if way.total.size > MANY else []))
    # Where a lead leaves a way at all, it does not change the size: what has to be held does not depend on the order.
    free = way._replace(gone_by=np.full_like(way.gone_by, NEVER))
    tell = None if progress is None else lambda cuts, short: progress(f"{cuts:,} cuts, at most {short:.2%} short")
    found = smallest(free, tell)
    found = found._replace(shares=np.where(found.shares > _DUST * found.size, found.shares, 0.0))
    if math.isfinite(traffic.lead) and drained(way, found.shares, found.size).missed.size:
        return _by_program(LinearProgram(traffic, False), True)
    return _sizing(
        traffic,
        "static",
        float(found.size),
        found.shares,
        CUTS,
        explain.of_partition(traffic, reading, found),
        lambda: schedule.of_partition(traffic, reading, way, found),
    )


def _by_program(program: LinearProgram, even: bool) -> Sizing:
    traffic, together = program.traffic, program.together
    _need_solvers("scipy", *(["clarabel"] if (even and not together) or program.is_large else []))
    held = program.solve()
    proof = explain.of_program(program, held)
    if held.size <= _smallest_that_counts(traffic):
        held = held._replace(size=0.0, shares=np.zeros_like(held.shares))
    elif even and not together:
        held = most_even(program, held)
    return _sizing(
        traffic,
        "dynamic" if together else "static",
        held.size,
        None if together else held.shares,
        PROGRAM,
        proof,
        lambda: schedule.of_program(program, held),
    )


def _least(traffic: Traffic) -> Swept:
    limits, least = traffic.limits, _smallest_that_counts(traffic)
    found = swept(traffic.demand(False), traffic.demand(True), traffic.seconds, limits.write, limits.read)
    return Swept(*(np.where(held > least, held, 0.0) for held in found))


def _smallest_that_counts(traffic: Traffic) -> float:
    """What is held beyond this is more than rounding."""
    return _DUST * float(traffic.volume.max(initial=0.0))


def _sizing(
    traffic: Traffic,
    partition: str,
    size: float,
    shares: Floats | None,
    method: str,
    proof: Proof,
    draw_up: Callable[[], BufferSchedule],
) -> Sizing:
    named = None if shares is None else dict(zip(traffic.names, map(float, shares), strict=True))
    return Sizing(partition, size, named, method, math.nan, traffic.events.size, proof, traffic, draw_up)


def _need_solvers(*names: str) -> None:
    missing = [name for name in names if find_spec(name) is None]
    if missing:
        raise InvalidOption(f"this buffer needs {' and '.join(missing)} to be sized; install penstock[buffers]")
