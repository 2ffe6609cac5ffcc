"""The heap of times against sorting."""

from __future__ import annotations

import random
from itertools import permutations

import numpy as np
import pytest

from penstock.kernels.heap import pop, push


@pytest.mark.parametrize("count", [1, 2, 3, 6, 7, 8, 30])
def test_entries_come_out_by_time_each_with_its_application(count: int) -> None:
    draw = random.Random(count)
    times, applications = np.full(count, 99.0), np.full(count, -1)
    entries = [(draw.choice([0.0, 1.0, 2.5, draw.uniform(0.0, 9.0)]), number) for number in range(count)]
    for size, (time, number) in enumerate(entries):
        push(times, applications, size, time, number)
        assert times[0] == min(each for each, _ in entries[: size + 1])
    taken = []
    for size in range(count, 0, -1):
        taken.append((float(times[0]), int(applications[0])))
        pop(times, applications, size)
    assert [time for time, _ in taken] == sorted(time for time, _ in entries)
    assert sorted(taken) == sorted(entries)


def test_every_order_of_five_times_comes_out_sorted() -> None:
    for order in permutations(range(5)):
        times, applications = np.zeros(5), np.zeros(5, np.int64)
        for size, number in enumerate(order):
            push(times, applications, size, float(number), number)
        for size in range(5, 0, -1):
            assert (times[0], applications[0]) == (5 - size, 5 - size)
            pop(times, applications, size)


def test_what_lies_behind_the_heap_is_left_alone() -> None:
    times, applications = np.array([1.0, 0.5, 0.5]), np.array([7, 8, 9])
    pop(times, applications, 1)
    push(times, applications, 0, 2.0, 3)
    assert times.tolist() == [2.0, 0.5, 0.5] and applications.tolist() == [3, 8, 9]
