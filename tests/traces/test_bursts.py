"""Bursts: the kernel against a slow twin, known bursts found again, and bytes never displaced by more than allowed."""

from __future__ import annotations

import time
from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from pytest import approx

from penstock.traces.bursts import Bursts, bursts, merged, per_bin
from penstock.traces.merging import merge_cheapest
from penstock.traces.merging_few import merge_few
from penstock.traces.pieces import IoPieces, coarse, curve, distance

SECONDS = 1000.0


def pieces_of(rows: list[tuple[float, float, float]]) -> IoPieces:
    start, end, volume = (np.array(column, float) for column in zip(*rows, strict=True))
    return IoPieces(start, end, volume, np.zeros(len(start), bool), np.zeros(len(start)))


def slow_merge(centre: list[float], volume: list[float], budget: float) -> list[tuple[float, float]]:
    """Merge the cheapest pair of neighbours again and again, looking at all of them every time."""
    listed = list(zip(centre, volume, strict=True))
    while len(listed) > 1:
        costs = [2 * v * w / (v + w) * abs(c - d) for (c, v), (d, w) in pairwise(listed)]
        cheapest = min(costs)
        if cheapest > budget:
            break
        budget -= cheapest
        i = costs.index(cheapest)
        (c, v), (d, w) = listed[i], listed[i + 1]
        listed[i : i + 2] = [((c * v + d * w) / (v + w), v + w)]
    return listed


rows = st.lists(
    st.tuples(st.floats(0.0, SECONDS), st.floats(0.0, 20.0), st.floats(0.01, 100.0)), min_size=1, max_size=40
).map(lambda listed: [(start, min(start + length, SECONDS), volume) for start, length, volume in listed])


@settings(deadline=None, max_examples=150)
@given(rows, st.floats(0.0, 0.2))
def test_merging_equals_the_slow_twin(listed: list[tuple[float, float, float]], tolerance: float) -> None:
    pieces = pieces_of(listed)
    found = merged(pieces, SECONDS, tolerance)
    order = np.argsort((pieces.start + pieces.end) / 2.0, kind="stable")
    centre = ((pieces.start + pieces.end) / 2.0)[order].tolist()
    slow = slow_merge(centre, pieces.volume[order].tolist(), tolerance * SECONDS * pieces.total)
    if len(slow) == len(found.centre):  # costs that tie within rounding may be merged in another order
        assert found.volume.sum() == approx(sum(volume for _, volume in slow))
        assert found.centre == approx([centre for centre, _ in slow], rel=1e-6, abs=1e-6)
    else:
        assert abs(len(slow) - len(found.centre)) <= 1


def test_the_compiled_kernel_equals_its_python() -> None:
    rng = np.random.default_rng(3)
    count = 300

    def arrays() -> list[Any]:
        numbers = [np.arange(count) - 1, np.arange(count) + 1, np.zeros(count, np.int64)]
        heap = [np.empty(3 * count), np.empty(3 * count, np.int64), np.empty(3 * count, np.int64)]
        return [*numbers, *heap, np.empty(count, np.int64)]

    centre, volume = np.sort(rng.uniform(0, SECONDS, count)), rng.lognormal(size=count)
    budget = 0.01 * SECONDS * volume.sum()
    fast, slow = arrays(), arrays()
    compiled: Any = merge_cheapest
    compiled(centre.copy(), volume.copy(), *fast, budget)
    compiled.py_func(centre.copy(), volume.copy(), *slow, budget)
    assert fast[-1].tolist() == slow[-1].tolist() == merge_few(centre.tolist(), volume.tolist(), budget).tolist()
    assert 1 < fast[-1][-1] + 1 < count


@settings(deadline=None, max_examples=100)
@given(rows, st.sampled_from([0.001, 0.005, 0.05]))
def test_bytes_are_kept_and_moved_by_no_more_than_the_tolerance(
    listed: list[tuple[float, float, float]], tolerance: float
) -> None:
    pieces = pieces_of(listed)
    found = bursts(pieces, SECONDS, tolerance)
    assert found.volume.sum() == approx(pieces.total)
    middle = (pieces.start + pieces.end) / 2.0
    points = curve(middle, middle, pieces.volume)
    assert distance(points, curve(found.centre, found.centre, found.volume)) <= tolerance * SECONDS * 1.01 + 1e-6
    assert (found.volume * found.centre).sum() == approx((pieces.volume * middle).sum())


def test_known_bursts_are_found() -> None:
    rng = np.random.default_rng(11)
    truth = np.arange(20) * 50.0 + 10.0
    listed = []
    for begin in truth:
        at = begin
        for _ in range(40):  # operations with pauses of up to a tenth of a second between them
            length = rng.uniform(0.02, 0.06)
            listed.append((at, at + length, 1e6))
            at += length + rng.uniform(0.0, 0.1)
    found = bursts(pieces_of(listed), SECONDS, 0.005)
    assert len(found.centre) == 20
    assert np.abs(found.start - truth).max() < 1e-9


def test_a_gap_alone_would_displace_half_the_run() -> None:
    """A trickle without a gap is no burst: it is split, though no pause separates its parts."""
    trickle = [(float(i), float(i + 1), 1.0) for i in range(1000)]
    found = bursts(pieces_of(trickle), SECONDS, 0.005)
    assert len(found.centre) > 40


def test_fewer_pieces_lie_where_the_many_did() -> None:
    rng = np.random.default_rng(2)
    start = rng.uniform(0.0, 990.0, 50_000)
    many = pieces_of(
        list(zip(start, start + rng.exponential(0.01, len(start)), rng.lognormal(size=len(start)), strict=True))
    )
    many = many._replace(writes=rng.random(len(start)) < 0.5)
    fewer = coarse(many, SECONDS)
    assert len(fewer.start) <= 16_000
    for way in (False, True):
        one, other = (each.only(each.writes == way) for each in (many, fewer))
        apart = distance(curve(one.start, one.end, one.volume), curve(other.start, other.end, other.volume))
        assert one.total == approx(other.total)
        assert apart <= other.bound <= 3e-4 * SECONDS


def test_unknown_structure_is_as_many_bursts_as_asked() -> None:
    found = per_bin(pieces_of([(100.0, 600.0, 5e9)]), SECONDS, 100)
    assert len(found.centre) == 50
    assert found.volume == approx(np.full(50, 1e8))
    assert isinstance(found, Bursts)


def test_distance_is_that_of_shifted_bytes() -> None:
    one = curve(np.array([0.0, 50.0]), np.array([10.0, 50.0]), np.array([3.0, 1.0]))
    later = curve(np.array([2.0, 52.0]), np.array([12.0, 52.0]), np.array([3.0, 1.0]))
    assert distance(one, later) == approx(2.0, rel=1e-6)
    assert distance(one, one) == 0.0
    spread = curve(np.array([0.0]), np.array([10.0]), np.array([1.0]))
    point = curve(np.array([5.0]), np.array([5.0]), np.array([1.0]))
    assert distance(spread, point) == approx(2.5, rel=1e-6)


def test_65_536_bursts_take_a_tenth_of_a_second() -> None:
    rng = np.random.default_rng(1)
    start = np.sort(rng.uniform(0, SECONDS, 65_536))
    pieces = pieces_of(list(zip(start, start + 1e-3, rng.lognormal(size=len(start)), strict=True)))
    took = []
    for _ in range(3):
        before = time.process_time()
        found = merged(pieces, SECONDS, 0.005)
        took.append(time.process_time() - before)
    assert len(found.centre) < 1000
    assert min(took) < 0.1
