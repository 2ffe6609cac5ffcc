"""Which targets each application gets: the policies against their definitions, and what all of them keep to."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock import Scenario
from penstock.policies.placement import NAMES, find
from penstock.studies.targets import allocate
from reference import closed_allocations as closed
from reference.allocations import PLACEMENTS, Counts, Placed, allowed, limits_of, random_places
from strategies import site_documents, target_documents
from studies.targets.demands import demand_of, options_of, placed_of

Document = dict[str, Any]


def placed(name: str, document: Document, counts: Counts, seed: int = 0) -> Placed:
    demand = demand_of(document)
    option = options_of(demand, counts)
    return placed_of(demand, option, find(name).decide(demand, option, np.random.default_rng(seed)))


@st.composite
def counted(draw: st.DrawFn, limits: bool = True) -> tuple[Document, Counts]:
    """A document, and for each application one of the counts that it allows."""
    document = draw(target_documents(most=7, limits=limits) | site_documents(most=7, limits=limits))
    return document, {app["name"]: draw(st.sampled_from(allowed(document, app))) for app in document["applications"]}


def test_every_policy_is_tested_here() -> None:
    assert set(NAMES) == {*PLACEMENTS, "random"}


@pytest.mark.parametrize("name", PLACEMENTS)
@given(given_out=counted(limits=False))
def test_policies_are_what_their_definitions_say(name: str, given_out: tuple[Document, Counts]) -> None:
    assert placed(name, *given_out) == PLACEMENTS[name](*given_out)


@pytest.mark.parametrize("name", closed.PLACEMENTS)
@given(given_out=counted(limits=False), release=st.sampled_from([0.0, 4.0]))
def test_who_starts_together_is_where_a_closed_world_put_it(
    name: str, given_out: tuple[Document, Counts], release: float
) -> None:
    document, counts = given_out
    for each in document["applications"]:
        each |= {"release": release, "node_skew": 1.0}
    assert placed(name, document, counts) == closed.PLACEMENTS[name](document, counts)


@given(given_out=counted(), seed=st.integers(0, 99))
def test_random_draws_by_start(given_out: tuple[Document, Counts], seed: int) -> None:
    assert placed("random", *given_out, seed) == random_places(*given_out, np.random.default_rng(seed))


def test_who_has_left_carries_nothing_any_more() -> None:
    """Two on two targets; the next finds both empty, and so takes the first, though that had more to carry."""
    job = {"profile": {1: 1.0}}
    heavy = job | {"name": "heavy", "phases": [{"compute": 1.0}, {"write": 9.0}]}
    light = job | {"name": "light", "phases": [{"compute": 9.0}, {"write": 1.0}]}
    for release, expected in ((5.0, [1]), (10.0, [0]), (20.0, [0])):
        late = light | {"name": "late", "release": release}
        document: Document = {"platform": {"targets": 2}, "applications": [heavy, light, late]}
        assert placed("greedy-clairvoyant", document, {"heavy": 1, "light": 1, "late": 1})["late"] == expected


def test_the_turn_goes_on_when_everybody_has_left() -> None:
    jobs = [
        {"name": name, "profile": {1: 1.0}, "phases": [{"write": 1.0}], "release": release}
        for name, release in {"a": 0.0, "b": 100.0, "c": 200.0}.items()
    ]
    document: Document = {"platform": {"targets": 3}, "applications": jobs}
    found = placed("greedy-non-clairvoyant", document, {"a": 1, "b": 1, "c": 1})
    assert found == {"a": [0], "b": [1], "c": [2]}


@pytest.mark.parametrize("name", NAMES)
@given(given_out=counted(), seed=st.integers(0, 99))
def test_everyone_gets_its_number_of_different_targets(
    name: str, given_out: tuple[Document, Counts], seed: int
) -> None:
    document, counts = given_out
    found = placed(name, document, counts, seed)
    for application, targets in found.items():
        assert len(targets) == counts[application]
        assert targets == sorted(set(targets))
        assert targets[0] >= 0 and targets[-1] < len(limits_of(document))
    assert found == placed(name, document, counts, seed)


@given(given_out=counted())
def test_greedy_non_clairvoyant_uses_targets_evenly(given_out: tuple[Document, Counts]) -> None:
    document, counts = given_out
    found = placed("greedy-non-clairvoyant", document, counts)
    used = Counter(target for targets in found.values() for target in targets)
    users = [used[target] for target in range(len(limits_of(document)))]
    assert max(users) - min(users) <= 1


def test_random_reaches_every_pair_of_targets() -> None:
    app = {"name": "a", "profile": {2: 1.0}, "phases": [{"write": 1.0}]}
    document: Document = {"platform": {"targets": 4}, "applications": [app]}
    assert len({tuple(placed("random", document, {"a": 2}, seed)["a"]) for seed in range(100)}) == 6


def test_random_numbers_and_random_places_have_nothing_to_do_with_each_other() -> None:
    job = {"name": "a", "profile": {n: 1.0 for n in range(1, 5)}, "phases": [{"write": 1.0}]}
    site = Scenario.from_document({"version": 1, "platform": {"targets": 4}, "applications": [job]})
    single = {
        allotment.applications[0].targets
        for allotment in (allocate(site, "random", "random", seed=seed) for seed in range(200))
        if allotment.applications[0].count == 1
    }
    assert single == {(0,), (1,), (2,), (3,)}


def on_slow_targets(profile: dict[int, float], limit: list[float], jobs: int) -> list[int]:
    """Where jobs alike go, one after the other: 3 s of compute, and 1 s of I/O on targets that are fast enough."""
    phases = [{"compute": 3.0}, {"write": max(profile.values())}]
    apps = [{"name": f"j{i}", "profile": profile, "phases": phases} for i in range(jobs)]
    demand = demand_of({"platform": {"targets": len(limit)}, "applications": apps})
    demand = replace(demand, limit=np.array(limit))
    return find("greedy-clairvoyant").decide(demand, np.arange(jobs), np.random.default_rng(0)).tolist()


def test_a_slow_target_is_more_stressed_by_the_same_transfer() -> None:
    # Alone they would carry 6/9, 1/4 and 2/5. The second is lightest until it carries 2/4, which is more than what the
    # first would carry beyond the least, 6/9 - 1/4.
    assert on_slow_targets({1: 6.0}, [1.0, np.inf, 3.0], 4) == [1, 2, 1, 0]


def test_a_target_is_slow_against_what_goes_to_it_alone() -> None:
    assert on_slow_targets({2: 12.0}, [6.0, 6.0, np.inf], 1) == [0, 1]
