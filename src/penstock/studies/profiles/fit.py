"""Fitting b(n) in a study of profiles: a shape for all counts, and values for counts that nobody measured.

    monotone    more targets are never slower: log b is non-decreasing in n
    unimodal    up to some count, then down: log b is non-decreasing, then non-increasing

The fit is the closest such function to the measured log b in least squares, weighted by the number of repetitions.
Between measured counts log b is linear in log n. Outside the measured range nothing is said.

With a shape the measured counts follow it, too, where they contradict it: otherwise a measured value beside a fitted
one would make a bump that nobody measured. Without a shape they stay as measured. A result says which counts were not
measured (`fitted`) and at which measured ones the value is another (`moved`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from penstock.errors import InvalidOption
from penstock.kernels.arrays import Floats
from penstock.studies.profiles.profiles import Profile, Profiles

SHAPES = ("monotone", "unimodal")
_SAME_BANDWIDTH = 1e-9


def fit_profiles(profiles: Profiles, shape: str | None = None, counts: Iterable[int] | None = None) -> Profiles:
    """Profiles at `counts`, or at every count that one of them has, as far as each was measured."""
    if shape is not None and shape not in SHAPES:
        raise InvalidOption(f"fit is {shape!r}; accepted is one of {', '.join(SHAPES)}")
    wanted = sorted(set(profiles.counts if counts is None else counts))
    shaped = {name: _shaped(profile, profiles.repetitions[name], shape) for name, profile in profiles.items()}
    fitted = {name: between(curve, wanted) for name, curve in shaped.items()}
    kept = {name: curve for name, curve in fitted.items() if curve}
    if not kept:
        raise InvalidOption(f"no application was measured around {_listed(wanted)} targets; {_range(profiles)}")
    return replace(
        profiles,
        bandwidth=kept,
        repetitions={name: _part(profiles.repetitions[name], kept[name]) for name in kept},
        notes=profiles.notes + _outside(profiles, kept, wanted),
        shape=shape,
        fitted={name: gap for name in kept if (gap := tuple(n for n in kept[name] if n not in profiles[name]))},
        moved={name: moved for name in kept if (moved := _moved(profiles[name], kept[name]))},
    )


def between(curve: Profile, counts: Iterable[int]) -> dict[int, float]:
    """The curve at those of the counts that lie in its range, log b being linear in log n.

    >>> between({1: 1.0, 4: 4.0}, [1, 2, 4, 8])
    {1: 1.0, 2: 2.0, 4: 4.0}
    """
    known = np.array(sorted(curve))
    inside = [n for n in counts if known[0] <= n <= known[-1]]
    values = np.exp(np.interp(np.log(inside), np.log(known), np.log([curve[n] for n in known.tolist()])))
    return {n: curve.get(n, float(value)) for n, value in zip(inside, values, strict=True)}


def non_decreasing(values: Floats, weights: Floats) -> Floats:
    """The closest non-decreasing sequence in weighted least squares: neighbours out of order become their mean."""
    means: list[float] = []
    weight: list[float] = []
    size: list[int] = []
    for value, heavy in zip(values.tolist(), weights.tolist(), strict=True):
        means.append(value)
        weight.append(heavy)
        size.append(1)
        while len(means) > 1 and means[-2] > means[-1]:
            low, of_low, many = means.pop(), weight.pop(), size.pop()
            means[-1] = (means[-1] * weight[-1] + low * of_low) / (weight[-1] + of_low)
            weight[-1] += of_low
            size[-1] += many
    return np.repeat(means, size)


def unimodal(values: Floats, weights: Floats) -> Floats:
    """The closest sequence that goes up and then down; of equally close ones that which turns first."""
    best, least = values, np.inf
    for turn in range(1, values.size + 1):
        up = non_decreasing(values[:turn], weights[:turn])
        down = non_decreasing(values[turn:][::-1], weights[turn:][::-1])[::-1]
        curve = np.concatenate([up, down])
        distance = float(weights @ (curve - values) ** 2)
        if distance < least - _SAME_BANDWIDTH:
            best, least = curve, distance
    return best


def _shaped(profile: Profile, repetitions: Mapping[int, int], shape: str | None) -> Profile:
    if shape is None:
        return profile
    counts = sorted(profile)
    logs = np.log([profile[n] for n in counts])
    weights = np.array([repetitions.get(n, 1) for n in counts], dtype=float)
    fit = (non_decreasing if shape == "monotone" else unimodal)(logs, weights)
    stays = np.abs(fit - logs) <= _SAME_BANDWIDTH
    return {n: profile[n] if stays[i] else float(np.exp(fit[i])) for i, n in enumerate(counts)}


def _moved(measured: Profile, kept: Profile) -> tuple[int, ...]:
    return tuple(n for n in kept if n in measured and measured[n] != kept[n])


def _part(repetitions: Mapping[int, int], curve: Profile) -> dict[int, int]:
    return {n: runs for n, runs in repetitions.items() if n in curve}


def _outside(profiles: Profiles, kept: Mapping[str, Profile], wanted: list[int]) -> tuple[str, ...]:
    """Notes on counts, and applications, that are not there for lack of measurements."""
    lacking = [name for name in kept if len(kept[name]) < len(wanted)]
    lost = [name for name in profiles if name not in kept]
    notes = []
    if lacking:
        notes.append(f"{_some(lacking)}: no value outside the counts measured, {_range(profiles, lacking)}")
    if lost:
        notes.append(f"{_some(lost)}: left out, not measured around {_listed(wanted)} targets")
    return tuple(notes)


def _range(profiles: Profiles, names: Iterable[str] | None = None) -> str:
    ends = {(min(profiles[name]), max(profiles[name])) for name in names or profiles}
    if len(ends) == 1:
        return "{} to {}".format(*ends.pop())
    return "which differ"


def _some(names: list[str]) -> str:
    return ", ".join(names) if len(names) <= 3 else f"{len(names)} applications"


def _listed(counts: list[int]) -> str:
    return ", ".join(map(str, counts)) if len(counts) <= 8 else f"{counts[0]} to {counts[-1]}"
