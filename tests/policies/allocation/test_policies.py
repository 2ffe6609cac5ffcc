"""How many targets each application gets: the policies against their definitions, taken literally."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import PolicyError
from penstock.policies.allocation import NAMES, find
from reference import closed_allocations as closed
from reference.allocations import (
    ALLOCATIONS,
    allowed,
    cpu_load,
    io_share,
    load,
    mckp,
    n_perf,
    n_sys,
    random_counts,
    stress,
    tcpu,
)
from strategies import site_documents, target_documents
from studies.targets.demands import counts_of, demand_of, placed_of

Document = dict[str, Any]


def decided(name: str, document: Document, seed: int = 0) -> dict[str, int]:
    demand = demand_of(document)
    return counts_of(demand, find(name).decide(demand, np.random.default_rng(seed)).option)


def close(value: Any) -> Any:
    return pytest.approx(value, rel=1e-12, abs=1e-15)


def test_every_policy_is_tested_here() -> None:
    assert set(NAMES) == {*ALLOCATIONS, "random", "mckp"}


@given(document=target_documents() | site_documents())
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
@given(document=target_documents() | site_documents())
def test_policies_are_what_their_definitions_say(name: str, document: Document) -> None:
    assert decided(name, document) == ALLOCATIONS[name](document)


@given(document=site_documents(most=7) | target_documents(most=7) | target_documents(most=7, exact=False))
def test_tcpu_is_algorithm_1(document: Document) -> None:
    # Whether targets are exactly full, or by the last digit of a float more than that, may be seen either way.
    assert decided("tcpu", document) in [tcpu(document, most) for most in (1, 1 + 1e-12, 1 - 1e-12)]


def test_tcpu_may_fill_the_targets_exactly() -> None:
    full = {"name": "full", "profile": {1: 1.0}, "phases": [{"write": 1.0}]}
    more = {"name": "more", "profile": {1: 1.0, 2: 3.0}, "phases": [{"write": 1.0}]}
    document: Document = {"platform": {"targets": 3}, "applications": [full, more]}
    assert decided("tcpu", document) == {"full": 1, "more": 2}
    assert decided("tcpu", document | {"platform": {"targets": 2}}) == {"full": 1, "more": 1}


@given(document=target_documents(most=7) | site_documents(most=7))
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
    assert found == decided("random", document, seed) == random_counts(document, np.random.default_rng(seed))


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


def arriving(draw: random.Random, document: Document) -> Document:
    """The same applications, some of which start later, perhaps when others have ended."""
    for each in document["applications"]:
        each["release"] = draw.choice([0, 0, 1, 2.5, draw.uniform(0, 12)])
        each["phases"] = [{"compute": draw.choice([0, 1, 5])}, *each["phases"]]
    return document


def test_mckp_is_the_best_of_all_vectors_at_every_start() -> None:
    draw = random.Random(1)
    for number in range(1_000):
        document = crowd(draw) if number % 2 else arriving(draw, crowd(draw))
        demand = demand_of(document)
        option, places = find("mckp").decide(demand, np.random.default_rng(0))
        assert places is not None
        assert placed_of(demand, option, places) == mckp(document), document


@given(document=site_documents())
def test_mckp_is_what_its_definition_says(document: Document) -> None:
    demand, expected = demand_of(document), mckp(document)
    if expected is None:
        with pytest.raises(PolicyError):
            find("mckp").decide(demand, np.random.default_rng(0))
        return
    option, places = find("mckp").decide(demand, np.random.default_rng(0))
    assert places is not None
    assert placed_of(demand, option, places) == expected


@given(document=target_documents(most=6), release=st.sampled_from([0.0, 4.0]))
def test_who_starts_together_gets_what_a_closed_world_gave(document: Document, release: float) -> None:
    for each in document["applications"]:
        each["release"] = release
    for name in sorted({*closed.ALLOCATIONS} - {"tcpu"}):
        assert decided(name, document) == closed.ALLOCATIONS[name](document)
    assert decided("tcpu", document) in [closed.tcpu(document, most) for most in (1, 1 + 1e-12, 1 - 1e-12)]


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


def test_tcpu_in_time_on_profiles_that_go_up_and_down() -> None:
    """The same with jobs that come and go: whose step fits depends on who is there."""
    draw = random.Random(7)
    for _ in range(60):
        jobs = [
            {
                "name": f"a{i}",
                "nodes": draw.choice([1, 10, 100]),
                "release": draw.choice([0, 1, 2.5, draw.uniform(0, 4)]),
                "profile": {n: draw.uniform(0.5, 1.5) * n for n in sorted(draw.sample(range(1, 7), 4))},
                "phases": [{"compute": 2.0}, {"write": draw.uniform(0.5, 3)}],
            }
            for i in range(draw.randint(3, 9))
        ]
        document: Document = {"platform": {"targets": 6}, "applications": jobs}
        assert decided("tcpu", document) == tcpu(document)


def test_a_transfer_takes_longer_on_a_target_that_is_too_slow() -> None:
    app = {"name": "a", "profile": {1: 4.0, 2: 6.0}, "phases": [{"write": 12.0}]}
    demand = replace(demand_of({"platform": {"targets": 3}, "applications": [app]}), limit=np.array([np.inf, 3.0, 2.0]))
    assert demand.transfer_on(0, np.arange(3)).tolist() == [3.0, 4.0, 6.0]  # 12 at 4, at 3, at 2
    assert demand.transfer_on(1, np.arange(3)).tolist() == [2.0, 2.0, 3.0]  # 3 on each of two, and 2 on the slow one


def test_a_crowded_hour_freezes_nobody_elsewhere() -> None:
    """Four that are there together fill the targets; one that comes when they have left takes all it can use."""
    profile, phases = {1: 1.0, 2: 1.9, 4: 3.5}, [{"compute": 1.0}, {"write": 20.0}]
    crowd = [{"name": name, "profile": profile, "phases": phases} for name in "abcd"]
    late = {"name": "late", "profile": profile, "phases": phases, "release": 1000.0}
    document: Document = {"platform": {"targets": 4}, "applications": [*crowd, late]}
    found = decided("tcpu", document)
    assert found == tcpu(document)
    assert found["late"] == 4
    assert sum(found[name] for name in "abcd") <= 5


def test_who_ends_when_another_starts_is_not_there_with_it() -> None:
    """0.1 + 0.2 is a little more than 0.3."""
    first = {"name": "first", "profile": {1: 1.0}, "phases": [{"compute": 0.1}, {"write": 0.2}]}
    document: Document = {"platform": {"targets": 1}, "applications": [first, first | {"name": "next", "release": 0.3}]}
    demand = demand_of(document)
    assert demand.presence.sums(np.ones(2)).tolist() == [1.0, 1.0]
    assert demand.load(demand.fastest) == pytest.approx(2 / 3)


def test_mckp_gives_targets_that_were_freed() -> None:
    """Two at a time fit; the third comes when the first has left, and takes its target, the lowest."""
    job = {"profile": {1: 1.0, 2: 1.5}, "phases": [{"compute": 1.0}, {"write": 6.0}]}
    releases = {"a": 0.0, "b": 2.0, "c": 5.0}
    jobs = [job | {"name": name, "release": release} for name, release in releases.items()]
    document: Document = {"platform": {"targets": 3}, "applications": jobs}
    demand = demand_of(document)
    option, places = find("mckp").decide(demand, np.random.default_rng(0))
    assert places is not None
    assert placed_of(demand, option, places) == mckp(document) == {"a": [0, 1], "b": [2], "c": [0, 1]}


def test_mckp_shares_the_last_target_from_the_beginning() -> None:
    """The third of three on two targets finds none free: then already the first may not have the last one."""
    job = {"profile": {1: 1.0, 2: 1.5}, "phases": [{"compute": 1.0}, {"write": 6.0}]}
    jobs = [job | {"name": name, "release": release} for name, release in {"a": 0.0, "b": 1.0, "c": 2.0}.items()]
    document: Document = {"platform": {"targets": 2}, "applications": jobs}
    demand = demand_of(document)
    option, places = find("mckp").decide(demand, np.random.default_rng(0))
    assert places is not None
    assert placed_of(demand, option, places) == mckp(document) == {"a": [0], "b": [1], "c": [1]}
