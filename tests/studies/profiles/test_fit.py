"""The fit is the closest function of its shape, says what it changed, and invents nothing outside what was measured."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from pytest import approx
from scipy.optimize import isotonic_regression

from penstock.errors import InvalidOption
from penstock.studies.profiles import Profiles, fit_profiles
from penstock.studies.profiles.fit import non_decreasing, unimodal

SERIES = st.integers(1, 7).flatmap(
    lambda size: st.tuples(
        arrays(float, size, elements=st.integers(-8, 8).map(float)),
        arrays(float, size, elements=st.integers(1, 5).map(float)),
    )
)


def profiles(**bandwidth: dict[int, float]) -> Profiles:
    return Profiles(bandwidth, {name: dict.fromkeys(profile, 1) for name, profile in bandwidth.items()})


@given(SERIES)
def test_non_decreasing_is_what_scipy_finds(series: tuple[np.ndarray, np.ndarray]) -> None:
    values, weights = series
    assert non_decreasing(values, weights) == approx(isotonic_regression(values, weights=weights).x, abs=1e-12)


def is_unimodal(curve: np.ndarray) -> bool:
    steps = np.diff(curve)
    signs = np.sign(steps[np.abs(steps) > 1e-9])
    return bool((np.diff(signs) <= 0).all())


def closest_unimodal(values: np.ndarray, weights: np.ndarray) -> float:
    """The least squared distance, among all ways to cut the series into pieces and take the mean of each."""
    distances = []
    for cuts in itertools.product([False, True], repeat=values.size - 1):
        piece = np.cumsum([0, *cuts])
        means = np.bincount(piece, weights * values) / np.bincount(piece, weights)
        if is_unimodal(means):
            distances.append(float(weights @ (means[piece] - values) ** 2))
    return min(distances)


@given(SERIES)
def test_unimodal_goes_up_then_down_and_is_closest(series: tuple[np.ndarray, np.ndarray]) -> None:
    values, weights = series
    curve = unimodal(values, weights)
    assert is_unimodal(curve)
    assert float(weights @ (curve - values) ** 2) == approx(closest_unimodal(values, weights), abs=1e-9)


@pytest.mark.parametrize("values", [[1.0, 3.0, 2.0, 1.0], [3.0, 2.0, 1.0], [1.0, 2.0], [4.0]])
def test_what_has_the_shape_stays(values: list[float]) -> None:
    assert unimodal(np.array(values), np.ones(len(values))).tolist() == values


def test_monotone_moves_as_little_as_it_can_in_logarithms_and_by_repetitions() -> None:
    measured = Profiles({"a": {1: 8.0, 2: 1.0, 4: 16.0}}, {"a": {1: 2, 2: 1, 4: 9}})
    fit = fit_profiles(measured, "monotone")
    assert fit["a"] == {1: approx(4), 2: approx(4), 4: 16}  # (2 log 8 + log 1)/3 = log 4
    assert (fit.shape, fit.moved, fit.fitted) == ("monotone", {"a": (1, 2)}, {})
    assert fit_profiles(measured, "unimodal").moved == {"a": (1, 2)}


def test_missing_counts_lie_on_the_line_between_their_neighbours() -> None:
    fit = fit_profiles(profiles(a={1: 100.0, 4: 400.0, 8: 100.0}), "unimodal", range(1, 9))
    assert list(fit["a"]) == list(range(1, 9))
    assert (fit["a"][2], fit["a"][3], fit["a"][6]) == (approx(200), approx(300), approx(400 * (6 / 4) ** -2))
    assert (fit.fitted, fit.moved) == ({"a": (2, 3, 5, 6, 7)}, {})
    assert [fit["a"][n] for n in (1, 4, 8)] == [100, 400, 100]


def test_the_default_is_every_count_that_someone_has() -> None:
    fit = fit_profiles(profiles(a={1: 1.0, 4: 2.0}, b={1: 1.0, 2: 3.0, 8: 4.0}), "monotone")
    assert {name: list(profile) for name, profile in fit.items()} == {"a": [1, 2, 4], "b": [1, 2, 4, 8]}
    assert fit.fitted == {"a": (2,), "b": (4,)}
    assert fit.notes == ("a: no value outside the counts measured, 1 to 4",)


def test_without_a_shape_nothing_moves() -> None:
    measured = profiles(a={1: 8.0, 2: 1.0, 8: 16.0})
    fit = fit_profiles(measured, counts=[1, 2, 4])
    assert fit["a"] == {1: 8, 2: 1, 4: approx(4)}
    assert (fit.shape, fit.moved, fit.fitted, fit.repetitions) == (None, {}, {"a": (4,)}, {"a": {1: 1, 2: 1}})


def test_nothing_is_invented_outside_the_measured_range() -> None:
    measured = profiles(a={2: 1.0, 4: 2.0}, b={1: 1.0, 2: 1.0})
    fit = fit_profiles(measured, "monotone", [3, 4, 5])
    assert {name: list(profile) for name, profile in fit.items()} == {"a": [3, 4]}
    assert fit.notes == (
        "a: no value outside the counts measured, 2 to 4",
        "b: left out, not measured around 3, 4, 5 targets",
    )
    with pytest.raises(InvalidOption, match="no application was measured around 9 targets; which differ"):
        fit_profiles(measured, "monotone", [9])
    with pytest.raises(InvalidOption, match="fit is 'cubic'; accepted is one of monotone, unimodal"):
        fit_profiles(measured, "cubic")


@given(
    st.dictionaries(st.integers(1, 20), st.floats(1.0, 1e12), min_size=1, max_size=6),
    st.sampled_from(["monotone", "unimodal"]),
)
def test_a_fit_keeps_its_shape_at_all_counts(profile: dict[int, float], shape: str) -> None:
    fit = fit_profiles(profiles(a=profile), shape, range(1, 21))
    counts = list(fit["a"])
    assert counts == list(range(min(profile), max(profile) + 1))
    logs = np.log(list(fit["a"].values()))
    assert (np.diff(logs) > -1e-9).all() if shape == "monotone" else is_unimodal(logs)
    assert min(profile.values()) * (1 - 1e-9) <= min(fit["a"].values())
    assert max(fit["a"].values()) <= max(profile.values()) * (1 + 1e-9)
