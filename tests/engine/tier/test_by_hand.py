"""The loop with a burst buffer where rounding decides, worked out by hand (models §8)."""

from __future__ import annotations

from typing import Any

import pytest

from penstock import Scenario
from penstock.studies.buffers import Buffered, buffer
from penstock.studies.buffers.split import split
from reference.buffers import simulate_greedy

Document = dict[str, Any]


def job(name: str, release: float, *phases: Document, **keys: Any) -> Document:
    return {"name": name, "release": release, "bandwidth": 1.0, "phases": list(phases), **keys}


def both(
    jobs: list[Document], shares: dict[str, float], capacity: float, common: float, lead: float
) -> tuple[Buffered, Document]:
    """By the loop and by the reference, at 2 bytes/s."""
    platform = {"bandwidth": 2.0, "burst_buffer": {"capacity": capacity, "shares": shares}}
    document = {"version": 1, "platform": platform, "applications": jobs}
    scenario = Scenario.from_document(document)
    found = buffer(scenario, capacity, split=split(scenario, "static", common, lead=lead))
    return found, simulate_greedy(document, capacity, shares, common, lead)


@pytest.mark.parametrize("capacity", [2.0, 3.0, 4.0, 8.0])
def test_what_rounding_leaves_of_a_device_is_no_part(capacity: float) -> None:
    """a, b and c have all of it, though 2 - 1.4 - 0.4 - 0.2 is 6e-17 by its digits. So d reads past the buffer."""
    jobs = [job(name, 0, {"compute": 4}) for name in "abc"] + [job("d", 1, {"read": 1})]
    found, slow = both(jobs, {"a": 0.7, "b": 0.2, "c": 0.1, "d": 0.25}, capacity, 0.0, 0.75)
    assert (found.completion[3], slow["completion"]["d"]) == (2.0, 2.0)
    assert (found.through_buffer, slow["through"]) == (0.0, 0.0)


def test_what_rounding_leaves_undrained_makes_no_part() -> None:
    """Only c's write enters the buffer, in the common part. It drains at 1 byte/s and ends 2e-16 bytes below nothing.

    From 1.5 s on a has all the 2.1 bytes for parts, so that d, entering at 1.75 s, has none and reads past the buffer.
    """
    jobs = [
        job("a", 2, {"compute": 1}),
        job("b", 0, {"read": 1}),
        job("c", 0, {"write": 1.558594}, write_bandwidth=2.0),
    ]
    jobs += [job("d", 2.25, {"read": 1})]
    found, slow = both(jobs, {"a": 1.0, "b": 0.0, "c": 0.0, "d": 0.25}, 3.0, 0.3, 0.5)
    assert found.completion == pytest.approx((3.0, 1.0, 0.779297, 3.25))
    assert (found.through_buffer, slow["through"]) == pytest.approx((1.558594, 1.558594))
