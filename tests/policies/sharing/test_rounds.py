"""Sharing over several resources against a slow twin, a closed form, and what must hold of any policy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.kernels.arrays import Floats, Ints
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
