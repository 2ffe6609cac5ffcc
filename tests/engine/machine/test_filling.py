"""Flows that rise together, by hand: the level at which a resource is full, and a whole path alone."""

from __future__ import annotations

import numpy as np
import pytest

from as_python import as_python
from penstock.engine.machine.filling import fill_alone, level_of

inf = np.inf


def level(use: list[float], weight: list[float], limit: list[float], room: float, least: float = 0.0) -> float:
    arrays = (np.array(each) for each in (use, weight, limit))
    return float(as_python(level_of)(*arrays, len(use), room, least))


def test_a_resource_is_full_at_one_level() -> None:
    assert level([1, 1], [1, 3], [inf, inf], 8) == 2.0
    assert level([2, 0.5], [1, 4], [inf, inf], 8) == 2.0  # 2·1·α + 0.5·4·α


def test_who_is_at_its_limit_leaves_the_rest_to_the_others() -> None:
    assert level([1, 1], [1, 1], [1, inf], 8) == 7.0
    assert level([2, 1], [1, 1], [1, inf], 8) == 6.0
    assert level([1, 1, 1], [1, 1, 1], [1, 4, inf], 12) == 7.0  # 12 − 1 − 4, in three steps
    assert level([1, 1], [1, 1], [4, inf], 8) == 4.0  # at its limit just there


def test_if_all_have_their_limits_there_is_no_level() -> None:
    assert level([1, 1], [1, 1], [1, 2], 8) == inf
    assert level([], [], [], 8) == inf
    assert level([1, 1], [1, 1], [3, 3], 6, 3.0) == inf


def test_it_is_not_below_a_level_that_is_known() -> None:
    assert level([1], [1], [inf], 2, 5.0) == 5.0
    assert level([1], [1], [inf], 8, 5.0) == 8.0
    assert level([1, 1], [1, 1], [9, inf], 2, 10.0) == 10.0  # more is taken than there is


def test_only_the_flows_that_are_counted() -> None:
    assert as_python(level_of)(np.ones(3), np.ones(3), np.full(3, inf), 2, 8.0, 0.0) == 4.0


def alone(
    paths: list[list[tuple[int, float]]], capacity: list[float], weight: list[float], limit: list[float]
) -> list[float]:
    """The rates of flows; a path has resources and what a unit takes of each. Before and behind stand others."""
    around: list[list[tuple[int, float]]] = [[(0, 1.0)], *paths, [(0, 1.0)]]
    path = np.cumsum([0, *map(len, around)])
    edges = [edge for each in around for edge in each]
    resource, use = np.array([k for k, _ in edges]), np.array([share for _, share in edges])
    rates = np.full(len(around), 9.0)
    given = (np.array([1.0, *each, 1.0]) for each in (weight, limit))
    room = np.full(len(capacity), 99.0)
    as_python(fill_alone)(path, resource, use, np.array(capacity), *given, room, 1, len(around) - 1, rates)
    assert (rates[0], rates[-1]) == (9.0, 9.0)
    return [float(rate) for rate in rates[1:-1]]


def test_one_flow_has_the_least_on_its_path() -> None:
    assert alone([[(0, 1.0), (1, 1.0)]], [5, 3], [1], [9]) == [3.0]
    assert alone([[(0, 1.0), (1, 1.0)]], [5, 3], [1], [2]) == [2.0]
    assert alone([[(0, 2.0), (1, 1.0)]], [5, 3], [1], [9]) == [2.5]
    assert alone([[]], [5], [1], [9]) == [9.0]


def test_flows_rise_by_their_weights_until_something_is_full() -> None:
    assert alone([[(0, 1.0)], [(0, 1.0)]], [8, 0], [1, 3], [9, 9]) == pytest.approx([2.0, 6.0])
    # The second stops at its limit, and leaves the rest.
    assert alone([[(0, 1.0)], [(0, 1.0)]], [8, 0], [1, 3], [9, 3]) == pytest.approx([5.0, 3.0])
    # x is full at 2 for the first two; the third has y with one of them: 10 − 2.
    assert alone([[(0, 1.0)], [(0, 1.0), (1, 1.0)], [(1, 1.0)]], [4, 10], [1, 1, 1], [9, 9, 9]) == pytest.approx(
        [2, 2, 8]
    )
    # A unit of the first takes 3 of x.
    assert alone([[(0, 3.0)], [(0, 1.0)]], [8, 0], [1, 1], [9, 9]) == pytest.approx([2.0, 2.0])


def test_those_that_stop_at_one_level_stop_together() -> None:
    # Both resources are full at 2, and who crosses both stops there; what x has left stays.
    paths = [[(0, 1.0), (1, 1.0)], [(0, 1.0)], [(1, 1.0)]]
    assert alone(paths, [4, 4 * (1 + 1e-12)], [1, 1, 1], [9, 9, 9]) == pytest.approx([2.0, 2.0, 2.0])
    assert alone(paths, [5, 4], [1, 1, 1], [2, 9, 9]) == pytest.approx([2.0, 3.0, 2.0])
    assert alone([[(0, 1.0)], [(0, 1.0)]], [0, 0], [1, 1], [9, 9]) == [0.0, 0.0]
    assert alone([[(0, 1.0)], [(1, 1.0)]], [0, 5], [1, 1], [2, 9]) == [0.0, 5.0]  # and the other rises on
