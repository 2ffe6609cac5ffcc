"""The loop with a burst buffer against the slow one, on random scenarios: strategy G in every partition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from penstock import Scenario
from penstock.studies.buffers import Filling, buffer
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
    """S_k/S by name; those for themselves alone as parts of their sum; alike if nobody needs anything."""
    sizing = size_buffer(scenario, partition)
    names = [application.name for application in scenario.applications]
    shares = sizing.shares or dict.fromkeys(names, 0.0)
    whole = sum(shares.values()) if partition == "isolated" else sizing.size
    return {name: shares[name] / whole if whole > 0 else 1 / len(names) for name in names}


def assert_same_contents(fast: Filling, slow: list[Any], names: tuple[str, ...], slack: float) -> None:
    """What is held, at every time that either of the two has an event."""
    theirs = np.array([time for time, *_ in slow])
    times = np.union1d(fast.time, theirs)
    for ours, place in ((fast.output, 1), (fast.input, 2)):
        for index, name in enumerate(names):
            expected = np.interp(times, theirs, [row[place][name] for row in slow])
            assert np.interp(times, fast.time, ours[:, index]) == pytest.approx(expected, abs=slack), name


# Both count totals and add up the same steps, so nothing but rounding is between them.
@settings(max_examples=100)
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
    divided = split(scenario, partition, common)
    fast = buffer(scenario, capacity, split=divided, strategy="fair", timeline=True)
    slow = simulate_greedy(document, capacity, parts_of(scenario, partition), common)
    named = dict(zip(fast.names, fast.completion, strict=True))
    assert named == pytest.approx(slow["completion"], rel=1e-9)
    assert dict(zip(fast.names, fast.stretch, strict=True)) == pytest.approx(slow["stretch"], rel=1e-9)
    assert (fast.max_stretch, fast.mean_stretch) == pytest.approx((slow["max_stretch"], slow["mean_stretch"]), rel=1e-9)
    assert fast.end == pytest.approx(slow["contents"][-1][0], rel=1e-9)
    assert fast.filling is not None
    # A time that is off by 1e-9 of itself is off by that times the fastest cap in bytes.
    assert_same_contents(fast.filling, slow["contents"], fast.names, 1e-8)


@pytest.mark.parametrize("partition", PARTITIONS)
def test_what_is_reported_is_the_division_that_was_asked_for(partition: str) -> None:
    scenario = Scenario.from_document(CROWDED)
    common = None if partition == "dynamic" else 0.25
    found = buffer(scenario, 4.0, partition=partition, common=common)
    own = [4.0 * (1 - 0.25) * part for part in parts_of(scenario, partition).values()]
    assert found.shares == pytest.approx([4.0] * 3 if partition == "dynamic" else own)
    assert (found.partition, found.common) == (partition, 1.0 if partition == "dynamic" else 0.25)
