"""The loop with a burst buffer against the slow one, on random scenarios: strategy G in every partition."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from penstock import Scenario
from penstock.studies.buffers import Buffered, Filling, buffer
from penstock.studies.buffers.split import split
from penstock.studies.sizing import PARTITIONS, size_buffer
from reference.buffers import simulate_greedy
from strategies import amounts, buffer_documents

Document = dict[str, Any]
COMMON = st.sampled_from([0.0, 0.3, 1.0])
# One fills what all may use and drains it while others fetch or write: rules that random scenarios seldom meet at once.
CROWDED: Document = {
    "version": 1,
    "platform": {"read_bandwidth": 1.0, "write_bandwidth": 1.0},
    "applications": [
        {"name": "a", "bandwidth": 4.0, "phases": [{"write": 4.0}, {"compute": 8.0}, {"read": 6.0}]},
        {"name": "b", "bandwidth": 4.0, "phases": [{"compute": 1.0}, {"write": 4.0}, {"compute": 2.0}]},
        {"name": "c", "bandwidth": 2.0, "release": 2.0, "phases": [{"read": 3.0}, {"write": 3.0}]},
    ],
}


def parts_of(scenario: Scenario, partition: str) -> dict[str, float]:
    """S_k/S by name; those for themselves alone as parts of their sum; nothing if nobody needs anything."""
    sizing = size_buffer(scenario, partition, lead=math.inf)
    names = [application.name for application in scenario.applications]
    shares = sizing.shares or dict.fromkeys(names, 0.0)
    whole = sum(shares.values()) if partition == "isolated" else sizing.size
    return {name: shares[name] / whole if whole > 0 else 0.0 for name in names}


def assert_same_contents(fast: Filling, slow: list[Any], names: tuple[str, ...], slack: float) -> None:
    """What is held, at every time that either of the two has an event."""
    theirs = np.array([time for time, *_ in slow])
    times = np.union1d(fast.time, theirs)
    for ours, place in ((fast.output, 1), (fast.input, 2)):
        for index, name in enumerate(names):
            expected = np.interp(times, theirs, [row[place][name] for row in slow])
            assert np.interp(times, fast.time, ours[:, index]) == pytest.approx(expected, abs=slack), name


@st.composite
def arrivals(draw: st.DrawFn, port: bool = False, walltime: bool = False) -> Document:
    """Jobs that come and go with parts that may not fit together, perhaps a port, walltimes, or interference."""
    exact = draw(st.booleans())
    document: Document = draw(buffer_documents(most=4, exact=exact))
    chosen = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])
    shares = {job["name"]: draw(chosen) for job in document["applications"]}
    document["platform"]["burst_buffer"] = {"capacity": 1.0, "shares": shares}
    if port:
        document["platform"]["burst_buffer"]["bandwidth"] = draw(amounts(0.5, 6, exact))
    if draw(st.booleans()):
        document["platform"]["interference"] = draw(st.sampled_from([[1.0, 0.75], [1.0, 0.5, 0.25], [1.0, 1.0, 0.5]]))
    for job in document["applications"]:
        if walltime and draw(st.booleans()):
            job["walltime"] = draw(amounts(0.5, 12, exact))
    return document


def assert_same_run(fast: Buffered, slow: Document) -> None:
    """Completions, stretches, what was done and what was held. Both add up the same steps: only rounding is between."""
    for name, value in zip(fast.names, fast.completion, strict=True):
        expected = slow["completion"][name]
        assert math.isnan(value) if expected is None else value == pytest.approx(expected, rel=1e-9)
    finished = {name: value for name, value in slow["stretch"].items() if value is not None}
    named = dict(zip(fast.names, fast.stretch, strict=True))
    assert {name: named[name] for name in finished} == pytest.approx(finished, rel=1e-9)
    if finished:
        largest = slow["max_stretch"], slow["mean_stretch"]
        assert (fast.max_stretch, fast.mean_stretch) == pytest.approx(largest, rel=1e-9)
    assert fast.end == pytest.approx(slow["contents"][-1][0], rel=1e-9)
    assert fast.filling is not None
    # A time that is off by 1e-9 of itself is off by that times the fastest cap in bytes.
    assert_same_contents(fast.filling, slow["contents"], fast.names, 1e-8)
    assert fast.through_buffer == pytest.approx(slow["through"], abs=1e-7)


@settings(max_examples=7 * settings().max_examples)
@given(
    document=buffer_documents(most=4) | buffer_documents(most=4, exact=False),
    partition=st.sampled_from(PARTITIONS),
    common=COMMON,
    capacity=amounts(0, 6, True),
)
@example(document=CROWDED, partition="static", common=0.3, capacity=3.0)
@example(document=CROWDED, partition="dynamic", common=1.0, capacity=2.5)
def test_strategy_g_matches_the_reference(document: Document, partition: str, common: float, capacity: float) -> None:
    scenario = Scenario.from_document(document)
    if partition == "dynamic":
        common = 1.0
    divided = split(scenario, partition, common, lead=math.inf)
    fast = buffer(scenario, capacity, split=divided, strategy="fair", timeline=True)
    assert_same_run(fast, simulate_greedy(document, capacity, parts_of(scenario, partition), common))


@settings(max_examples=14 * settings().max_examples)
@given(
    document=arrivals(),
    common=COMMON,
    capacity=amounts(0, 6, True),
    lead=st.sampled_from([0.0, 0.5, 2.0, math.inf]),
    admit=st.sampled_from(["now", "wait"]),
)
def test_parts_that_come_and_go_match_the_reference(
    document: Document, common: float, capacity: float, lead: float, admit: str
) -> None:
    scenario = Scenario.from_document(document)
    divided = split(scenario, "static", common, lead=lead)
    fast = buffer(scenario, capacity, split=divided, admit=admit, timeline=True)
    shares = document["platform"]["burst_buffer"]["shares"]
    assert_same_run(fast, simulate_greedy(document, capacity, shares, common, lead, admit))


@settings(max_examples=7 * settings().max_examples)
@given(
    document=arrivals(walltime=True),
    capacity=amounts(0, 6, True),
    lead=st.sampled_from([0.0, 2.0]),
    admit=st.sampled_from(["now", "wait"]),
)
def test_who_is_cut_off_matches_the_reference(document: Document, capacity: float, lead: float, admit: str) -> None:
    scenario = Scenario.from_document(document)
    fast = buffer(scenario, capacity, lead=lead, admit=admit, timeline=True)
    shares = document["platform"]["burst_buffer"]["shares"]
    slow = simulate_greedy(document, capacity, shares, 0.0, lead, admit)
    assert_same_run(fast, slow)
    assert fast.cut == tuple(value is None for value in slow["completion"].values())
    lost = [
        slow["ended"][job["name"]] - job["release"] - (0.0 if cut else slow["achieved"][job["name"]])
        for job, cut in zip(document["applications"], fast.cut, strict=True)
    ]
    assert fast.node_hours_lost == pytest.approx(sum(lost) / 3600, abs=1e-9)


# The first two reads end with a byte's last digit more fetched than read; the third goes straight all the same.
STRAIGHT_AGAIN: Document = {
    "version": 1,
    "platform": {
        "bandwidth": 0.99999,
        "burst_buffer": {"capacity": 1.0, "shares": {"a": 0.0, "b": 0.25, "c": 0.5}, "bandwidth": 1.642989},
        "interference": [1.0, 1.0, 0.5],
    },
    "applications": [
        {"name": name, "release": release, "read_bandwidth": 1.0, "write_bandwidth": 1.0, "phases": phases}
        for name, release, phases in (
            ("a", 0.855469, [{"write": 1.72519}]),
            ("b", 2.512102, [{"write": 2.003906}, {"compute": 1.0}]),
            ("c", 2.242484, [{"read": 1.3125}, {"read": 2.582864}, {"read": 1.0}]),
        )
    ],
}


@settings(max_examples=10 * settings().max_examples)
@example(document=STRAIGHT_AGAIN, common=0.3, capacity=3.7492, lead=math.inf)
@given(document=arrivals(port=True), common=COMMON, capacity=amounts(0, 6, True), lead=st.sampled_from([0.0, math.inf]))
def test_the_port_matches_the_reference(document: Document, common: float, capacity: float, lead: float) -> None:
    scenario = Scenario.from_document(document)
    divided = split(scenario, "static", common, lead=lead)
    fast = buffer(scenario, capacity, split=divided, timeline=True)
    shares = document["platform"]["burst_buffer"]["shares"]
    assert_same_run(fast, simulate_greedy(document, capacity, shares, common, lead))


@pytest.mark.parametrize("partition", PARTITIONS)
def test_what_is_reported_is_the_division_that_was_asked_for(partition: str) -> None:
    scenario = Scenario.from_document(CROWDED)
    common = None if partition == "dynamic" else 0.25
    found = buffer(scenario, 4.0, partition=partition, common=common, lead=math.inf)
    own = [4.0 * (1 - 0.25) * part for part in parts_of(scenario, partition).values()]
    assert found.shares == pytest.approx([4.0] * 3 if partition == "dynamic" else own)
    assert (found.partition, found.common) == (partition, 1.0 if partition == "dynamic" else 0.25)
