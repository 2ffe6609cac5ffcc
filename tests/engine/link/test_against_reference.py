"""The compiled engine and policies against the slow, independent ones, on random scenarios."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import reference
from penstock import Scenario, simulate
from penstock.policies.sharing import NAMES
from reference.policies import credited_yield, loss_capped_srpt, reserve_credit, reserve_srpt
from reference.steady import SteadyReserve
from strategies import crowds, documents, sites

METRICS = (
    *("min_yield", "utilization", "efficiency", "makespan", "max_stretch", "mean_stretch", "pressure", "io_weight"),
    *("node_hours_lost", "node_hours_used", "lost_share", "mean_yield", "p95_stretch", "unfinished"),
)


def close(value: float | None, relative: float = 1e-9) -> Any:
    return value if value is None else pytest.approx(value, rel=relative, abs=1e-12)


def assert_same(document: dict[str, Any], sharing: str, relative: float = 1e-9) -> None:
    fast = simulate(Scenario.from_document(document), sharing)
    slow = reference.simulate(document, sharing)
    for metric in METRICS:
        assert getattr(fast, metric) == close(slow[metric], relative), (sharing, metric)
    assert fast.worst == slow["worst"], sharing
    for ours, theirs in zip(fast.applications, slow["applications"], strict=True):
        for key, value in ours.to_dict().items():
            assert value == (theirs[key] if key == "name" else close(theirs[key], relative)), (sharing, ours.name, key)
    assert fast.events == slow["events"], sharing
    assert fast.bound_min_yield == close(slow["bound_min_yield"]), sharing


@settings(max_examples=9 * settings().max_examples)
@given(document=documents(), sharing=st.sampled_from(NAMES))
def test_engine_and_policies_match_the_reference(document: dict[str, Any], sharing: str) -> None:
    assert_same(document, sharing, 1e-6 if sharing == "best-next-event" else 1e-9)


# Its second write is cut off after 0.5 s, which leaves a rounding error of time, and no third operation.
CUT_OFF = {
    "version": 1,
    "platform": {"bandwidth": 1.5},
    "window": {"begin": 0.0, "end": 4.0},
    "applications": [
        {"name": "a", "phases": [{"write": 0.5}]},
        {"name": "b", "phases": [{"repeat": "forever", "phases": [{"write": 0.5}]}], "walltime": 0.5},
    ],
}


@example(document=CUT_OFF)
@given(document=sites(documents()) | sites(crowds()) | sites(crowds(windowed=True)))
def test_a_site_matches_the_reference(document: dict[str, Any]) -> None:
    for sharing in NAMES:
        assert_same(document, sharing, 1e-6 if sharing == "best-next-event" else 1e-9)


@given(document=documents(windowed=False), delta=st.sampled_from([0.25, 0.7, 3.0]))
def test_ticks_asked_for_match_the_reference(document: dict[str, Any], delta: float) -> None:
    fast = simulate(Scenario.from_document(document), f"periodic-greedy-yield(delta={delta})")
    slow = reference.simulate(document, "periodic-greedy-yield", delta=delta)
    assert fast.makespan == close(slow["makespan"])
    assert [job.completion for job in fast.applications] == [close(job["completion"]) for job in slow["applications"]]


PARAMETERS = st.sampled_from([0.0, 0.5, 1.0, 2.0, 30.0])


@given(document=documents(), g=PARAMETERS, c=st.sampled_from([0.5, 1.0, 1.2, 3.0]))
def test_parameters_of_our_own_policies_match_the_reference(document: dict[str, Any], g: float, c: float) -> None:
    asked = {f"credited-yield(g={g})": partial(credited_yield, g=g)}
    asked |= {f"loss-capped-srpt(c={c})": partial(loss_capped_srpt, c=c)}
    asked |= {f"reserve-credit(k={g},ahead={c})": partial(reserve_credit, k=g, ahead=c)}
    asked |= {f"reserve-srpt(c={c},k={g})": partial(reserve_srpt, c=c, k=g)}
    for name, policy in asked.items():
        fast, slow = simulate(Scenario.from_document(document), name), reference.simulate(document, policy)
        assert [job.yield_ for job in fast.applications] == [close(job["yield"]) for job in slow["applications"]], name
        assert fast.events == slow["events"]


@given(document=documents() | crowds() | crowds(windowed=True), k=st.sampled_from([0.0, 1.0, 20.0]))
def test_a_memory_matches_the_reference(document: dict[str, Any], k: float) -> None:
    fast = simulate(Scenario.from_document(document), f"steady-reserve(k={k})")
    slow = reference.simulate(document, SteadyReserve(k))
    assert [job.yield_ for job in fast.applications] == [close(job["yield"]) for job in slow["applications"]]
    assert fast.events == slow["events"]


@given(document=documents())
def test_without_credit_it_is_greedy_yield(document: dict[str, Any]) -> None:
    scenario = Scenario.from_document(document)
    one, other = simulate(scenario, "credited-yield(g=0)"), simulate(scenario, "greedy-yield")
    assert one.applications == other.applications


@given(document=documents())
def test_without_reserve_they_are_what_they_come_from(document: dict[str, Any]) -> None:
    scenario = Scenario.from_document(document)
    of = {"reserve-credit(k=0)": "credited-yield(g=1)", "reserve-srpt(c=2,k=0)": "loss-capped-srpt(c=2)"}
    for one, other in of.items():
        assert simulate(scenario, one).applications == simulate(scenario, other).applications


@given(document=documents(windowed=True), g=st.sampled_from([0.5, 2.0]))
def test_credit_that_does_not_fall_is_credited_yield(document: dict[str, Any], g: float) -> None:
    scenario = Scenario.from_document(document)
    one, other = (
        simulate(scenario, f"annealed-credit(first={g},last={g})"),
        simulate(scenario, f"credited-yield(g={g})"),
    )
    assert one.applications == other.applications


def test_a_first_operation_outside_the_window_keeps_its_place() -> None:
    """Both are due at 4.5 s, after the end; noise brings the second one in, and it still waits for the first."""
    endless: dict[str, Any] = {"name": "a", "phases": [{"compute": 4.5}]}
    endless["phases"] += [{"repeat": "forever", "phases": [{"compute": 0}, {"write": 0.5}]}]
    document = {"version": 1, "platform": {"bandwidth": 0.5}, "window": {"begin": 0.0, "end": 4.0}}
    document |= {"seed": 1, "noise": 0.5}
    document["applications"] = [endless, {"name": "b", "phases": [{"compute": 4.5}, {"write": 0.5}]}]
    assert simulate(Scenario.from_document(document), "periodic-fifo").min_yield < 0.95
    assert_same(document, "periodic-fifo")
