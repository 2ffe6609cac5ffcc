"""Targets taken out of service: what used them moves, and nothing else does."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from engine.targets.test_engine import Document, Plan, close, job, numbers, plans, run, scenario_of
from penstock import Scenario
from penstock.errors import InvalidOption
from penstock.studies.targets import Allotment, Move, allocate, moves
from reference.allocations import allowed, load
from strategies import target_documents


@st.composite
def drains(draw: st.DrawFn) -> tuple[Document, Plan, set[int]]:
    """An arrangement, and some of its targets, but not all."""
    document = draw(target_documents(most=6))
    listed = document["platform"]["targets"]
    size = listed if isinstance(listed, int) else len(listed)
    assume(size > 1)
    out = draw(st.sets(st.integers(0, size - 1), min_size=1, max_size=size - 1))
    return document, draw(plans(document)), out


def impossible(document: Document, left: int) -> list[str]:
    """Who cannot do with so few targets."""
    return [each["name"] for each in document["applications"] if min(allowed(document, each)) > left]


@settings(max_examples=settings().max_examples // 2)
@given(drains())
def test_exactly_what_was_on_removed_targets_moves(drain: tuple[Document, Plan, set[int]]) -> None:
    document, plan, out = drain
    before = run(document, plan)
    left = len(before.targets) - len(out)
    assume(not impossible(document, left))
    after = run(document, plan, without=sorted(out))
    expected_moves = 0
    for each, whole in zip(after.applications, document["applications"], strict=True):
        old, new = set(plan[each.name]), set(each.targets)
        assert not new & out
        if len(old) <= left:
            assert each.count == len(new) == len(old)
            assert old - out <= new  # nothing else moves
            expected_moves += len(old & out)
        else:
            assert each.count == len(new) == max(n for n in allowed(document, whole) if n <= left)
            assert len(old & new) == min(len(new), len(old - out))  # as much as can stay does
            expected_moves += len(old - new)
    assert len(moves(before, after)) == expected_moves
    assert [target.in_service for target in after.targets] == [i not in out for i in range(len(after.targets))]
    assert all(target.applications == 0 and target.busy == 0 == target.stress for target in _out(after))
    counts = {each.name: each.count for each in after.applications}
    assert after.load == close(load(document, counts) * len(after.targets) / left)


def _out(allotment: Allotment) -> list[Any]:
    return [target for target in allotment.targets if not target.in_service]


@settings(max_examples=settings().max_examples // 2)
@given(drains())
def test_who_uses_none_of_them_is_left_alone(drain: tuple[Document, Plan, set[int]]) -> None:
    document, plan, out = drain
    untouched = {name for name, places in plan.items() if not set(places) & out}
    assume(not impossible(document, len(run(document, plan).targets) - len(out)))
    before, after = run(document, plan), run(document, plan, without=sorted(out))
    assert {each.name for each in after.applications if list(each.targets) == plan[each.name]} == untouched
    assert {move.application for move in moves(before, after)} == set(plan) - untouched


@settings(max_examples=settings().max_examples // 2)
@given(drains())
def test_moves_lead_from_the_one_to_the_other(drain: tuple[Document, Plan, set[int]]) -> None:
    document, plan, out = drain
    before = run(document, plan)
    names = [target.name for target in before.targets]
    assume(not impossible(document, len(names) - len(out)))
    after = run(document, plan, without=sorted(out))
    held = {name: {names[i] for i in places} for name, places in plan.items()}
    for move in moves(before, after):
        held[move.application].remove(move.source)
        if move.destination is not None:
            assert move.destination not in held[move.application]
            held[move.application].add(move.destination)
    assert held == {each.name: {names[i] for i in each.targets} for each in after.applications}


@settings(max_examples=settings().max_examples // 2)
@given(drains())
def test_what_is_impossible_is_refused_by_name(drain: tuple[Document, Plan, set[int]]) -> None:
    document, plan, out = drain
    left = len(run(document, plan).targets) - len(out)
    for each in document["applications"]:
        # Whoever can do with fewer now no longer can.
        each["profile"] = {n: rate for n, rate in each["profile"].items() if n == len(plan[each["name"]])}
    stuck = impossible(document, left)
    assume(stuck)
    with pytest.raises(InvalidOption) as refused:
        run(document, plan, without=sorted(out))
    assert f"{stuck[0]!r}" in str(refused.value) and f"only {left} stay in service" in str(refused.value)


@settings(max_examples=settings().max_examples // 2)
@given(document=target_documents(), allocation=st.sampled_from(["static", "tcpu", "best-bandwidth"]))
def test_after_policies_as_after_plans(document: Document, allocation: str) -> None:
    site = Scenario.from_document(document)
    before = allocate(site, allocation)
    assume(len(before.targets) > 1 and not impossible(document, len(before.targets) - 1))
    plan = {each.name: list(each.targets) for each in before.applications}
    after = numbers(allocate(site, allocation, without=[0]))
    names = {key: after[key] for key in ("allocation", "placement")}
    assert after == numbers(run(document, plan, without=[0], interval=None)) | names


@settings(max_examples=settings().max_examples // 2)
@given(data=st.data())
def test_taking_out_what_nobody_uses_changes_only_the_load(data: st.DataObject) -> None:
    document = data.draw(target_documents())
    plan = data.draw(plans(document))
    listed = document["platform"]["targets"]
    document["platform"]["targets"] = listed + 2 if isinstance(listed, int) else [*listed, "spare", "another"]
    before = run(document, plan)
    unused = [i for i, target in enumerate(before.targets) if target.applications == 0]
    assert len(unused) >= 2
    after = run(document, plan, without=unused)
    assert moves(before, after) == ()
    assert after.applications == before.applications
    assert (after.interval, after.mean_io_slowdown) == (before.interval, before.mean_io_slowdown)


# `big` carries most, so it moves first, to the least stressed target that it does not use yet.
EXAMPLE = scenario_of(
    ["w", "x", "y", "z"],
    job("big", {2: 2.0}, ("compute", 2), ("write", 16)),
    job("small", {1: 1.0}, ("compute", 8), ("write", 2)),
    job("middle", {1: 1.0}, ("compute", 5), ("write", 5)),
)


def test_a_worked_example() -> None:
    plan = {"big": ["w", "x"], "small": ["w"], "middle": ["z"]}
    before = run(EXAMPLE, plan)
    assert [target.stress for target in before.targets] == close([0.8 + 0.2, 0.8, 0.0, 0.5])
    after = run(EXAMPLE, plan, without=["w"])
    assert moves(before, after) == (Move("big", "w", "y"), Move("small", "w", "z"))
    assert [target.stress for target in after.targets] == close([0.0, 0.8, 0.8, 0.5 + 0.2])
    assert after.imbalance == close(0.1)  # of those in service
    assert after.load == close(2.3 / 3)


def test_names_and_places_and_repetitions_are_the_same() -> None:
    plan = {"big": [0, 1], "small": [0], "middle": [3]}
    assert numbers(run(EXAMPLE, plan, without=["w", 0, "0"])) == numbers(run(EXAMPLE, plan, without=["w"]))


def test_who_has_more_than_are_left_gets_less() -> None:
    document = scenario_of(4, job("a", {1: 1.0, 2: 1.9, 4: 3.0}, ("write", 4)))
    after = run(document, {"a": [0, 1, 2, 3]}, without=[1])
    assert after.applications[0].count == 2 and 1 not in after.applications[0].targets
    before = run(document, {"a": [0, 1, 2, 3]})
    assert [move.destination for move in moves(before, after)] == [None, None]


@pytest.mark.parametrize(
    ("without", "words"),
    [
        ([0, 1, 2, 3], "all 4 targets are taken out; at least one must stay in service"),
        ([0, 1, 2], "application 'big' uses at least 2 targets by its profile; only 1 stay in service"),
        (["v"], "without: there is no target 'v'"),
        ([4], "without: there is no target '4'"),
        ([-1], "without: there is no target '-1'"),
    ],
)
def test_refusals(without: list[Any], words: str) -> None:
    with pytest.raises(InvalidOption) as refused:
        run(EXAMPLE, {"big": [0, 1], "small": [0], "middle": [3]}, without=without)
    assert words in str(refused.value) and "\n" not in str(refused.value)


def test_what_is_given_up_no_longer_weighs() -> None:
    """`wide` keeps one of its four targets; the next to move finds the others empty."""
    wide = job("wide", {1: 1.0, 4: 3.0}, ("compute", 1.0), ("write", 1.0))
    small = job("small", {1: 1.0}, ("compute", 2.0), ("write", 1.0))
    document = scenario_of(4, wide, small)
    after = run(document, {"wide": [0, 1, 2, 3], "small": [3]}, without=[3])
    assert {each.name: each.targets for each in after.applications} == {"wide": (0,), "small": (1,)}
