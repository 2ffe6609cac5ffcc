"""Curves: exact against the file system's speed; between a bound and a heuristic against the stretch."""

from __future__ import annotations

import copy
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.errors import InvalidOption
from penstock.model import Scenario
from penstock.studies.sizing import PARTITIONS, size_curve
from penstock.studies.sizing.curve import FACTORS, STRETCHES, Prices, bound, slowed
from penstock.studies.sizing.traffic import Traffic
from reference.buffers import literal_lp
from strategies import buffer_documents
from studies.sizing.plans import ONE_EACH, TOGETHER, Document, app, document, sized, traffic_of, volume

FEW = settings(max_examples=20)
JOBS = [
    app("a", ("compute", 3), ("write", 12), ("compute", 8), ("write", 9), bandwidth=4),
    app("c", ("read", 4), ("compute", 9), ("write", 6), bandwidth=3, release=2),
]


@pytest.mark.parametrize("partition", PARTITIONS)
@pytest.mark.parametrize("platform", [ONE_EACH, TOGETHER])
def test_both_curves_fall_and_start_at_the_size(platform: Document, partition: str) -> None:
    plain = document(platform, *JOBS)
    curve = size_curve(Scenario.from_document(plain), partition)
    size = sized(plain, partition).size
    assert [point.factor for point in curve.bandwidth] == list(FACTORS)
    assert [point.stretch for point in curve.stretch] == list(STRETCHES)
    assert curve.now.size == curve.stretch[0].size == curve.stretch[0].bound == pytest.approx(size)
    sizes = ([point.size for point in curve.bandwidth], [point.size for point in curve.stretch])
    for larger, smaller in (pair for each in sizes for pair in pairwise(each)):
        assert smaller <= larger + 1e-9
    for first, second in pairwise(curve.stretch):
        assert 0.0 <= second.bound <= first.bound + 1e-9
    assert all(point.bound <= point.size for point in curve.stretch)
    assert curve.bandwidth[0].size > curve.bandwidth[-1].size
    assert curve.stretch[1].bound > 0.0


def test_a_faster_file_system_does_not_make_applications_faster() -> None:
    # Without a cap of their own they drive what the platform has: of today, not of the curve.
    plain = document(TOGETHER, *(app(name, ("write", 4)) for name in "abc"))
    curve = size_curve(Scenario.from_document(plain), "dynamic")
    assert [point.size for point in curve.bandwidth] == pytest.approx([12 - 4 * factor for factor in FACTORS])


def test_prices() -> None:
    plain = document({"bandwidth": 1e9}, app("a", ("write", 9e12), bandwidth=3e9))
    curve = size_curve(Scenario.from_document(plain), "dynamic", Prices(10.0, 7.0))
    assert curve.now.cost == pytest.approx(6 * 10 + 1 * 7)
    assert curve.bandwidth[0].cost == pytest.approx(7.5 * 10 + 0.5 * 7)
    assert curve.stretch[-1].cost == pytest.approx(curve.stretch[-1].size / 1e12 * 10 + 7)
    assert size_curve(Scenario.from_document(plain), "dynamic", Prices(per_tb=1.0)).now.cost == pytest.approx(6)
    assert size_curve(Scenario.from_document(plain), "dynamic").now.cost is None


@FEW
@given(buffer_documents(), st.sampled_from([1.0, 1.1, 1.7]))
def test_slowed_applications_end_as_late_as_they_may(plain: Document, stretch: float) -> None:
    scenario = Scenario.from_document(plain)
    first, second = Traffic(scenario), Traffic(slowed(scenario, stretch))
    for index, name in enumerate(first.names):
        alone, later = (each.completion[index] - each.release[index] for each in (first, second))
        moves = bool((first.owner == index).any())
        assert later == pytest.approx(alone * (stretch if moves else 1.0)), name


@settings(max_examples=40)
@given(buffer_documents(), st.sampled_from(PARTITIONS), st.sampled_from([1.0, 1.05, 1.2, 1.6]), st.data())
def test_no_schedule_in_time_gets_below_the_bound(
    plain: Document, partition: str, stretch: float, data: st.DataObject
) -> None:
    """Everyone spends what it may take longer at will: on waiting before phases, or on slower operations."""
    traffic, later = traffic_of(plain), copy.deepcopy(plain)
    for index, each in enumerate(later["applications"]):
        left = (stretch - 1.0) * float(traffic.completion[index] - traffic.release[index])
        spread = []
        for phase in each["phases"]:
            wait = left * data.draw(st.sampled_from([0.0, 0.0, 0.3, 0.8]))
            left -= wait
            [(kind, amount)] = phase.items()
            parts = data.draw(st.integers(1, 3)) if kind != "compute" else 1
            for _ in range(parts):  # an operation with pauses in it is a slower one
                spread += [{"compute": wait / parts}, {kind: amount / parts}]
        each["phases"] = spread
    reached = literal_lp(later, partition)["size"]
    assert bound(traffic, stretch, partition) <= reached + 1e-7 * volume(plain)


def test_the_bound_knows_that_one_can_be_late_only_once() -> None:
    # Ten bursts of 8 at 4 take 2 s each, and 8 - S behind a buffer of S; all ten at most 10 % of 80 s more.
    phases = [("compute", 6.0), ("write", 8.0)] * 10
    traffic = traffic_of(document(ONE_EACH, app("a", *phases, bandwidth=4)))
    assert bound(traffic, 1.0, "static") == pytest.approx(8 - 2)
    assert bound(traffic, 1.1, "static") == pytest.approx(8 - 2 - 0.8)
    assert bound(traffic, 2.0, "static") == 0.0


def test_without_a_limit_there_is_no_curve() -> None:
    plain = document({"io_nodes": {"count": 1, "bandwidth": 1, "nodes": 4}}, app("a", ("write", 5), bandwidth=1))
    with pytest.raises(InvalidOption, match="no bandwidth that a curve could vary; give"):
        size_curve(Scenario.from_document(plain))
