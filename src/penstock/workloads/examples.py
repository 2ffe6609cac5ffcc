"""P1's Examples 1 to 6 (§5) as workloads for any number m of applications: the scenarios behind its Table 2.

Everywhere B = 1 and an application can use all of it. An application is named after its index in P1 (a1 … am); where
P1 lets an adversary choose among applications that no strategy can tell apart, the order in the scenario is that
choice, because ties go to the application listed first. `penstock.workloads.ratios` has the values P1 proves.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated

from penstock.errors import InvalidOption
from penstock.kernels.arrays import SAME
from penstock.model import FOREVER, Application, Compute, Phase, Platform, Repeat, Scenario, Window, Write
from penstock.workloads.registry import Accepted, generator

if TYPE_CHECKING:
    from penstock.studies.study import Policy

MOST_APPLICATIONS = 10_000


def _whole(low: int, high: int = MOST_APPLICATIONS) -> Accepted:
    return Accepted(f"a whole number from {low} to {high}", lambda value: low <= value <= high)


def _one_of(*names: str) -> Accepted:
    return Accepted(f"one of {', '.join(names)}", lambda value: value in names)


SMALL = Accepted("a number from 1e-6 to 1", lambda value: 1e-6 <= value <= 1)
EVEN = Accepted(
    f"an even whole number from 4 to {MOST_APPLICATIONS}",
    lambda value: 4 <= value <= MOST_APPLICATIONS and value % 2 == 0,
)


@generator("example-1", source="P1 §5.1")
def example_1(
    m: Annotated[int, _whole(2)] = 10,
    T: Annotated[float, Accepted("a number from 1 to 1e8", lambda value: 1 <= value <= 1e8)] = 1e6,
    fresh: Annotated[bool, Accepted("true or false", lambda value: True)] = False,
) -> Scenario:
    """One newcomer among m old applications from T to T + 1, or (fresh) K² + 1 = m released at 0: fair-share fails."""
    if fresh:
        return _fresh(m)
    old = [_application(i, [Write(write=1)]) for i in range(1, m)]
    return _scenario(T, T + 1, [*old, _application(m, [Write(write=1)], release=T)])


def _fresh(m: int) -> Scenario:
    size = math.isqrt(m - 1)
    if size < 3 or size * size != m - 1:
        raise InvalidOption(f"example-1: m is {m}; accepted with fresh is K² + 1 for a whole K ≥ 3, such as 10 or 17.")
    applications = []
    for i in range(m - 1):
        start = i // size
        head = [Compute(compute=start)] if start else []
        applications.append(_application(i + 1, [*head, Write(write=1 / (size + 1)), Compute(compute=size)]))
    last = _application(m, [Write(write=1), Compute(compute=size)])
    return _scenario(0, size, [*applications, last])


@generator("example-2", source="P1 §5.2")
def example_2(
    m: Annotated[int, EVEN] = 10,
    epsilon: Annotated[float, SMALL] = 0.01,
    sharing: Annotated[str, Accepted("the name of a sharing policy", bool)] = "fcfs",
) -> Scenario:
    """Half of m alike applications should go first; the named strategy meets its adversary and serves the others."""
    return adversary(m, epsilon, sharing)


def adversary(m: int, epsilon: float, sharing: Policy) -> Scenario:
    """Label Example 2 against one strategy, which may be a user's own function.

    No strategy can tell category A (useful work after the first I/O) from category B before that I/O is done. So it is
    run with B everywhere, and the m/2 applications it served best keep that label.
    """
    from penstock.studies.share import simulate  # noqa: PLC0415 - the only generator that needs the engine

    run = simulate(two_categories(m, epsilon, range(m)), sharing=sharing)
    return two_categories(m, epsilon, served_first([each.transferred for each in run.applications], 2 / m))


def two_categories(m: int, epsilon: float, in_b: Iterable[int]) -> Scenario:
    """Give Example 2 with the applications at the places `in_b` (from 0) in category B and the others in A."""
    first = Write(write=2 / m)
    useful = (first, Compute(compute=1))
    useless = (first, Compute(compute=epsilon / (m / 2 - 1)), Write(write=1))
    b = set(in_b)
    return _scenario(0, 1, [_application(i + 1, useless if i in b else useful) for i in range(m)])


def served_first(transferred: Sequence[float], volume: float) -> list[int]:
    """Places of the half that moved most of its first operation; ties by order in the scenario."""
    done = [round(min(each / volume, 1.0) / SAME) for each in transferred]
    return sorted(sorted(range(len(done)), key=lambda i: -done[i])[: len(done) // 2])


@generator("example-3", source="P1 §5.3")
def example_3(m: Annotated[int, _whole(2)] = 10, epsilon: Annotated[float, SMALL] = 0.01) -> Scenario:
    """One starved application with a long I/O keeps m - 1 short ones waiting: what serves it first loses efficiency."""
    short = [_application(i, [Write(write=epsilon / m), Compute(compute=1)]) for i in range(1, m)]
    starved = _application(m, [Write(write=1)], progress=0.0)
    return _scenario(1, 2, [starved, *short])


@generator("example-4", source="P1 §5.4")
def example_4(
    m: Annotated[int, _whole(2, 1000)] = 10,
    T: Annotated[float, Accepted("a number from 2 to 1e5", lambda value: 2 <= value <= 1e5)] = 1000.0,
) -> Scenario:
    """Endless loops of 1/m of I/O and 1 - 1/m of compute: periodic-greedy-yield with δ = 1/m² interleaves and fails."""
    loop = Repeat(repeat=FOREVER, phases=(Write(write=1 / m), Compute(compute=1 - 1 / m)))
    return _scenario(0, T, [_application(i, [loop]) for i in range(1, m + 1)])


@generator("example-5", source="P1 §5.5")
def example_5(
    m: Annotated[int, _whole(2)] = 10,
    order: Annotated[str, _one_of("best", "adversary")] = "adversary",
) -> Scenario:
    """Alike first operations, then work of length m - 2 + i: the order in which they end decides the minimum yield."""
    applications = [
        _application(i, [Write(write=1), Compute(compute=m - 2 + i), Write(write=2), Compute(compute=3 * m)])
        for i in range(1, m + 1)
    ]
    return _scenario(0, 4 * m - 1, applications if order == "best" else applications[::-1])


@generator("example-6", source="P1 §5.6")
def example_6(
    m: Annotated[int, _whole(11, 1000)] = 12,
    epsilon: Annotated[float | None, Accepted("a number > 0 and < 1/m, or none", lambda value: value > 0)] = None,
) -> Scenario:
    """One application posts tiny operations without end and best-next-event serves it before m - 1 long ones."""
    epsilon = largest_epsilon(m) if epsilon is None else epsilon
    end = m * m / 2 - 2 * m + 2
    pause = epsilon / m**3
    if epsilon >= 1 / m or pause <= SAME * end:
        raise InvalidOption(
            f"example-6: m is {m} and epsilon is {epsilon:g}; accepted is an epsilon below 1/m with epsilon/m³ above"
            f" {SAME * end:.3g}, the resolution of time at the end of the window."
        )
    busy = _application(1, [Repeat(repeat=FOREVER, phases=(Write(write=1 / m), Compute(compute=pause)))])
    long = [_application(i, [Write(write=1 + epsilon), Compute(compute=m * m)]) for i in range(2, m + 1)]
    return _scenario(m, end, [busy, *long])


def largest_epsilon(m: int) -> float:
    """Keep Example 6's ε just below its limit 1/m, so that the pauses ε/m³ stay visible."""
    return 0.99 / m


def _application(
    index: int, phases: Sequence[Phase], release: float = 0.0, progress: float | None = None
) -> Application:
    return Application(name=f"a{index}", phases=tuple(phases), release=release, progress=progress)


def _scenario(begin: float, end: float, applications: Sequence[Application]) -> Scenario:
    return Scenario(
        version=1,
        platform=Platform(bandwidth=1.0),
        window=Window(begin=begin, end=end),
        applications=tuple(applications),
    )
