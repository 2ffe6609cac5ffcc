"""The short version of `python -m tests.live.link`: one policy, a fifth of the iterations."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from live.link.link import Link, link_up, obstacle
from live.link.measuring import MARGIN, contended, paced_writers, payload_rate
from live.link.workload import predicted_ends, stretches, table_1

RATE = 50  # MB/s
BATCHES = 0.004
TRIES = 3  # a writer that other work keeps from the processor falls behind

pytestmark = [pytest.mark.slow, pytest.mark.timing, pytest.mark.crowd("processors")]


@pytest.fixture(scope="module")
def link() -> Iterator[Link]:
    if reason := obstacle():
        pytest.skip(reason)
    with link_up(RATE) as link:
        yield link


@pytest.fixture(scope="module")
def bandwidth(link: Link) -> float:
    found = payload_rate(link, 5.0)
    if found < 0.97 * RATE * 1e6:
        pytest.skip(f"this machine is too busy to fill a link: {found / 1e6:.1f} of {RATE} MB/s")
    return found


def test_stretches_are_what_the_simulator_says(link: Link, bandwidth: float) -> None:
    workload, capacity = table_1(bandwidth, BATCHES), (1.0 - MARGIN) * bandwidth
    for _ in range(TRIES):
        run = contended(link, workload, "fcfs", bandwidth, capacity)
        assert min(run["off"].values()) >= -0.10, run  # never sooner
        if max(run["off"].values()) <= 0.10:
            break
    else:
        pytest.fail(f"too late {TRIES} times; at last {run}")
    # Another policy would have been noticed.
    other = stretches(workload, predicted_ends(workload, "fair-share", capacity), bandwidth)
    assert max(abs(run["stretch"][name] / other[name] - 1.0) for name in other) > 0.10, run


def test_writers_keep_to_their_grants(link: Link, bandwidth: float) -> None:
    for _ in range(TRIES):
        found = paced_writers(link, 0.9 * bandwidth, 4, 8.0)
        assert found["sum_off"] <= 0.01, found  # never too much
        if found["sum_off"] >= -0.01 and found["share_off"] <= 0.03:
            return
    pytest.fail(f"too little, or unevenly, {TRIES} times; at last {found}")
