"""The compiled engine and policies against the slow, independent ones, on random scenarios."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from penstock import Scenario, simulate
from penstock.sharing import NAMES
from strategies import documents

METRICS = ("min_yield", "utilization", "efficiency", "makespan", "max_stretch", "mean_stretch", "pressure", "io_weight")


def close(value: float | None, relative: float = 1e-9) -> Any:
    return value if value is None else pytest.approx(value, rel=relative, abs=1e-12)


def assert_same(document: dict[str, Any], sharing: str, relative: float = 1e-9) -> None:
    fast = simulate(Scenario.from_document(document), sharing)
    slow = reference.simulate(document, sharing)
    for metric in METRICS:
        assert getattr(fast, metric) == close(slow[metric], relative), metric
    for ours, theirs in zip(fast.applications, slow["applications"], strict=True):
        for key, value in ours.to_dict().items():
            assert value == (theirs[key] if key == "name" else close(theirs[key], relative)), (ours.name, key)
    assert fast.events == slow["events"]
    assert fast.bound_min_yield == close(slow["bound_min_yield"])


@pytest.mark.parametrize("sharing", NAMES)
@given(document=documents())
def test_engine_and_policies_match_the_reference(sharing: str, document: dict[str, Any]) -> None:
    assert_same(document, sharing, 1e-6 if sharing == "best-next-event" else 1e-9)


@given(document=documents(windowed=False), delta=st.sampled_from([0.25, 0.7, 3.0]))
def test_ticks_asked_for_match_the_reference(document: dict[str, Any], delta: float) -> None:
    fast = simulate(Scenario.from_document(document), f"periodic-greedy-yield(delta={delta})")
    slow = reference.simulate(document, "periodic-greedy-yield", delta=delta)
    assert fast.makespan == close(slow["makespan"])
    assert [job.completion for job in fast.applications] == [close(job["completion"]) for job in slow["applications"]]


def test_a_first_operation_outside_the_window_keeps_its_place() -> None:
    """Both are due at 4.5 s, after the end; noise brings the second one in, and it still waits for the first."""
    endless: dict[str, Any] = {"name": "a", "phases": [{"compute": 4.5}]}
    endless["phases"] += [{"repeat": "forever", "phases": [{"compute": 0}, {"write": 0.5}]}]
    document = {"version": 1, "platform": {"bandwidth": 0.5}, "window": {"begin": 0.0, "end": 4.0}}
    document |= {"seed": 1, "noise": 0.5}
    document["applications"] = [endless, {"name": "b", "phases": [{"compute": 4.5}, {"write": 0.5}]}]
    assert simulate(Scenario.from_document(document), "periodic-fifo").min_yield < 0.95
    assert_same(document, "periodic-fifo")
