"""Evenness over time, by hand and against a slow count at many instants."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from penstock import Scenario, simulate
from penstock.engine.timeline import Timeline
from penstock.metrics.evenness import evenness_of
from penstock.policies.sharing import find
from penstock.studies.share import run_study
from penstock.studies.study import Study
from strategies import documents


def measured(document: dict[str, Any], sharing: str, stretch: float | None = None) -> tuple[Any, Study, Timeline]:
    study = Study(Scenario.from_document(document), bounds=False)
    timeline = run_study(study, find(sharing), timeline=True).timeline
    assert timeline is not None
    return evenness_of(study.program, timeline, stretch), study, timeline


def two(begin: float = 0, end: float = 20, **first: Any) -> dict[str, Any]:
    jobs = [{"name": name, "phases": [{"write": 10}, {"compute": 100}]} for name in ("a", "b")]
    jobs[0] |= first
    window = {"begin": begin, "end": end}
    return {"version": 1, "platform": {"bandwidth": 1}, "window": window, "applications": jobs}


def test_one_waits_for_the_other() -> None:
    found, _, _ = measured(two(), "fcfs", stretch=5)
    # b has yield 0 for ten seconds, then (t - 10)/t: the integral of 10/t from 10 to 20 is 10·ln 2.
    assert found.even_yield == pytest.approx((10 - 10 * math.log(2)) / 20, rel=1e-12)
    assert found.sliding_min == 0.0


def test_stretches_need_not_begin_with_an_event() -> None:
    # The worst 15 s of b are any that begin by t = 5 less those that come: ten lost of 15.
    found, _, _ = measured(two(end=40), "fcfs", stretch=15)
    assert found.sliding_min == pytest.approx(1 - 10 / 15)


def test_a_quarter_of_the_run_is_the_stretch() -> None:
    asked, _, _ = measured(two(end=60), "fcfs", stretch=15)
    assert measured(two(end=60), "fcfs")[0] == asked


def test_fair_shares_cross_with_an_old_job() -> None:
    # a is 100 s old and has lost half of them; b is new, and both are served at half their speed.
    old = {"release": 0, "progress": 50, "phases": [{"write": 100}]}
    found, _, _ = measured(two(begin=100, end=104, **old) | {}, "fair-share", stretch=4)
    assert found.even_yield == pytest.approx(0.5, rel=1e-12)
    assert found.sliding_min == pytest.approx(0.5)


def test_who_is_not_there_does_not_count() -> None:
    document = two(end=30)
    document["applications"] = [{"name": "a", "release": 10, "phases": [{"write": 5}]}]
    found, _, _ = measured(document, "fcfs", stretch=4)
    assert (found.even_yield, found.sliding_min) == (1.0, 1.0)
    # Nobody is there for six seconds.
    assert measured(document, "fcfs", stretch=6)[0].sliding_min is None


def lost_at(timeline: Timeline, study: Study, i: int, instants: Any) -> Any:
    """Seconds that an application has lost in the run until each instant, segment by segment."""
    program, lost = study.program, np.zeros(len(instants))
    for place in np.flatnonzero(timeline.application == i):
        limit = program.limit[program.first[i] + timeline.operation[place]]
        part = np.clip(instants, timeline.start[place], timeline.stop[place]) - timeline.start[place]
        lost += part * (1 - timeline.rate[place] / limit)
    return lost


@settings(max_examples=25)
@given(documents(exact=False))
def test_it_is_what_many_instants_say(document: dict[str, Any]) -> None:
    found, study, timeline = measured(document, "greedy-yield")
    program, begin = study.program, timeline.started.min()
    span = timeline.end - begin
    instants = begin + span * (np.arange(4000) + 0.5) / 4000
    stretch = 0.25 * span
    yields, slid = np.full((len(program.names), 4000), np.inf), 1.0
    for i in range(len(program.names)):
        there = (instants > timeline.started[i]) & (instants < timeline.stopped[i])
        lost = lost_at(timeline, study, i, instants) + timeline.started[i] - program.release[i] - program.progress[i]
        yields[i, there] = 1 - lost[there] / (instants[there] - program.release[i])
        inside = instants[(instants >= timeline.started[i]) & (instants + stretch <= timeline.stopped[i])]
        if inside.size:
            more = lost_at(timeline, study, i, inside + stretch) - lost_at(timeline, study, i, inside)
            slid = min(slid, 1 - more.max() / stretch)
    lowest = yields.min(axis=0)
    if np.isfinite(lowest).any():
        # An instant stands for 1/4000 of the run, in which a yield may fall from 1 to 0.
        assert found.even_yield == pytest.approx(lowest[np.isfinite(lowest)].mean(), abs=0.01)
    if found.sliding_min is not None:
        # 1/1000 of a stretch between two instants.
        assert slid - 0.003 <= found.sliding_min <= slid + 1e-9


def test_a_run_that_nobody_asked_carries_neither() -> None:
    result = simulate(Scenario.from_document(two()), "fcfs")
    assert (result.even_yield, result.sliding_min) == (None, None)
    assert "even_yield" not in result.to_dict()
    asked = simulate(Scenario.from_document(two()), "fcfs", evenness=True)
    assert asked.to_dict()["even_yield"] == asked.even_yield == pytest.approx((10 - 10 * math.log(2)) / 20)
