"""Classes of profiles, for studies (P4 §4.2): what is known of an application of which only the class is known.

    Neutral    (max - min)/max ≤ 0.1: the number of targets hardly matters
    Ascent     fastest on its largest count
    Descent    fastest on its smallest count
    Peak       fastest somewhere between

The function of a class is the geometric mean of its members, count by count. A member that was not measured on a count
is interpolated, and left out where that count is outside its range. Lest the mean jump where a fast member ends, it is
that of the model log b_j(n) = level_j + shape(n), by least squares: if nobody lacks a count, the plain geometric mean.

Then the class keeps its nature: the function of Ascent is made increasing, that of Descent decreasing, that of Peak
unimodal (least squares again, weighted by members; counts that would tie differ by a millionth).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from penstock.errors import InvalidOption
from penstock.kernels.arrays import Floats
from penstock.studies.profiles.fit import between, non_decreasing, unimodal
from penstock.studies.profiles.profiles import Profile

CLASSES = ("Ascent", "Descent", "Peak", "Neutral")
LEVELS = ("class", "shape")
NEUTRAL = 0.1
_SAME_FASTEST = 1e-9
_SPLIT = 2.0**23 + 1.0
_HUGE = 1e300
_STEP = 1e-6


@dataclass(frozen=True)
class ClassProfile:
    """A class, who is in it, and its common function."""

    name: str
    members: tuple[str, ...]
    bandwidth: Profile


def fastest(profile: Profile) -> int:
    """n_perf: the fewest targets with the highest bandwidth; closer than about 1e-9 is equal."""
    return min(profile, key=lambda n: (-_coarse(profile[n]), n))


def _coarse(rate: float) -> float:
    # 30 significant bits, as allocation policies compare (Veltkamp's splitting), so that all agree on n_perf.
    scaled = rate * _SPLIT
    return scaled - (scaled - rate) if rate < _HUGE else rate


def class_of(profile: Profile) -> str:
    """The class of one profile.

    >>> class_of({1: 1.0, 2: 1.9, 4: 3.0}), class_of({1: 1.0, 2: 1.9, 4: 1.5}), class_of({1: 1.0, 2: 0.9})
    ('Ascent', 'Peak', 'Neutral')
    """
    top = max(profile.values())
    if top - min(profile.values()) <= NEUTRAL * top * (1.0 + _SAME_FASTEST):
        return "Neutral"
    best = fastest(profile)
    if best == max(profile):
        return "Ascent"
    return "Descent" if best == min(profile) else "Peak"


def class_profiles(profiles: Mapping[str, Profile]) -> dict[str, ClassProfile]:
    """The classes that have members, each with its function over all counts of its members."""
    members: dict[str, list[str]] = {name: [] for name in CLASSES}
    for name, profile in profiles.items():
        members[class_of(profile)].append(name)
    return {
        name: ClassProfile(name, tuple(listed), _common(name, [profiles[each] for each in listed]))
        for name, listed in members.items()
        if listed
    }


def known(profiles: Mapping[str, Profile], level: str) -> dict[str, dict[int, float]]:
    """What is told of each application in place of its profile, at its own counts.

    `class`: the function of its class. `shape`: that function, scaled to the geometric mean of its own bandwidths.
    """
    if level not in LEVELS:
        raise InvalidOption(f"knowledge is {level!r}; accepted is one of {', '.join(LEVELS)}")
    common = {name: each.bandwidth for each in class_profiles(profiles).values() for name in each.members}
    told = {name: {n: common[name][n] for n in profile} for name, profile in profiles.items()}
    return told if level == "class" else {name: _scaled(told[name], profiles[name]) for name in told}


def _scaled(told: dict[int, float], own: Profile) -> dict[int, float]:
    factor = float(np.exp(np.mean([np.log(own[n] / told[n]) for n in told])))
    return {n: rate * factor for n, rate in told.items()}


def _common(name: str, members: list[Profile]) -> dict[int, float]:
    counts = sorted({n for profile in members for n in profile})
    place = {n: i for i, n in enumerate(counts)}
    logs = np.full((len(members), len(counts)), np.nan)
    for row, profile in zip(logs, members, strict=True):
        curve = between(profile, counts)
        row[[place[n] for n in curve]] = np.log(list(curve.values()))
    mean = _mean(logs)
    weights = np.sum(~np.isnan(logs), axis=0).astype(float)
    if name == "Ascent":
        mean = _increasing(mean, weights)
    elif name == "Descent":
        mean = _increasing(mean[::-1], weights[::-1])[::-1]
    elif name == "Peak":
        mean = unimodal(mean, weights)
    return dict(zip(counts, np.exp(mean).tolist(), strict=True))


def _mean(logs: Floats) -> Floats:
    """Column means; of rows with holes, the columns of the closest level + shape."""
    there = ~np.isnan(logs)
    mean: Floats = logs.mean(axis=0)
    if there.all():
        return mean
    size = there.sum(axis=1, keepdims=True)
    filled = np.where(there, logs, 0.0)
    centred = np.where(there, filled - filled.sum(axis=1, keepdims=True) / size, 0.0)
    # With the levels eliminated, the normal equations of the shape; it is determined up to a constant, which cancels.
    equations = np.diag(there.sum(axis=0)) - there.T @ (there / size)
    shape: Floats = np.linalg.lstsq(equations, centred.sum(axis=0), rcond=None)[0]
    level = np.where(there, filled - shape, 0.0).sum(axis=1, keepdims=True) / size
    mean = shape + level.mean()
    return mean


def _increasing(values: Floats, weights: Floats) -> Floats:
    rising = non_decreasing(values, weights)
    for i in range(1, rising.size):
        rising[i] = max(rising[i], rising[i - 1] + _STEP)
    return rising
