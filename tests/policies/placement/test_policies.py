"""Which targets each application gets: the policies against their definitions, and what all of them keep to."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock import Scenario
from penstock.policies.placement import NAMES, find
from penstock.studies.targets import allocate
from reference.allocations import PLACEMENTS, Counts, Placed, allowed, limits_of
from strategies import target_documents
from studies.targets.demands import demand_of, options_of, placed_of

Document = dict[str, Any]


def placed(name: str, document: Document, counts: Counts, seed: int = 0) -> Placed:
    demand = demand_of(document)
    option = options_of(demand, counts)
    return placed_of(demand, option, find(name).decide(demand, option, np.random.default_rng(seed)))


@st.composite
def counted(draw: st.DrawFn, limits: bool = True) -> tuple[Document, Counts]:
    """A document, and for each application one of the counts that it allows."""
    document = draw(target_documents(most=7, limits=limits))
    return document, {app["name"]: draw(st.sampled_from(allowed(document, app))) for app in document["applications"]}


def test_every_policy_is_tested_here() -> None:
    assert set(NAMES) == {*PLACEMENTS, "random"}


@pytest.mark.parametrize("name", PLACEMENTS)
@given(given_out=counted(limits=False))
def test_policies_are_what_their_definitions_say(name: str, given_out: tuple[Document, Counts]) -> None:
    assert placed(name, *given_out) == PLACEMENTS[name](*given_out)


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
