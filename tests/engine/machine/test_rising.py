"""Levels at which resources are full, by hand: who stops where, and what stays when somebody comes or goes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from as_python import as_python
from penstock.engine.machine import levels
from penstock.engine.machine.state import EVEN, FAIR
from penstock.kernels.tournament import empty_tree

inf = np.inf
X, Y, BOTH = [0], [1], [0, 1]


def machine(paths: list[list[int]], capacity: list[float], peak: list[float] | None = None, steady: int = 0) -> Any:
    """Flows over resources, all there. Weights are 1, 2, 3, …; under max-min they are 1."""
    count, resources = len(paths), len(capacity)
    resource = np.array([k for path in paths for k in path])
    owner = np.repeat(np.arange(count), [len(path) for path in paths])
    edges = np.argsort(resource, kind="stable")
    members = np.bincount(resource, minlength=resources)
    network = SimpleNamespace(
        path=np.cumsum([0, *map(len, paths)]),
        resource=resource,
        edge_flow=owner,
        room=np.concatenate([[0], np.cumsum(members)]),
        weight=np.arange(count) + 1.0,
        even=np.ones(count),
    )
    flows = SimpleNamespace(
        member=edges, members=members, use=np.ones(resource.size), peak=np.array(peak or [inf] * count)
    )
    desk = SimpleNamespace(
        capacity=np.array(capacity, float),
        resources=np.arange(resources),
        flows=np.arange(count),
        waiting=np.arange(resources),
        levels=empty_tree(resources),
        full=np.zeros(resources),
        bottom=np.full(resources, -1.0),
        bar=np.zeros(1),
        dirty=np.zeros(resources, np.int64),
        frozen=np.zeros(count, np.int64),
        stop=np.full(count, inf),
        **{name: np.zeros(count) for name in ("given", "base", "use", "weight", "limit")},
        edges=np.zeros(count, np.int64),
    )
    rules = SimpleNamespace(
        part=np.zeros(resources, np.int64), steady=np.array([steady]), mode=np.full(resources, FAIR)
    )
    return SimpleNamespace(network=network, flows=flows, desk=desk, rules=rules)


def risen(whole: Any, even: bool = False) -> list[float]:
    as_python(levels.rise_together)(whole, whole.desk.capacity.size, whole.desk.flows.size, even)
    return [float(each) for each in whole.desk.given]


@pytest.mark.parametrize("steady", [0, 1])
def test_all_rise_until_what_they_cross_is_full(steady: int) -> None:
    whole = machine([X, BOTH, Y], [6, 20], steady=steady)
    # x is full at 2, with 2 and 4 bytes/s; y has 16 left for the third, whose weight is 3.
    assert risen(whole) == pytest.approx([2.0, 4.0, 16.0])
    assert whole.desk.full.tolist() == pytest.approx([2.0, 16 / 3])
    assert whole.desk.stop.tolist() == pytest.approx([2.0, 2.0, 16 / 3])
    assert risen(machine([X, BOTH, Y], [6, 20], steady=steady), even=True) == pytest.approx([3.0, 3.0, 17.0])


@pytest.mark.parametrize("steady", [0, 1])
def test_who_has_its_peak_leaves_the_rest(steady: int) -> None:
    whole = machine([X, X], [9], [inf, 4.0], steady=steady)
    assert risen(whole) == pytest.approx([5.0, 4.0])
    whole = machine([X, BOTH], [9, 9], [1.0, 4.0], steady=steady)
    assert risen(whole) == [1.0, 4.0]  # nothing is full
    assert whole.desk.full.tolist() == [inf, inf] and whole.desk.stop.tolist() == [inf, inf]


def test_what_can_be_next_to_nothing_has_nothing() -> None:
    whole = machine([X, X], [9], [inf, 2e-9])
    assert risen(whole) == [9.0, 0.0] and whole.desk.stop[1] == 0.0
    assert risen(machine([X, X], [9], [inf, 3e-9])) == pytest.approx([9.0, 3e-9])


def test_a_resource_without_room_has_nothing_to_give() -> None:
    assert risen(machine([X, Y], [0, 6])) == pytest.approx([0.0, 6.0])
    assert risen(machine([X, Y], [6, 0])) == pytest.approx([6.0, 0.0])


def test_many_resources_are_settled_in_their_order() -> None:
    chain = [[k, k + 1] for k in range(39)]
    whole = machine(chain, [2.0 + (7 * k) % 40 for k in range(40)])
    found = np.array(risen(whole, even=True))
    used = np.zeros(40)
    for rate, path in zip(found, chain, strict=True):
        used[path] += rate
    full = used >= whole.desk.capacity * (1 - 1e-9)
    assert (used <= whole.desk.capacity * (1 + 1e-9)).all()
    for rate, path in zip(found, chain, strict=True):  # max-min: on one full resource nobody has more than it
        assert any(full[k] and rate >= max(found[max(0, k - 1) : k + 1]) - 1e-9 for k in path)


def test_a_level_goes_by_what_stopped_below_the_bar() -> None:
    whole = machine([X, X, X], [20])
    whole.desk.stop[:], whole.desk.given[:] = [1.0, 2.0, inf], [7.0, 5.0, 0.0]
    full_at = as_python(levels._full_at)
    assert full_at(whole, 0, inf, False) == pytest.approx((20 - 7 - 5) / 3)
    assert full_at(whole, 0, 2.0, False) == pytest.approx((20 - 7) / 5)
    assert full_at(whole, 0, 0.0, False) == pytest.approx(20 / 6)
    assert full_at(whole, 0, inf, True) == pytest.approx(8.0)
    whole.flows.use[:] = 2.0
    assert full_at(whole, 0, 0.0, False) == pytest.approx(20 / 12)
    assert full_at(whole, 0, 2.0, False) == pytest.approx((20 - 14) / 10)
    whole.desk.given[:] = [7.0, 3.0, 0.0]
    assert full_at(whole, 0, inf, False) == 0.0  # no room
    whole.desk.stop[2] = 3.0
    assert full_at(whole, 0, inf, False) == inf  # nobody rises


def test_what_is_below_the_levels_of_what_comes_and_goes_stays() -> None:
    whole = machine([X, Y, Y], [6, 30], steady=1)
    whole.desk.full[:], whole.desk.stop[:], whole.desk.given[:] = [6.0, 6.0], [6.0, 6.0, 6.0], [6.0, 12.0, 18.0]
    below = as_python(levels.unchanged_below)
    assert below(whole, 1) == 6.0
    whole.desk.full[0] = 4.0  # as it was before somebody left
    assert below(whole, 1) == 4.0
    whole.desk.full[0], whole.desk.capacity[0] = 6.0, 5.0  # as if somebody had come
    assert below(whole, 1) == 5.0
    assert below(whole, 2) == 5.0
    whole.desk.capacity[:] = [6.0, 10.0]
    assert below(whole, 1) == 6.0 and below(whole, 2) == pytest.approx(2.0)
    whole.rules.mode[1] = EVEN
    assert below(whole, 2) == pytest.approx(5.0)
    whole.rules.steady[0] = 0
    assert below(whole, 2) == inf


def test_a_first_guess_is_not_below_the_bar() -> None:
    whole = machine([X, X], [6], steady=1)
    whole.desk.bar[0], whole.desk.stop[:], whole.desk.given[:] = 1.5, [1.0, inf], [1.0, 0.0]
    guess = as_python(levels._first_guess)
    assert guess(whole, 0, False) == 2.0 and whole.desk.bottom[0] == 2.0  # 6 of 1 + 2, as if nobody had stopped
    assert whole.desk.dirty[0] == 1  # it is asked again when it seems to be the lowest
    whole.desk.bar[0], whole.desk.bottom[0] = 3.0, 0.0
    assert guess(whole, 0, False) == 3.0 and whole.desk.bottom[0] == 0.0  # known already
    for bar, again in [(0.0, 0), (0.5, 1)]:
        whole.desk.bar[0] = bar
        guess(whole, 0, False)
        assert whole.desk.dirty[0] == again
    whole.rules.steady[0] = 0
    assert guess(whole, 0, False) == pytest.approx((6 - 1) / 2)


def test_unfrozen_flows_side_by_side() -> None:
    whole = machine([X, X, BOTH], [6, 6], [4.0, 5.0, 7.0])
    whole.desk.frozen[1], whole.desk.base[:], whole.flows.use[:] = 1, [1.0, 1.0, 2.0], [10.0, 20.0, 30.0, 40.0]
    assert as_python(levels.collect)(whole, 0, False) == 2
    desk = whole.desk
    assert desk.edges[:2].tolist() == [0, 2] and desk.use[:2].tolist() == [10.0, 30.0]
    assert desk.weight[:2].tolist() == [1.0, 3.0] and desk.limit[:2].tolist() == [3.0, 5.0]
    assert as_python(levels.collect)(whole, 0, True) == 2 and desk.weight[:2].tolist() == [1.0, 1.0]
