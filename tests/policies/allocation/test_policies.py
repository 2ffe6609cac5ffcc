"""How many targets each application gets: the policies against their definitions, taken literally."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import PolicyError
from penstock.policies.allocation import NAMES, find
from reference.allocations import (
    ALLOCATIONS,
    Counts,
    Placed,
    allowed,
    cpu_load,
    io_share,
    load,
    mckp,
    n_perf,
    n_sys,
    stress,
    tcpu,
)
from strategies import target_documents
from studies.targets.demands import counts_of, demand_of, placed_of

Document = dict[str, Any]


def decided(name: str, document: Document, seed: int = 0) -> dict[str, int]:
    demand = demand_of(document)
    return counts_of(demand, find(name).decide(demand, np.random.default_rng(seed)).option)


def close(value: Any) -> Any:
    return pytest.approx(value, rel=1e-12, abs=1e-15)


def test_every_policy_is_tested_here() -> None:
    assert set(NAMES) == {*ALLOCATIONS, "random", "mckp"}


@given(document=target_documents())
def test_what_a_demand_says(document: Document) -> None:
    demand = demand_of(document)
    pairs = [(app, n) for app in document["applications"] for n in allowed(document, app)]
    assert demand.io_share.tolist() == close([io_share(app, n) for app, n in pairs])
    assert demand.stress.tolist() == close([stress(app, n) for app, n in pairs])
    assert demand.cpu_load.tolist() == close([cpu_load(app, n) for app, n in pairs])
    for option, rule in ((demand.fastest, n_perf), (demand.lightest, n_sys)):
        counts = {app["name"]: rule(document, app) for app in document["applications"]}
        assert counts_of(demand, option) == counts
        assert demand.load(option) == close(load(document, counts))


@pytest.mark.parametrize("name", sorted({*ALLOCATIONS} - {"tcpu"}))
@given(document=target_documents())
def test_policies_are_what_their_definitions_say(name: str, document: Document) -> None:
    assert decided(name, document) == ALLOCATIONS[name](document)


@given(document=target_documents(most=7) | target_documents(most=7, exact=False))
def test_tcpu_is_algorithm_1(document: Document) -> None:
    # Whether targets are exactly full, or by the last digit of a float more than that, may be seen either way.
    assert decided("tcpu", document) in [tcpu(document, most) for most in (1, 1 + 1e-12, 1 - 1e-12)]


def test_tcpu_may_fill_the_targets_exactly() -> None:
    full = {"name": "full", "profile": {1: 1.0}, "phases": [{"write": 1.0}]}
    more = {"name": "more", "profile": {1: 1.0, 2: 3.0}, "phases": [{"write": 1.0}]}
    document: Document = {"platform": {"targets": 3}, "applications": [full, more]}
    assert decided("tcpu", document) == {"full": 1, "more": 2}
    assert decided("tcpu", document | {"platform": {"targets": 2}}) == {"full": 1, "more": 1}


@given(document=target_documents(most=7))
def test_tcpu_fills_the_targets_and_no_more(document: Document) -> None:
    least, found = ALLOCATIONS["nsys"](document), decided("tcpu", document)
    apps = document["applications"]
    if load(document, least) <= 1:
        assert load(document, found) <= 1 + 1e-12  # summed once more
    else:
        assert load(document, found) <= load(document, least) * (1 + 1e-12)
    before, after = (sum(cpu_load(app, counts[app["name"]]) for app in apps) for counts in (least, found))
    assert after >= before * (1 - 1e-12)


@given(document=target_documents(), seed=st.integers(0, 99))
def test_random_takes_what_is_allowed_and_the_same_from_the_same_seed(document: Document, seed: int) -> None:
    found = decided("random", document, seed)
    assert all(found[app["name"]] in allowed(document, app) for app in document["applications"])
    assert found == decided("random", document, seed)


def test_random_reaches_every_count() -> None:
    app = {"name": "a", "profile": {1: 1.0, 3: 1.0, 4: 1.0}, "phases": [{"write": 1.0}]}
    document: Document = {"platform": {"targets": 4}, "applications": [app]}
    assert {decided("random", document, seed)["a"] for seed in range(50)} == {1, 3, 4}


def crowd(draw: random.Random) -> Document:
    """Few applications on few targets, with bandwidths of which many sums are equal."""
    targets = draw.randint(1, 6)
    numbers = draw.choice([[1.0, 2.0], [0.1, 0.2, 0.3, 0.7], [draw.uniform(0.1, 5) for _ in range(9)]])
    applications = []
    for name in "abcdef"[: draw.randint(1, 6)]:
        counts = [1, *draw.sample(range(2, 8), draw.randint(0, 3))]
        profile = {count: draw.choice(numbers) for count in sorted(counts)}
        applications.append({"name": name, "profile": profile, "phases": [{"write": 1.0}]})
    return {"platform": {"targets": targets}, "applications": applications}


def test_mckp_is_the_best_of_all_vectors() -> None:
    draw = random.Random(1)
    for document in (crowd(draw) for _ in range(1_000)):
        best = mckp(document)
        assert best is not None
        demand = demand_of(document)
        option, places = find("mckp").decide(demand, np.random.default_rng(0))
        # Who is left out shares one target, so its count is 1.
        assert counts_of(demand, option) == {name: count or 1 for name, count in best.items()}, document
        assert places is not None
        check_exclusive(best, placed_of(demand, option, places), demand.targets)


def check_exclusive(best: Counts, placed: Placed, targets: int) -> None:
    """Nobody shares a target, but those left out share one."""
    shared = {target for name, count in best.items() if count == 0 for target in placed[name]}
    owned = [target for name, count in best.items() if count > 0 for target in placed[name]]
    assert len(shared) == (0 in best.values())
    assert sorted({*owned, *shared}) == sorted([*owned, *shared])
    assert {*owned, *shared} <= set(range(targets))


def test_mckp_leaves_nobody_out_who_needs_several_targets() -> None:
    app = {"profile": {2: 1.0}, "phases": [{"write": 1.0}]}
    document: Document = {"platform": {"targets": 3}, "applications": [app | {"name": name} for name in "abcd"]}
    with pytest.raises(PolicyError, match="could not share one"):
        decided("mckp", document)


def test_mckp_leaves_out_only_who_can_share() -> None:
    wide = {"name": "wide", "profile": {2: 5.0}, "phases": [{"write": 1.0}]}
    small = [{"name": name, "profile": {1: 1.0}, "phases": [{"write": 1.0}]} for name in "abc"]
    document: Document = {"platform": {"targets": 3}, "applications": [wide, *small]}
    demand = demand_of(document)
    allocated = find("mckp").decide(demand, np.random.default_rng(0))
    assert counts_of(demand, allocated.option) == {"wide": 2, "a": 1, "b": 1, "c": 1}
    assert allocated.places is not None
    assert allocated.places.tolist() == [0, 1, 2, 2, 2]


def test_tcpu_looks_again_when_a_step_no_longer_fits() -> None:
    """A's second target no longer fits once B has moved, and its third, which does, gains more than C's step."""
    phases = [{"compute": 1.0}, {"write": 1.0}]
    profiles = {"A": {1: 1.0, 2: 1.1, 3: 4.0}, "B": {1: 1.0, 4: 3.0}, "C": {1: 1.0, 2: 2.0}}
    fillers = {name: {1: 1 / 0.9 - 1} for name in "DE"}
    nodes = {"A": 10, "B": 100, "C": 6, "D": 1, "E": 1}
    document: Document = {
        "platform": {"targets": 4},
        "applications": [
            {"name": name, "nodes": nodes[name], "profile": profile, "phases": phases}
            for name, profile in (profiles | fillers).items()
        ],
    }
    assert decided("tcpu", document) == tcpu(document) == {"A": 3, "B": 4, "C": 1, "D": 1, "E": 1}


def test_tcpu_on_profiles_that_go_up_and_down() -> None:
    """Steps that are too large are passed over, and may fit again later: many instances with such profiles."""
    draw = random.Random(7)
    for _ in range(300):
        jobs = [
            {
                "name": f"a{i}",
                "nodes": draw.choice([1, 10, 100]),
                "profile": {n: draw.uniform(0.5, 4) for n in range(1, draw.randint(2, 6))},
                "phases": [{"compute": 1.0}, {"write": draw.uniform(0.2, 1)}],
            }
            for i in range(draw.randint(3, 7))
        ]
        document: Document = {"platform": {"targets": 5}, "applications": jobs}
        assert decided("tcpu", document) == tcpu(document)
