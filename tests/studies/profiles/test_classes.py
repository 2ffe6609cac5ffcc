"""Classes by their rule, the function that a class has in common, and what policies are told of a member."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pytest import approx

from penstock.errors import InvalidOption
from penstock.policies.allocation.demand import Demand
from penstock.studies.profiles import CLASSES, class_of, class_profiles, fastest, known

PROFILE = st.dictionaries(st.integers(1, 12), st.floats(1e3, 1e9), min_size=1, max_size=6)
PROFILES = st.lists(PROFILE, min_size=1, max_size=8).map(lambda each: {f"a{i}": each[i] for i in range(len(each))})


@pytest.mark.parametrize(
    ("profile", "name", "best"),
    [
        ({1: 1.0, 2: 2.0, 4: 3.0}, "Ascent", 4),
        ({1: 3.0, 2: 2.0, 4: 2.9}, "Descent", 1),
        ({1: 1.0, 2: 3.0, 4: 2.0}, "Peak", 2),
        ({1: 1.0, 2: 3.0, 4: 3.0}, "Peak", 2),  # equally fast: the fewest
        ({1: 0.9, 2: 1.0}, "Neutral", 2),
        ({1: 0.89, 2: 1.0}, "Ascent", 2),
        ({4: 7.0}, "Neutral", 4),
    ],
)
def test_the_rule(profile: dict[int, float], name: str, best: int) -> None:
    assert (class_of(profile), fastest(profile)) == (name, best)


@given(st.floats(1e-3, 1e12), st.lists(st.floats(-3e-9, 3e-9), min_size=1, max_size=5))
@example(1.0, [0.0, 0.95e-9])  # on both sides of where 30 bits round
@example(1e305, [0.0, 1e-9])
def test_n_perf_is_what_allocation_policies_take_for_it(rate: float, off: list[float]) -> None:
    rates = [rate * (1.0 + each) for each in off]
    one, many = np.ones(1), np.array(rates)
    demand = Demand(
        ("a",), 1.0, one, np.zeros(1), one, one, np.array([0, len(rates)]), np.arange(1, len(rates) + 1), many, one
    )
    assert fastest(dict(enumerate(rates, start=1))) == demand.count[demand.fastest[0]]


def test_rounding_noise_does_not_make_more_targets_faster() -> None:
    assert fastest({4: 0.3, 2: 0.1 + 0.2, 1: 0.2}) == 2
    assert fastest({2: 0.3, 4: 0.1 + 0.2}) == 2
    assert fastest({2: 0.3, 4: 0.3 * (1 + 1e-8)}) == 4


def test_a_class_is_the_geometric_mean_of_its_members() -> None:
    members = {"a": {1: 1.0, 2: 4.0, 4: 9.0}, "b": {1: 4.0, 2: 9.0, 4: 16.0}, "c": {1: 5.0, 2: 1.0}}
    classes = class_profiles(members)
    assert list(classes) == ["Ascent", "Descent"]
    assert classes["Ascent"].members == ("a", "b")
    assert classes["Ascent"].bandwidth == {1: approx(2), 2: approx(6), 4: approx(12)}
    assert classes["Descent"].bandwidth == {1: approx(5), 2: approx(1)}


def test_a_member_that_lacks_a_count_is_interpolated() -> None:
    classes = class_profiles({"a": {1: 1.0, 4: 16.0}, "b": {1: 1.0, 2: 16.0, 4: 64.0}})
    assert classes["Ascent"].bandwidth == {1: approx(1), 2: approx(8), 4: approx(32)}


def test_a_member_that_ends_early_does_not_make_the_mean_jump() -> None:
    """Both double with every doubling, the slow one is known to 8 targets, the fast one to 2."""
    classes = class_profiles({"slow": {1: 1.0, 2: 2.0, 4: 4.0, 8: 8.0}, "fast": {1: 100.0, 2: 200.0}})
    assert classes["Ascent"].bandwidth == {n: approx(10.0 * n) for n in (1, 2, 4, 8)}


def test_what_is_known() -> None:
    members = {"a": {1: 1.0, 2: 4.0, 4: 9.0}, "b": {1: 4.0, 2: 9.0, 4: 16.0}}
    assert known(members, "class") == {name: {1: approx(2), 2: approx(6), 4: approx(12)} for name in "ab"}
    told = known(members, "shape")
    level = (1 * 4 * 9) ** (1 / 3) / (2 * 6 * 12) ** (1 / 3)
    assert told["a"] == {1: approx(2 * level), 2: approx(6 * level), 4: approx(12 * level)}
    with pytest.raises(InvalidOption, match="knowledge is 'all'; accepted is one of class, shape"):
        known(members, "all")


def test_members_without_a_count_in_common() -> None:
    told = known({"low": {1: 10.0, 2: 20.0}, "high": {8: 1.0, 16: 3.0}}, "class")
    assert told["low"][1] < told["low"][2] <= told["high"][8] < told["high"][16]


@given(PROFILES)
def test_every_application_is_in_one_class(profiles: dict[str, dict[int, float]]) -> None:
    classes = class_profiles(profiles)
    assert [name for name in CLASSES if name in classes] == list(classes)
    assert sorted(name for each in classes.values() for name in each.members) == sorted(profiles)
    for name, each in classes.items():
        assert all(class_of(profiles[member]) == name for member in each.members)
        assert sorted({n for member in each.members for n in profiles[member]}) == list(each.bandwidth)


@given(PROFILES, st.sampled_from(["class", "shape"]))
def test_the_class_keeps_its_nature(profiles: dict[str, dict[int, float]], level: str) -> None:
    for name, told in known(profiles, level).items():
        assert told.keys() == profiles[name].keys()
        if class_of(profiles[name]) == "Ascent":
            assert fastest(told) == max(told)
        if class_of(profiles[name]) == "Descent":
            assert fastest(told) == min(told)


@given(PROFILES)
def test_a_shape_has_the_level_of_its_application(profiles: dict[str, dict[int, float]]) -> None:
    for name, told in known(profiles, "shape").items():
        own = profiles[name]
        assert np.mean(np.log(list(told.values()))) == approx(np.mean(np.log(list(own.values()))))


@given(PROFILE)
def test_one_of_a_kind_is_told_itself_up_to_the_shape_of_its_class(profile: dict[int, float]) -> None:
    if class_of(profile) == "Neutral":
        assert known({"a": profile}, "class") == {"a": {n: approx(rate) for n, rate in profile.items()}}
    told = known({"a": profile}, "class")["a"]
    assert min(profile.values()) * (1 - 1e-4) <= min(told.values())
    assert max(told.values()) <= max(profile.values()) * (1 + 1e-4)
