"""What all have lost on average, as a policy is told it: by hand, in every engine, and only if it asks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from penstock import Scenario, decide, simulate
from penstock.errors import PenstockError, PolicyError
from penstock.policies.sharing import View, find, sharing
from penstock.studies.buffers import buffer
from penstock.studies.targets import allocate

Document = dict[str, Any]
JOBS: list[Document] = [
    {"name": "a", "phases": [{"write": 2}, {"compute": 10}]},
    {"name": "b", "phases": [{"write": 2}, {"compute": 1}, {"write": 1}]},
    {"name": "c", "release": 3, "phases": [{"compute": 1}, {"write": 1}, {"compute": 1}]},
]
# a writes until 2, b until 4 and, after c has written from 4 to 5, from 5 to 6; c computes until 6.
# 4: a has lost nothing, b 2 of 4, c nothing of 1. 5: a nothing, b 2 of 5, c nothing of 2. Before: b alone has waited.
SEEN = {0.0: 0.0, 2.0: (0 + 1) / 2, 3.0: (0 + 2 / 3 + 0) / 3, 4.0: (0 + 2 / 4 + 0) / 3, 5.0: (0 + 2 / 5 + 0) / 3}


def in_order(seen: dict[float, float]) -> Any:
    """First come, first served, and a note of what it is told."""

    def policy(view: View, rates: np.ndarray) -> None:
        seen[round(float(view.now), 9)] = float(view.mean_loss)
        find("fcfs").plain(view, rates)

    return policy


def document(**more: Any) -> Document:
    return {"version": 1, "platform": {"bandwidth": 1}, "applications": JOBS, **more}


def test_those_that_compute_count_and_those_that_ended_do_not() -> None:
    seen: dict[float, float] = {}
    simulate(Scenario.from_document(document()), in_order(seen))
    assert seen == pytest.approx(SEEN)


def test_a_last_compute_counts_until_it_is_over_though_its_end_is_no_event() -> None:
    seen: dict[float, float] = {}
    jobs = [
        {"name": "a", "phases": [{"write": 1}, {"compute": 1}]},
        {"name": "b", "phases": [{"write": 2}, {"write": 1}]},
    ]
    simulate(Scenario.from_document(document() | {"applications": jobs}), in_order(seen))
    assert seen == pytest.approx({0.0: 0.0, 1.0: 1 / 2, 3.0: 1 / 3})


def test_a_window_counts_what_was_lost_before_it() -> None:
    seen: dict[float, float] = {}
    late = [{"name": "a", "release": 0, "progress": 5, "phases": [{"write": 1}, {"compute": 50}]}]
    late += [{"name": "b", "release": 6, "phases": [{"compute": 1}, {"write": 20}]}]
    simulate(Scenario.from_document(document(window={"begin": 10, "end": 20}) | {"applications": late}), in_order(seen))
    assert seen == pytest.approx({0.0: (0.5 + 0) / 2, 1.0: (5 / 11 + 0) / 2})


def test_a_policy_that_does_not_ask_is_not_told() -> None:
    @sharing("needy")
    def needy(view: View, rates: np.ndarray) -> None:
        if math.isnan(view.mean_loss):
            rates[0] = view.limit[0]

    assert simulate(Scenario.from_document(document()), needy).makespan is not None
    asking = sharing("asking", losses=True)(needy.plain)
    with pytest.raises(PolicyError, match="gave nobody any bandwidth"):
        simulate(Scenario.from_document(document()), asking)


def test_a_target_counts_its_own() -> None:
    seen: dict[float, float] = {}
    jobs = [job | {"profile": {1: 1.0}} for job in JOBS]
    allocate(
        Scenario.from_document({"version": 1, "platform": {"targets": 1}, "applications": jobs}), sharing=in_order(seen)
    )
    assert seen == pytest.approx({time: loss for time, loss in SEEN.items() if time != 3.0})


def test_behind_a_buffer_jobs_count_and_not_their_flows() -> None:
    @sharing("checking", losses=True)
    def checking(view: View, rates: np.ndarray) -> None:
        expected = 0.0 if view.now == 0.0 else 1.0  # the first is done, and the second has only waited
        if abs(view.mean_loss - expected) < 1e-12:
            rates[0] = view.limit[0]

    jobs = [{"name": name, "bandwidth": 1, "phases": [{"write": 1}]} for name in "ab"]
    found = buffer(Scenario.from_document(document() | {"applications": jobs}), 0.0, strategy=checking)
    assert list(found.completion) == pytest.approx([1.0, 2.0])


def test_decide_counts_those_that_compute() -> None:
    job = {"bandwidth": 1, "posted": 10, "release": 0}
    active = [
        {"name": "long", "remaining": 4, "progress": 5, **job},
        {"name": "short", "remaining": 1, "progress": 9, **job},
    ]
    moment = {"capacity": 1, "now": 10, "active": active}
    # Counted as done, `long` loses 0.1: a third of what the two lose on average, ten times that of all with the others.
    assert decide(moment, "loss-capped-srpt").rates == {"long": 0.0, "short": 1.0}
    computing = [{"release": 0, "progress": 10}] * 100
    assert decide(moment | {"computing": computing}, "loss-capped-srpt").rates == {"long": 1.0, "short": 0.0}


def test_decide_knows_where_the_window_began() -> None:
    job = {"bandwidth": 1, "posted": 100, "release": 90}
    active = [
        {"name": "large", "remaining": 0.2, "progress": 8.2, **job},
        {"name": "small", "remaining": 0.05, "progress": 9, **job},
    ]
    moment = {"capacity": 1, "now": 100, "end": 110, "active": active}
    # g = 1.5 + 10·(1/11) leaves (8.2 + 0.48)/10 below (9 + 0.12)/10; at the beginning of the window g is 11.5.
    assert decide(moment, "annealed-credit").rates == {"large": 1.0, "small": 0.0}
    assert decide(moment | {"begin": 100}, "annealed-credit").rates == {"large": 0.0, "small": 1.0}


@pytest.mark.parametrize("key", ["release", "progress"])
def test_a_moment_in_which_somebody_computes_must_be_possible(key: str) -> None:
    computing = [{"release": 0, "progress": 5} | {key: 11}]
    with pytest.raises(PenstockError, match=rf"computing\[0\]\.{key} is 11"):
        decide({"capacity": 1, "now": 10, "active": [], "computing": computing})


def test_a_window_does_not_begin_after_now() -> None:
    with pytest.raises(PenstockError, match="begin is 11"):
        decide({"capacity": 1, "now": 10, "begin": 11, "active": []})
