"""A capacity is in doubt when all of it is given out and jobs move less than they are granted, and in no other case."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.live.server.capacity_watch import CURRENT, LATE, LEAST, CapacityWatch

CAPACITY = 100.0


class World:
    """One resource, looked at every second."""

    def __init__(self) -> None:
        self.watch = CapacityWatch(["scratch"])
        self.now = self.achieved = self.granted = 0.0

    def go(self, seconds: float, moved: float, charged: float = 1.0, enforced: bool = True, capacity: float = CAPACITY):
        for _ in range(round(seconds)):
            self.now += 1.0
            self.granted += capacity
            self.achieved += moved * capacity
            self.watch.look(self.now, enforced, [capacity], [charged * capacity], [self.achieved], [self.granted])
        return self.watch.doubts(self.now)


LONG = LEAST + LATE + 2.0


def test_a_capacity_that_is_given_out_and_not_moved_is_in_doubt():
    (doubt,) = World().go(LONG, 0.7123)
    assert (doubt.resource, doubt.capacity, doubt.granted) == ("scratch", CAPACITY, pytest.approx(CAPACITY))
    assert (doubt.achieved, doubt.ratio, doubt.suggested) == (pytest.approx(71.23), pytest.approx(0.7123), 71.2)
    assert doubt.seconds >= LEAST and doubt.age == 0.0


@pytest.mark.parametrize(
    "how",
    [
        {"moved": 0.91},
        {"moved": 0.5, "charged": 0.97},
        {"moved": 0.5, "enforced": False},
        {"moved": 0.5, "seconds": LEAST},
    ],
)
def test_nothing_else_is(how):
    assert World().go(**{"seconds": LONG, **how}) == []


def test_reports_that_come_late_at_the_start_are_no_doubt():
    """Jobs that move all they are granted, and report it with a beat two seconds later."""
    world = World()
    assert world.go(2, 0.0) == [] and world.go(LONG, 1.0) == []


def test_a_gap_begins_anew():
    world = World()
    world.go(LEAST, 0.5)
    world.go(4, 0.5, charged=0.5)
    assert world.go(LEAST, 0.5) == []
    assert world.go(LATE + 2, 0.5) != []


def test_a_moment_between_two_operations_is_no_gap():
    world = World()
    for _ in range(8):
        world.go(1, 0.5, charged=0.9)
        found = world.go(6, 0.5)
    assert found


def test_a_doubt_is_a_warning_for_a_minute_and_is_taken_back_by_what_is_moved_or_by_another_capacity():
    world = World()
    world.go(LONG, 0.5)
    assert "scratch may be too high" in world.watch.warnings(world.now)[0]
    (doubt,) = world.watch.doubts(world.now + 100.0)
    assert doubt.age == 100.0 and world.watch.warnings(world.now + CURRENT + 1.0) == []
    assert world.go(400.0, 1.0) == []
    world.go(LONG, 0.1)
    assert world.watch.doubts(world.now)
    assert world.go(1, 0.1, capacity=50.0) == []


@given(st.lists(st.tuples(st.integers(1, 60), st.floats(0.9, 1.0), st.floats(0.0, 1.0)), max_size=8))
def test_whoever_moves_nine_tenths_raises_no_doubt(stretches):
    world = World()
    assert all(world.go(seconds, moved, charged) == [] for seconds, moved, charged in stretches)


@given(st.lists(st.tuples(st.integers(1, 60), st.floats(0.0, 1.0), st.floats(0.0, 0.97)), max_size=8))
def test_nobody_is_in_doubt_who_is_not_full(stretches):
    world = World()
    assert all(world.go(seconds, moved, charged) == [] for seconds, moved, charged in stretches)
