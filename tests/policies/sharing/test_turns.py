"""Whose turn it is, by hand: places in the order, from when to when each takes part, and how many operations it has."""

from __future__ import annotations

import numpy as np
import pytest

from as_python import as_python
from penstock.kernels.arrays import SAME, Floats
from penstock.policies.sharing import turns
from penstock.policies.sharing.foresight import Foresight
from penstock.policies.sharing.view import empty_view

inf = np.inf
Job = tuple[float, float, float]  # start, until, operations left


def memory_of(turn: int, free: float, *jobs: Job) -> Floats:
    """Applications stand in the order backwards."""
    places = [(len(jobs) - 1 - place, *job) for place, job in enumerate(jobs)]
    return np.array([turn, free, *np.ravel(places)])


def awaited(memory: Floats, now: float) -> tuple[int, float, float]:
    """The place, then the turn and since when the storage is free, as remembered."""
    place = as_python(turns._awaited)(memory, (memory.size - 2) // 4, now)
    return place, float(memory[0]), float(memory[1])


def test_what_is_remembered_at_first() -> None:
    none = np.zeros(2)
    two = Foresight(
        ("a", "b"), np.array([1.0, 2.0]), np.arange(3), none, none, none, np.array([5.0, 6.0]), none, none,
        until=np.array([3.0, 4.0]),
    )  # fmt: skip
    assert turns.in_turns("ours", two, np.array([1, 0])).tolist() == [0, -inf, 1, 2, 4, 6, 0, 1, 3, 5]


EVER = (0.0, inf, 1.0)


def test_the_turn_goes_to_the_first_that_takes_part_from_its_place_on() -> None:
    assert awaited(memory_of(1, 5.0, EVER, EVER, EVER), 6.0) == (1, 1.0, 5.0)
    assert awaited(memory_of(1, 5.0, EVER, (7.0, inf, 1.0), EVER), 6.0) == (2, 2.0, 5.0)  # not there yet
    assert awaited(memory_of(1, 5.0, EVER, (0.0, 4.0, 1.0), EVER), 6.0) == (2, 2.0, 5.0)  # cut off before
    assert awaited(memory_of(1, 5.0, EVER, (0.0, inf, 0.0), EVER), 6.0) == (2, 2.0, 5.0)  # all served
    assert awaited(memory_of(2, 5.0, EVER, EVER, (7.0, inf, 1.0)), 6.0) == (0, 0.0, 5.0)  # round again


def test_who_joins_after_the_storage_was_free_waits_for_the_next_period() -> None:
    assert awaited(memory_of(0, 5.0, (5.5, inf, 1.0), EVER), 6.0) == (1, 1.0, 5.0)


def test_if_nobody_takes_part_the_next_to_start_has_the_turn() -> None:
    late, later = (5.5, inf, 1.0), (5.8, inf, 1.0)
    assert awaited(memory_of(0, 5.0, later, late), 6.0) == (1, 1.0, 5.5)
    assert awaited(memory_of(0, 5.0, (7.0, inf, 1.0), (8.0, inf, 1.0)), 6.0) == (-1, 0.0, 7.0)
    assert awaited(memory_of(0, 5.0, (5.5, inf, 0.0), later), 6.0) == (1, 1.0, 5.8)  # without operations: never
    assert awaited(memory_of(0, 5.0, (0.0, 4.0, 1.0)), 6.0) == (-1, 0.0, inf)
    assert awaited(memory_of(0, 5.0, (7.0, inf, 0.0)), 6.0) == (-1, 0.0, inf)
    assert awaited(memory_of(0, 5.0, (5.0, 5.0, 1.0)), 6.0) == (-1, 0.0, inf)  # over as it starts
    assert awaited(memory_of(0, -inf, later, late), 6.0) == (1, 1.0, 5.5)  # at the beginning of a run


def test_who_is_cut_off_before_it_posts_loses_its_turn() -> None:
    cut = (0.0, 5.5, 1.0)
    assert awaited(memory_of(0, 5.0, cut, EVER), 6.0) == (1, 1.0, 5.5)
    assert awaited(memory_of(0, 5.0, cut, (5.7, inf, 1.0)), 6.0) == (1, 1.0, 5.7)
    assert awaited(memory_of(0, 5.0, cut, (7.0, inf, 1.0)), 6.0) == (-1, 0.0, 7.0)
    assert awaited(memory_of(0, 5.0, (0.0, 6.0, 1.0), EVER), 6.0) == (1, 1.0, 6.0)  # just now
    assert awaited(memory_of(0, 5.0, (0.0, 6.0 * (1 + SAME), 1.0), EVER), 6.0)[0] == 1
    assert awaited(memory_of(0, 5.0, (0.0, 6.1, 1.0), EVER), 6.0) == (0, 0.0, 5.0)


@pytest.mark.parametrize("free", [10.0, -10.0])
def test_instants_within_rounding_are_one(free: float) -> None:
    just = free + SAME * abs(free)
    present = as_python(turns._first_present)
    assert present(memory_of(0, 0.0, (just, inf, 1.0)), 1, free) == 0
    assert present(memory_of(0, 0.0, (free + 4 * SAME * abs(free), inf, 1.0)), 1, free) == -1
    assert present(memory_of(0, 0.0, (-inf, just, 1.0)), 1, free) == -1
    assert present(memory_of(0, 0.0, (-inf, free + 4 * SAME * abs(free), 1.0)), 1, free) == 0


def test_the_storage_is_free_when_the_time_has_come() -> None:
    assert awaited(memory_of(0, 6.0 * (1 + SAME), EVER), 6.0)[0] == 0
    assert awaited(memory_of(0, 6.0 * (1 + 4 * SAME), EVER), 6.0)[0] == -1


def served(memory: Floats, application: list[int], rate: float = 0.0) -> list[float]:
    """What operations of 3 bytes get at 10, at full rates of 0.5 and more; `rate`: that of the first until now."""
    view = empty_view(len(application), np.zeros(0), memory)._replace(now=10.0)
    view.application[:], view.remaining[:] = application, 3.0
    view.limit[:] = np.arange(len(application)) + 0.5
    view.rate[0] = rate
    rates = np.zeros(len(application))
    as_python(turns.take_turns)(view, rates)
    return rates.tolist()


def test_the_next_one_has_the_turn_when_an_operation_starts() -> None:
    thrice = (0.0, inf, 3.0)
    memory = memory_of(1, 5.0, thrice, thrice, thrice)
    assert served(memory, [1, 0, 2]) == [0.5, 0.0, 0.0]  # the second place is that of the second application
    assert memory.tolist() == [2.0, 16.0, 2.0, *thrice, 1.0, 0.0, inf, 2.0, 0.0, *thrice]
    assert served(memory_of(2, 5.0, thrice, thrice, thrice), [1, 0, 2]) == [0.0, 1.5, 0.0]


def test_a_walltime_frees_the_storage() -> None:
    memory = memory_of(0, 5.0, (0.0, 11.0, 3.0))
    assert served(memory, [0]) == [0.5]
    assert memory[1] == 11.0  # and not 16


def test_the_storage_waits_for_whose_turn_it_is() -> None:
    memory = memory_of(0, 5.0, EVER, EVER)
    assert served(memory, [0]) == [0.0]
    assert memory.tolist() == memory_of(0, 5.0, EVER, EVER).tolist()


def test_who_is_served_goes_on_and_nobody_is_without_a_turn() -> None:
    memory = memory_of(0, 5.0, EVER, EVER)
    assert served(memory, [0, 1], rate=1.0) == [0.5, 0.0]
    assert memory.tolist() == memory_of(0, 5.0, EVER, EVER).tolist()
    assert served(memory_of(0, 5.0, (11.0, inf, 1.0)), [0]) == [0.0]
