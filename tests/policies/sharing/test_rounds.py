"""Sharing over several resources against a slow twin, a closed form, and what must hold of any policy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.kernels.arrays import Floats, Ints
from penstock.policies.sharing import rounds
from penstock.policies.sharing.rounds import share_out
from reference import rounds as slow
from reference.machine_shares import Shared, allocate, moment_of, operation

CAPACITY = st.floats(5.0, 100.0)


@st.composite
def networks(draw: st.DrawFn) -> tuple[Floats, Floats, Floats]:
    """Shares, capacities and limits: some flows over some resources, none above what its tightest one carries."""
    resources, flows = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    share = np.zeros((resources, flows))
    for flow in range(flows):
        crossed = draw(st.sets(st.integers(0, resources - 1), min_size=1))
        share[sorted(crossed), flow] = 1.0 / len(crossed) if draw(st.booleans()) else 1.0
    capacity = np.array(draw(st.lists(CAPACITY, min_size=resources, max_size=resources)))
    with np.errstate(divide="ignore"):
        tightest = np.where(share > 0.0, capacity[:, None] / share, np.inf).min(axis=0)
    wish = np.array(draw(st.lists(st.floats(0.05, 1.0), min_size=flows, max_size=flows)))
    return share, capacity, wish * tightest


def asking(kinds: Sequence[str]) -> object:
    """The policies of the twin, resource by resource."""

    def ask(k: int, flows: Ints, limit: Floats, room: float, had: Floats) -> Floats:
        names = [f"{flow:03}" for flow in flows]
        given = getattr(slow, kinds[k])(room, dict(zip(names, limit.tolist(), strict=True)))
        return np.array([given[name] for name in names])

    return ask


def plain(share: Floats, capacity: Floats, limit: Floats) -> tuple[dict[str, dict[str, float]], dict[str, float], dict[str, float]]:  # fmt: skip  # noqa: E501
    names = [f"{flow:03}" for flow in range(limit.size)]
    crossing = {name: {str(k): float(share[k, j]) for k in range(len(share)) if share[k, j] > 0.0} for j, name in enumerate(names)}  # fmt: skip  # noqa: E501
    return crossing, {str(k): float(size) for k, size in enumerate(capacity)}, dict(zip(names, limit.tolist(), strict=True))  # fmt: skip  # noqa: E501


def shared(network: tuple[Floats, Floats, Floats], kinds: Sequence[str], able: Floats | None = None) -> Floats:
    share, capacity, limit = network
    posted = np.zeros(limit.size)
    return share_out(share, capacity, limit, limit if able is None else able, posted, asking(kinds))  # type: ignore[arg-type]


@given(networks())
def test_fair_share_everywhere_is_max_min_in_the_fraction_of_the_limit(network: tuple[Floats, Floats, Floats]) -> None:
    rates = shared(network, ["proportional"] * 4)
    assert rates == pytest.approx(list(slow.max_min(*plain(*network)).values()), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("kind", ["proportional", "in_order"])
@given(network=networks())
def test_one_policy_everywhere_is_as_the_twin_says(kind: str, network: tuple[Floats, Floats, Floats]) -> None:
    crossing, capacity, limit = plain(*network)
    expected = slow.rounds(crossing, capacity, limit, dict.fromkeys(capacity, getattr(slow, kind)))
    found = shared(network, [kind] * 4)
    assert found == pytest.approx([expected[name] for name in sorted(expected)], rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(("kind", "policy"), [("proportional", "fair-share"), ("in_order", "fcfs")])
@given(network=networks())
def test_the_controller_shares_as_a_whole_machine_does(
    kind: str, policy: str, network: tuple[Floats, Floats, Floats]
) -> None:
    """The rounds of the live core and those of a simulated machine (models §9) are written twice, and are one rule."""
    crossing, capacity, limit = plain(*network)
    flows = [flow for name, uses in crossing.items() for flow in operation(name, [(uses, limit[name])], capacity)]
    facts = {
        name: {"posted": float(place), "release": 0.0, "nodes": 1, "progress": 1.0, "time_left": 1.0}
        for place, name in enumerate(sorted(crossing))
    }
    machine = {name: Shared(size, policy) for name, size in capacity.items()}
    rates, _ = allocate(machine, capacity, flows, moment_of(facts, now=10.0))
    assert shared(network, [kind] * 4) == pytest.approx([rates[flow] for flow in flows], rel=1e-6, abs=1e-6)


@given(networks(), st.lists(st.sampled_from(["proportional", "in_order"]), min_size=4, max_size=4), st.data())
def test_capacities_hold_and_nothing_is_left_that_somebody_can_use(
    network: tuple[Floats, Floats, Floats], kinds: list[str], data: st.DataObject
) -> None:
    share, capacity, limit = network
    able = limit * np.array(data.draw(st.lists(st.floats(0.1, 1.0), min_size=limit.size, max_size=limit.size)))
    rates = shared(network, kinds, able)
    used = share @ rates
    assert (rates >= 0.0).all() and (rates <= able * (1 + 1e-9)).all()
    assert (used <= capacity * (1 + 1e-9)).all()
    full = used >= capacity * (1 - 1e-6)
    content = rates >= able * (1 - 1e-6)
    assert all(content[j] or (full & (share[:, j] > 0.0)).any() for j in range(limit.size))


def test_a_flow_on_a_tight_resource_takes_nothing_from_its_neighbour() -> None:
    """x = 100, y = 20; a on both, b on x: a third of x for a, by what it could use of it; it was 28.6, then 13.3."""
    share = np.array([[0.5, 1.0], [0.5, 0.0]])
    rates = shared((share, np.array([100.0, 20.0]), np.array([40.0, 100.0])), ["proportional"] * 2)
    assert rates == pytest.approx([100.0 / 3, 250.0 / 3])


def test_a_circle_of_different_policies_comes_to_an_end() -> None:
    """Each resource waits for the other: who has the least of its limit is frozen, and the rest is offered again."""
    share = np.ones((2, 2))
    capacity, limit = np.array([10.0, 10.0]), np.array([10.0, 10.0])

    def ask(k: int, flows: Ints, most: Floats, room: float, had: Floats) -> Floats:
        order = flows if k == 0 else flows[::-1]
        given, left = np.zeros(flows.size), room
        for flow in order:
            i = int(np.flatnonzero(flows == flow)[0])
            given[i] = min(left, most[i])
            left -= given[i]
        return given

    rates = share_out(share, capacity, limit, limit, np.array([1.0, 2.0]), ask)
    assert rates.sum() == pytest.approx(10.0)


def test_a_policy_that_idles_on_purpose_keeps_its_rest() -> None:
    def half(k: int, flows: Ints, limit: Floats, room: float, had: Floats) -> Floats:
        return np.minimum(limit, 0.5 * room / flows.size)

    share, limit = np.array([[1.0, 1.0]]), np.array([100.0, 100.0])
    assert share_out(share, np.array([100.0]), limit, limit, np.zeros(2), half) == pytest.approx([25.0, 25.0])


def test_a_flow_that_crosses_nothing_has_all_that_it_can_use() -> None:
    limit = np.array([3.0])
    assert share_out(np.zeros((1, 1)), np.array([1.0]), limit, limit, np.zeros(1), asking([])) == [3.0]  # type: ignore[arg-type]


# --- each step by itself, with numbers: see `make mutate`

ONE, OTHER, BOTH = [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]


def shares(*flows: list[float]) -> Floats:
    """Of two resources, what a unit of each flow takes."""
    return np.array(flows).T


def gains(share: Floats, room: list[float], able: list[float], limit: float = 10.0) -> list[bool]:
    return rounds._can_gain(share, np.array(room), np.full(len(able), limit), np.array(able)).tolist()


def test_who_can_gain() -> None:
    share = shares(ONE, OTHER, BOTH, [0.0, 0.0], [0.5, 0.0])
    assert gains(share, [5.0, 5.0], [5.0] * 5) == [True, True, True, False, True]  # one crosses nothing
    assert gains(share, [5.0, 0.0], [5.0] * 5) == [True, False, False, False, True]  # room is needed everywhere
    assert gains(share, [5.0, 5.0], [0.0, 5.0, 0.0, 5.0, 5.0]) == [False, True, False, False, True]
    assert gains(shares(ONE), [1e-8, 0.0], [5.0]) == [False] and gains(shares(ONE), [3e-8, 0.0], [5.0]) == [True]
    assert gains(shares([0.25, 0.0]), [0.5e-8, 0.0], [5.0]) == [True]  # a quarter of it is enough
    assert gains(shares(ONE), [5.0, 0.0], [1e-8]) == [False] and gains(shares(ONE), [5.0, 0.0], [3e-8]) == [True]


def test_what_resources_grant() -> None:
    asked: list[tuple[int, list[int], list[float], float]] = []

    def ask(k: int, flows: Ints, limit: Floats, room: float, had: Floats) -> Floats:
        asked.append((k, flows.tolist(), limit.tolist(), room))
        return np.minimum(limit, room / flows.size)

    share = shares(ONE, BOTH, [0.5, 0.0], OTHER)
    flows, limit = np.array([True, True, True, False]), np.array([9.0, 8.0, 6.0, 7.0])
    found = rounds._grants(share, np.array([6.0, 0.5]), limit, flows, np.zeros(4), ask)
    assert asked == [(0, [0, 1, 2], [9.0, 8.0, 3.0], 6.0), (1, [1], [8.0], 0.5)]
    assert found.tolist() == [[2.0, 2.0, 4.0, np.inf], [np.inf, 0.5, np.inf, np.inf]]
    asked.clear()
    found = rounds._grants(share, np.array([-1.0, 0.0]), limit, flows, np.zeros(4), ask)
    assert not asked and found.min(axis=0).tolist() == [0.0, 0.0, 0.0, np.inf]


def settled(grants: list[list[float]], able: float = 9.0, open_flows: tuple[bool, ...] = (True, True, True)) -> Any:
    """Of three flows: the first on one resource, the second on both, the third on the other."""
    table, most = np.array(grants), np.full(3, able)
    least = np.minimum(table.min(axis=0), most)
    return rounds._settled(
        shares(ONE, BOTH, OTHER), table, least, np.full(3, 10.0), most, np.array(open_flows)
    ).tolist()


def test_flows_of_a_resource_that_grants_each_its_least_are_settled() -> None:
    inf = np.inf
    assert settled([[4.0, 4.0, inf], [inf, 6.0, 3.0]]) == [True, True, False]
    assert settled([[4.0, 4.0, inf], [inf, 4.0, 3.0]]) == [True, True, True]
    assert settled([[4.0, 4.0, inf], [inf, 4.0 + 0.9e-8, 3.0]]) == [True, True, True]  # rounding, of the limit
    assert settled([[4.0, 4.0, inf], [inf, 4.0 + 2e-8, 3.0]]) == [True, True, False]
    # What one can use is granted, though its resource waits for another flow.
    assert settled([[4.0, 5.0, inf], [inf, 4.0, 5.0]], able=5.0) == [False, True, True]
    assert settled([[9.0, 5.0, inf], [inf, 4.0, 5.0]], able=9.0) == [True, True, True]
    # Who is frozen has no say.
    assert settled([[4.0, inf, inf], [inf, inf, 5.0]], open_flows=(True, False, True)) == [True, False, True]
    assert settled([[4.0, 5.0, inf], [inf, 4.0, 6.0]], able=5.0, open_flows=(True, True, False))[2] is False


def test_who_is_worst_off() -> None:
    def worst(least: list[float], limit: list[float], posted: list[float], there: list[bool]) -> int:
        return rounds._worst_off(np.array(least), np.array(limit), np.array(posted), np.array(there))

    everyone = [True] * 3
    assert worst([2.0, 3.0, 4.0], [10.0, 20.0, 40.0], [0, 0, 0], everyone) == 2  # a tenth
    assert worst([2.0, 3.0, 4.0], [10.0, 20.0, 40.0], [0, 0, 0], [True, True, False]) == 1
    assert worst([1.0, 1.0, 1.0], [10.0, 10.0, 10.0], [1, 3, 2], everyone) == 1  # who posted last
    assert worst([1.0, 1.0, 1.0], [10.0, 10.0, 10.0], [3, 3, 2], everyone) == 1  # then the last
    assert worst([1.0, 1.0 + 0.9e-8, 2.0], [10.0, 10.0, 10.0], [1, 2, 3], everyone) == 1  # alike
    assert worst([1.0, 1.0 + 2e-8, 2.0], [10.0, 10.0, 10.0], [1, 2, 3], everyone) == 0


def test_what_a_circle_leaves_is_offered_again_on_top_of_what_was_given() -> None:
    """On one resource the first flow goes first, on the other the second."""
    asked: list[tuple[int, list[int], list[float], float, list[float]]] = []

    def ask(k: int, flows: Ints, limit: Floats, room: float, had: Floats) -> Floats:
        asked.append((k, flows.tolist(), limit.tolist(), room, had.tolist()))
        given, left = np.zeros(flows.size), room
        for i in range(flows.size) if k == 0 else reversed(range(flows.size)):
            given[i] = min(left, limit[i])
            left -= given[i]
        return given

    limit = np.array([10.0, 10.0])
    rates = share_out(shares(BOTH, BOTH), np.array([12.0, 13.0]), limit, limit, np.array([2.0, 1.0]), ask)
    # First round: x gives 10 and 2, y 3 and 10; the least are 3 and 2. The second has less, is frozen, and the first
    # then gets all that it can use. Of the first resource nothing is left.
    assert rates.tolist() == [10.0, 2.0]
    assert asked[:2] == [(0, [0, 1], [10.0, 10.0], 12.0, [0.0, 0.0]), (1, [0, 1], [10.0, 10.0], 13.0, [0.0, 0.0])]
    assert asked[2:4] == [(0, [0], [10.0], 10.0, [0.0, 2.0]), (1, [0], [10.0], 11.0, [0.0, 2.0])]
    assert len(asked) == 4


def test_what_a_policy_leaves_idle_is_offered_again_only_after_a_circle() -> None:
    """The first resource gives away half of what it has, the other goes by the order of its flows."""

    def ask(k: int, flows: Ints, limit: Floats, room: float, had: Floats) -> Floats:
        if k == 0:
            return np.minimum(limit, 0.5 * room / flows.size)
        given = np.minimum(limit, room - np.concatenate([[0.0], np.cumsum(limit)[:-1]]))
        return np.maximum(0.0, given)

    limit = np.full(3, 10.0)
    # The third has nothing at first, but the second leaves 8 of the other resource.
    rates = share_out(shares(ONE, BOTH, OTHER), np.array([8.0, 10.0]), limit, limit, np.zeros(3), ask)
    assert rates.tolist() == [2.0, 2.0, 8.0]


@pytest.mark.parametrize("first", [1.0, 0.0])
def test_a_second_pass_goes_by_what_is_left(first: float) -> None:
    """Both resources give each flow half of its limit the first time; that waits in a circle, and leaves room."""
    asked: list[tuple[int, list[float], float, list[float]]] = []

    def ask(k: int, flows: Ints, limit: Floats, room: float, had: Floats) -> Floats:
        asked.append((k, limit.tolist(), room, had.tolist()))
        if had.any() or flows.size == 1:
            return np.minimum(limit, room / flows.size)
        return np.array([first, 4.0]) if k == 0 else np.array([4.0, 2.0])

    limit, able = np.array([10.0, 10.0]), np.array([9.0, 8.0])
    rates = share_out(shares(BOTH, BOTH), np.array([20.0, 20.0]), limit, able, np.zeros(2), ask)
    # 1 or 0, and 2, a circle: the first is frozen, the second then has all that it can use. In the next pass the first
    # may have the rest of its limit, of what is left, and is able to use 1 less.
    assert rates.tolist() == [9.0, 8.0]
    assert asked[-2:] == [(k, [10.0 - first], 12.0 - first, [first, 8.0]) for k in range(2)]
