"""The workload of P4 §4.1: applications for N storage targets, at a chosen load Θ with one target each.

    profile     one of the given ones, or of a family, at random
    sizes       10 % of the applications use 75 % of the nodes, 30 % use 20 %, 60 % use 5 %
    phases      U{2..20}, each compute, then write, of equal parts
    T_cpu       horizon·X/(1 + X), X ~ U[0, x]
    V           horizon·b(1)/(1 + X), so that T_cpu + V/b(1) is the horizon for everyone

stress(j, 1) is 1/(1 + X), whose mean is log(1 + x)/x. For K applications it is to be ΘN/K, which gives x. Nobody keeps
more than one target busy, so K must be above ΘN.

Sizes are whole: large and medium applications are a tenth and three tenths of K, rounded half up, and one is always
large. The small ones together get a twentieth of the nodes and the medium ones a fifth, rounded half up, but at least a
node each; the large ones get what is left. In a group nodes are dealt evenly, one more to the first if need be.

The families imitate the 189 patterns that P4 takes from MareNostrum, class by class, on 1 to 8 targets:

    ascent     b(1)·n^e, e ~ U[0.4, 1.5]
    peak       b(1)·n^e up to p targets, then falling as (n/p)^-d; e ~ U[0.2, 0.8], d ~ U[0.1, 0.4], p = 2 (85 %) or 4
    descent    b(1)·n^-d, d ~ U[0.2, 0.4]
    neutral    b(1)·U[0.96, 1.04] on every count
    mixed      each of these at random: 38 % ascent, 55 % peak, 6 % descent, 1 % neutral

b(1) is log-normal, with the median and the factor of one standard deviation in FIRST.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated

import numpy as np

from penstock.errors import InvalidOption
from penstock.kernels.arrays import Floats
from penstock.model import Application, Compute, Platform, Repeat, Scenario, Write
from penstock.studies.profiles import Profiles, read_profiles
from penstock.workloads.registry import Accepted, generator

Draw = np.random.Generator
Profile = dict[int, float]

SHARES = {"ascent": 0.38, "peak": 0.55, "descent": 0.06, "neutral": 0.01}
FAMILIES = (*SHARES, "mixed")
FIRST = {"ascent": (276e6, 2.2), "peak": (101e6, 1.7), "descent": (88e6, 1.9), "neutral": (147e6, 2.0)}
MOST_TARGETS = 8  # that a profile of a family has
FEWEST_PHASES, MOST_PHASES = 2, 20


@generator("targets", source="P4 §4.1")
def targets(
    seed: int = 0,
    *,
    applications: Annotated[int, Accepted("a whole number from 1 to 100,000", lambda value: 1 <= value <= 1e5)] = 40,
    load: Annotated[float, Accepted("a number from 1e-6 to 1e5", lambda value: 1e-6 <= value <= 1e5)] = 0.5,
    targets: Annotated[int, Accepted("a whole number from 1 to 100,000", lambda value: 1 <= value <= 1e5)] = 20,
    nodes: Annotated[int, Accepted("a whole number from 1 to 1e9", lambda value: 1 <= value <= 1e9)] = 480,
    horizon: Annotated[float, Accepted("a number from 1 to 1e12", lambda value: 1 <= value <= 1e12)] = 5000.0,
    family: Annotated[str | None, Accepted(f"one of {', '.join(FAMILIES)}", lambda value: value in FAMILIES)] = None,
    profiles: Annotated[str | None, Accepted("a file of measurements", bool)] = None,
) -> Scenario:
    """Applications with a bandwidth profile each, of a family or a file, that load the targets as much as asked."""
    sizes = node_counts(applications, nodes)
    largest_ratio = ratio_bound(_stress(load, targets, applications))
    draw = np.random.default_rng(seed)
    drawn = _profiles(draw, applications, targets, family, profiles)
    phases = draw.integers(FEWEST_PHASES, MOST_PHASES, applications, endpoint=True)
    ratio = draw.uniform(0.0, largest_ratio, applications)
    width = max(2, len(str(applications)))
    return Scenario(
        version=1,
        platform=Platform(targets=targets, nodes=nodes),
        applications=tuple(
            _application(f"a-{i + 1:0{width}}", sizes[i], drawn[i], int(phases[i]), float(ratio[i]), horizon)
            for i in range(applications)
        ),
    )


def ratio_bound(stress: float) -> float:
    """The x > 0 with log(1 + x) = x·stress, for a stress between 0 and 1."""
    low, high = -60.0, 60.0  # of log x: log(1 + x)/x falls from 1 to 0 between them
    for _ in range(64):  # halvings, which is all that a float can tell apart
        middle = (low + high) / 2
        if math.log1p(math.exp(middle)) > math.exp(middle) * stress:
            low = middle
        else:
            high = middle
    return math.exp(low)


def node_counts(applications: int, nodes: int) -> list[int]:
    """How many nodes each application has: first the large ones, then the medium, then the small."""
    if nodes < applications:
        raise InvalidOption(
            f"targets: nodes is {nodes} and applications is {applications}; accepted is at least one node for each."
        )
    large = max(1, _half_up(applications / 10))
    medium = min(applications - large, _half_up(3 * applications / 10))
    small = applications - large - medium
    of_small = max(small, _half_up(nodes / 20)) if small else 0
    of_medium = max(medium, _half_up(nodes / 5)) if medium else 0
    groups = ((large, nodes - of_small - of_medium), (medium, of_medium), (small, of_small))
    return [share for size, held in groups for share in _dealt(held, size)]


def family_profile(draw: Draw, family: str, most: int) -> Profile:
    """A profile of a family, on 1 up to `most` targets."""
    if family == "mixed":
        family = str(draw.choice(list(SHARES), p=list(SHARES.values())))
    middle, spread = FIRST[family]
    first = middle * math.exp(draw.normal(0.0, math.log(spread)))
    counts = range(1, min(most, MOST_TARGETS) + 1)
    relative = _RELATIVE[family](draw, np.array(counts, dtype=float))
    return dict(zip(counts, (first * relative).tolist(), strict=True))


def _ascent(draw: Draw, n: Floats) -> Floats:
    rising: Floats = n ** draw.uniform(0.4, 1.5)
    return rising


def _peak(draw: Draw, n: Floats) -> Floats:
    turn = 2.0 if draw.uniform() < 0.85 else 4.0
    up, down = draw.uniform(0.2, 0.8), draw.uniform(0.1, 0.4)
    there_and_back: Floats = np.minimum(n, turn) ** up * np.maximum(n / turn, 1.0) ** -down
    return there_and_back


def _descent(draw: Draw, n: Floats) -> Floats:
    falling: Floats = n ** -draw.uniform(0.2, 0.4)
    return falling


def _neutral(draw: Draw, n: Floats) -> Floats:
    return draw.uniform(0.96, 1.04, n.size)


_RELATIVE: dict[str, Callable[[Draw, Floats], Floats]] = {
    "ascent": _ascent,
    "peak": _peak,
    "descent": _descent,
    "neutral": _neutral,
}


def _stress(load: float, targets: int, applications: int) -> float:
    """How busy an application must keep a single target, on average."""
    stress = load * targets / applications
    if stress >= 1:
        raise InvalidOption(
            f"targets: applications is {applications}, load is {load:g} and targets is {targets}; accepted are more"
            f" than load·targets = {load * targets:g} applications, as none keeps more than one target busy."
        )
    return stress


def _profiles(draw: Draw, applications: int, targets: int, family: str | None, file: str | None) -> list[Profile]:
    if file is None:
        return [family_profile(draw, family or "mixed", targets) for _ in range(applications)]
    if family is not None:
        raise InvalidOption(f"targets: family is {family!r} and profiles is {file!r}; accepted is one of the two.")
    known = _from_file(read_profiles(file), targets, file)
    return [known[i] for i in draw.integers(len(known), size=applications)]


def _from_file(measured: Profiles, targets: int, file: str) -> list[Profile]:
    """The profiles of a file, without the counts that the platform does not have."""
    for name, profile in measured.items():
        if 1 not in profile:
            raise InvalidOption(
                f"targets: {file} has no bandwidth of {name!r} on 1 target; accepted are profiles with count 1, which"
                " sets the volume."
            )
    return [{n: rate for n, rate in profile.items() if n <= targets} for profile in measured.values()]


def _application(name: str, nodes: int, profile: Profile, phases: int, ratio: float, horizon: float) -> Application:
    compute = horizon * ratio / (1 + ratio)
    volume = horizon * profile[1] / (1 + ratio)
    loop = Repeat(repeat=phases, phases=(Compute(compute=compute / phases), Write(write=volume / phases)))
    return Application(name=name, nodes=nodes, profile=profile, phases=(loop,))


def _dealt(nodes: int, size: int) -> list[int]:
    share, more = divmod(nodes, size) if size else (0, 0)
    return [share + (i < more) for i in range(size)]


def _half_up(value: float) -> int:
    return math.floor(value + 0.5)
